"""The tools that every server has: forks, skills and shared memory, from inside a turn."""

from pathlib import Path
from typing import Any

import pytest

from stello_graph.llm.scripted import ScriptedLLM, Step, tool_use
from stello_graph.model.context import ToolSpec
from stello_graph.model.knowledge import Skill
from stello_graph.model.requests import CreateSession, SpaceChanges, UpdateSession
from stello_graph.model.turn import TurnStatus
from stello_graph.service import SpaceService
from stello_graph.store.store import SpaceRepository
from tests.unit.forest.conftest import OpenGraph
from tests.unit.forest.test_tools import results
from tests.unit.forest.test_turns import ask


async def opened(open_graph: OpenGraph, script: list[Step], **settings: Any) -> SpaceService:
    graph = open_graph(ScriptedLLM(script), **settings)
    await graph.open()
    space: SpaceService = graph.space()
    await space.create_session(CreateSession(id="s", label="S"))
    return space


def offered(space: SpaceService, request: int = -1) -> dict[str, ToolSpec]:
    return {tool.name: tool for tool in space.graph.llm.requests[request].tools}  # type: ignore[attr-defined]


@pytest.mark.covers("W8")
async def test_what_is_offered(open_graph: OpenGraph) -> None:
    """Forks always; skills where the session may use one; memory where the Space shares it."""
    space = await opened(open_graph, ["1", "2", "3"])
    await space.send(ask())
    assert list(offered(space)) == ["stello_create_session"]
    await space.configure(SpaceChanges(shared_memory=True))
    await space.put_skill(Skill(name="tea", description="How to make tea", content="Boil water."))
    await space.send(ask())
    memory = [f"stello_memory_{name}" for name in ("recall", "remember", "forget")]
    assert list(offered(space)) == ["stello_create_session", "activate_skill", *memory]
    await space.update_session("s", UpdateSession(skills=()))
    preview = await space.preview("s", "x")
    await space.send(ask("x"))
    assert list(offered(space)) == ["stello_create_session", *memory]
    assert preview.tools == space.graph.llm.requests[-1].tools  # type: ignore[attr-defined]
    assert {tool.name for tool in space.tools} == {"stello_create_session", "activate_skill", *memory}


@pytest.mark.covers("SKILL-3")
async def test_a_skill_is_activated(open_graph: OpenGraph, tmp_path: Path) -> None:
    """Stored ones and those of folders are listed with their description; the content comes by the tool."""
    folder = tmp_path / "skills" / "coffee"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: coffee\ndescription: For mornings\n---\nGrind first.\n")
    script: list[Step] = [
        tool_use("activate_skill", {"name": "tea"}),
        tool_use("activate_skill", {"name": "coffee"}, id="two"),
        "done",
    ]
    space = await opened(open_graph, script, skills=(str(tmp_path / "skills"),))
    await space.put_skill(Skill(name="tea", description="How to make tea", content="Boil water."))
    await space.send(ask())
    spec = offered(space)["activate_skill"]
    assert spec.input_schema["properties"]["name"]["enum"] == ["tea", "coffee"]
    assert "- tea: How to make tea\n- coffee: For mornings" in spec.description
    assert [m.content.strip() for m in await results(space)] == ["Boil water.", "Grind first."]


@pytest.mark.covers("W8", "SKILL-3")
@pytest.mark.parametrize("skills", [("tea",), ()])
async def test_the_whitelist_is_enforced(open_graph: OpenGraph, skills: tuple[str, ...]) -> None:
    """What the whitelist does not name is neither listed nor given (W8)."""
    space = await opened(open_graph, [tool_use("activate_skill", {"name": "coffee"}), "done"])
    for name in ("tea", "coffee"):
        await space.put_skill(Skill(name=name, description="", content=f"About {name}."))
    await space.update_session("s", UpdateSession(skills=skills))
    await space.send(ask())
    (result,) = await results(space)
    assert result.is_error
    assert "About coffee" not in result.content
    spec = offered(space, 0).get("activate_skill")
    assert (spec is None) == (not skills)
    if spec is not None:
        assert spec.input_schema["properties"]["name"]["enum"] == ["tea"]


@pytest.mark.covers("TOOL-11")
async def test_shared_memory_by_tool(open_graph: OpenGraph) -> None:
    """Remembered, recalled, forgotten; unknown slugs are errors to recall, and no error to forget."""
    entry = {"slug": " tea ", "summary": "Likes tea", "body": "Green, in the morning."}
    script: list[Step] = [
        tool_use("stello_memory_remember", entry),
        tool_use("stello_memory_recall", {"slug": "tea"}),
        tool_use("stello_memory_forget", {"slug": "tea"}),
        tool_use("stello_memory_recall", {"slug": "tea"}),
        tool_use("stello_memory_forget", {"slug": "tea"}),
        "done",
    ]
    space = await opened(open_graph, script)
    await space.configure(SpaceChanges(shared_memory=True))
    await space.send(ask())
    told = [(m.content, m.is_error) for m in await results(space)]
    assert told == [
        ("Remembered as tea.", False),
        ("Green, in the morning.", False),
        ("tea is forgotten.", False),
        ('there is no shared memory "tea"', True),
        ("tea is forgotten.", False),
    ]


async def test_memory_is_not_there_where_it_is_off(open_graph: OpenGraph) -> None:
    """A model that calls it nevertheless is told that there is no such tool."""
    space = await opened(open_graph, [tool_use("stello_memory_forget", {"slug": "tea"}), "done"])
    await space.send(ask())
    (result,) = await results(space)
    assert result.is_error
    assert result.content.startswith("Unknown tool stello_memory_forget.")


async def test_what_is_unexpected_stays_in_the_log(
    open_graph: OpenGraph, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The transcript has the sentence of other unexpected errors, and the log has the exception."""
    space = await opened(open_graph, [tool_use("stello_memory_recall", {"slug": "tea"}), "done"])
    await space.configure(SpaceChanges(shared_memory=True))

    async def broken(*_: object) -> None:
        raise RuntimeError("/srv/secret/stello.db")

    monkeypatch.setattr(SpaceRepository, "shared_memory", broken)
    turn = await space.send(ask())
    assert turn.status is TurnStatus.COMPLETED
    (result,) = await results(space)
    assert (result.content, result.is_error) == ("an error of the server; its log has more", True)
    (record,) = [one for one in caplog.records if one.name.endswith("tools.own")]
    assert record.exc_info is not None
    assert str(record.exc_info[1]) == "/srv/secret/stello.db"

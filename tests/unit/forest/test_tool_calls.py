"""What a tool is told, and what the built-in fork tool answers."""

import json
from typing import Any

import pytest

from stello_graph.llm.scripted import Step, tool_use
from stello_graph.model.knowledge import Skill
from stello_graph.model.requests import SpaceChanges, UpdateSession
from stello_graph.model.turn import StopReason
from stello_graph.tools import Tool, ToolContext
from tests.unit.forest.conftest import OpenGraph
from tests.unit.forest.test_tools import model, results, with_tools
from tests.unit.forest.test_turns import ask


@pytest.mark.covers("TOOL-1")
async def test_without_calls_there_is_one_request(open_graph: OpenGraph) -> None:
    """The model could call tools, and does not: no round."""
    space = await with_tools(open_graph, ["hello"], Tool(lambda: "", name="nothing"))

    turn = await space.send(ask())

    assert (turn.tool_rounds, turn.stop_reason) == (0, StopReason.END_TURN)
    (request,) = model(space).requests
    assert "nothing" in [tool.name for tool in request.tools]
    assert await results(space) == []


@pytest.mark.covers("TOOL-9")
async def test_a_tool_knows_where_it_is_called(open_graph: OpenGraph) -> None:
    """Space, session, turn, call and the signal, which is not set."""
    told: list[Any] = []

    async def look(context: ToolContext) -> str:
        session = (await context.space.store.sessions([context.session_id]))[context.session_id]
        told.append((session.label, context.turn_id, context.tool_call_id, context.cancelled.is_set()))
        return "seen"

    space = await with_tools(open_graph, [tool_use("look", id="c7"), "done"], Tool(look))

    turn = await space.send(ask())

    assert told == [("S", turn.id, "c7", False)]
    spec = next(tool for tool in model(space).requests[0].tools if tool.name == "look")
    assert spec.input_schema["properties"] == {}, "the context is not the model's to give"


@pytest.mark.covers("TOOL-10", "SPLIT-2")
@pytest.mark.parametrize(
    ("arguments", "guarded", "told"),
    [
        ({"label": "F", "profile": "nobody"}, False, "nobody"),
        ({"label": "F"}, True, "3 more completed turns"),
        ({"label": ""}, False, ""),
        ({}, False, "label"),
        ({"label": "F", "context": "everything"}, False, "context"),
    ],
    ids=["unknown profile", "guarded", "no label", "no arguments", "no such context"],
)
async def test_a_fork_that_cannot_be(
    open_graph: OpenGraph, arguments: dict[str, Any], guarded: bool, told: str
) -> None:
    """An error result that says why; nothing is made, and the turn goes on."""
    space = await with_tools(open_graph, [tool_use("stello_create_session", arguments), "a pity"])
    await space.configure(SpaceChanges(split_guard={"for_tools": guarded}))

    turn = await space.send(ask())

    (result,) = await results(space)
    if arguments.get("label") == "":
        assert not result.is_error, "an empty label is one"
        return
    assert result.is_error
    assert told in result.content
    assert turn.stop_reason is StopReason.END_TURN
    assert (await space.store.space()).session_count == 1


@pytest.mark.covers("TOOL-10")
async def test_a_fork_by_the_model(open_graph: OpenGraph) -> None:
    """The result has id and label; the session hangs below the caller and knows it."""
    space = await with_tools(open_graph, [tool_use("stello_create_session", {"label": "Side"}), "done"])
    await space.configure(SpaceChanges(split_guard={"for_tools": False}))

    await space.send(ask())

    (result,) = await results(space)
    made = json.loads(result.content)
    assert made.keys() == {"sessionId", "label"}
    node = (await space.store.nodes([made["sessionId"]]))[made["sessionId"]]
    assert (node.label, node.parent_id, node.source_session_id) == ("Side", "s", "s")


@pytest.mark.covers("TOOL-11")
@pytest.mark.parametrize("name", ["recall", "remember", "forget"])
async def test_a_memory_needs_a_name(open_graph: OpenGraph, name: str) -> None:
    """A blank slug, or none, is an error result, and nothing is written."""
    entry = {"summary": "s", "body": "b"} if name == "remember" else {}
    tool = f"stello_memory_{name}"
    script: list[Step] = [tool_use(tool, {"slug": " ", **entry}), tool_use(tool, entry, id="c2"), "done"]
    space = await with_tools(open_graph, script)
    await space.configure(SpaceChanges(shared_memory=True))

    await space.send(ask())

    assert [result.is_error for result in await results(space)] == [True, True]
    assert await space.store.shared_memories() == []


@pytest.mark.covers("SKILL-3", "W8")
async def test_skills_are_those_of_the_moment(open_graph: OpenGraph) -> None:
    """One stored after the service began is listed; one that was forbidden meanwhile is not given."""

    async def forbids(context: ToolContext) -> str:
        await context.space.update_session("s", UpdateSession(skills=()))
        return "forbidden"

    script: list[Step] = [
        tool_use("activate_skill", {"name": "tea"}),
        tool_use("forbids", id="c2"),
        tool_use("activate_skill", {"name": "tea"}, id="c3"),
        "done",
    ]
    space = await with_tools(open_graph, script, Tool(forbids))
    await space.put_skill(Skill(name="tea", description="", content="Boil water."))

    await space.send(ask())

    spec = next(tool for tool in model(space).requests[0].tools if tool.name == "activate_skill")
    assert spec.input_schema["properties"]["name"]["enum"] == ["tea"]
    first, _, last = await results(space)
    assert (first.content, first.is_error) == ("Boil water.", False)
    assert last.is_error
    assert "Boil" not in last.content

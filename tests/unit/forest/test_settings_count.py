"""Whose settings a turn uses: the session's, else the Space's, as they are when it begins."""

import pytest

from stello_graph.llm.scripted import ScriptedLLM
from stello_graph.model.context import ContextOrigin, ModelRequest
from stello_graph.model.requests import CreateSession, SpaceChanges, UpdateSession
from stello_graph.model.session import SessionOverrides
from tests.unit.forest.conftest import OpenGraph
from tests.unit.forest.test_turns import ask, opened, with_session


def prompt(request: ModelRequest) -> list[str]:
    return [m.content for m in request.messages if m.origin is ContextOrigin.SYSTEM_PROMPT]


@pytest.mark.covers("CTX-7", "W48")
async def test_what_changed_counts_in_the_next_turn(open_graph: OpenGraph) -> None:
    """Model, prompt and label, of the session and of the Space, each from the next turn on."""
    llm = ScriptedLLM(default="ok")
    space = await with_session(open_graph, llm)
    seen = []
    for change in (
        None,
        SpaceChanges(model="of the Space", system_prompt="Be brief."),
        UpdateSession(overrides=SessionOverrides(model="own"), system_prompt="Be kind."),
        UpdateSession(overrides=SessionOverrides(model=None), system_prompt=None),
    ):
        if isinstance(change, SpaceChanges):
            await space.configure(change)
        elif change is not None:
            await space.update_session("s", change)
        await space.send(ask())
        seen.append((llm.requests[-1].model, prompt(llm.requests[-1])))

    assert seen == [
        ("scripted", []),
        ("of the Space", ["Be brief."]),
        ("own", ["Be kind."]),
        ("of the Space", ["Be brief."]),
    ]


@pytest.mark.covers("LLM-1")
async def test_the_output_limit(open_graph: OpenGraph) -> None:
    """The Space's, and 8,192 where it says nothing."""
    llm = ScriptedLLM(default="ok")
    space = await with_session(open_graph, llm)
    await space.send(ask())
    await space.configure(SpaceChanges(max_output_tokens=123))
    await space.send(ask())

    assert [request.max_output_tokens for request in llm.requests] == [8_192, 123]


@pytest.mark.covers("W22")
async def test_settings_reach_every_session_after_a_restart(open_graph: OpenGraph) -> None:
    """Roots that were there before and children made later, in a process that came after."""
    first = await with_session(open_graph, ScriptedLLM(default="ok"))
    await first.configure(
        SpaceChanges(system_prompt="Be brief.", model="m", consolidate_prompt="Distil.", max_output_tokens=77)
    )
    await first.graph.aclose()
    llm = ScriptedLLM(default="ok")
    again = await opened(open_graph, llm)
    await again.create_session(CreateSession(id="child", parent_id="s"))

    for id in ("s", "child"):
        await again.send(ask(session_id=id))
        request = llm.requests[-1]
        assert (request.model, prompt(request), request.max_output_tokens) == ("m", ["Be brief."], 77)
        await again.consolidate(id)
        assert llm.requests[-1].messages[0].content == "Distil."

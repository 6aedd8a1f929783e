"""What a fork takes: the settings of now, and opening words that are the assistant's."""

import pytest

from stello_graph.errors import ForkRefused
from stello_graph.llm.scripted import ScriptedLLM
from stello_graph.model.context import ContextOrigin
from stello_graph.model.message import MessageRole
from stello_graph.model.requests import SpaceChanges, UpdateSession
from stello_graph.model.session import SessionOverrides
from stello_graph.model.values import ForkContext
from tests.unit.forest.conftest import OpenGraph
from tests.unit.forest.test_fork import forked, opened, talked
from tests.unit.forest.test_turns import ask


@pytest.mark.covers("FORK-2")
@pytest.mark.parametrize("context", [ForkContext.NONE, ForkContext.INHERIT])
async def test_opening_words_are_the_assistants(open_graph: OpenGraph, context: ForkContext) -> None:
    """They come last, after whatever was inherited."""
    space = await opened(open_graph)
    await talked(space, count=2)

    made = await forked(space, context=context, prompt="Let us begin.")

    said = [(m.role, m.content) for m in (await space.store.whole_conversation(made.id)).transcript]
    inherited = [(MessageRole.USER, "message 1"), (MessageRole.ASSISTANT, "message 2")]
    opening = (MessageRole.ASSISTANT, "Let us begin.")
    assert said == [*(inherited if context is ForkContext.INHERIT else []), opening]


@pytest.mark.covers("W27", "FORK-4")
async def test_a_fork_has_the_settings_of_now(open_graph: OpenGraph) -> None:
    """Prompt, skills and model as they were changed last; and they are its own afterwards."""
    llm = ScriptedLLM(default="ok")
    space = await opened(open_graph, llm, system_prompt="old", skills=("old",))
    changed = UpdateSession(system_prompt="new", skills=("new",), overrides=SessionOverrides(model="m"))
    await space.update_session("s", changed)

    made = await forked(space, id="c")

    await space.update_session("s", UpdateSession(system_prompt="newer", skills=()))
    assert (made.system_prompt, made.skills, made.overrides.model) == ("new", ("new",), "m")
    await space.send(ask(session_id="c"))
    (request,) = llm.requests
    assert request.model == "m"
    shown = [m.content for m in request.messages if m.origin is ContextOrigin.SYSTEM_PROMPT]
    assert shown == ["new"]


@pytest.mark.covers("SPLIT-3")
async def test_the_guards_numbers_count_at_once(open_graph: OpenGraph) -> None:
    """One of them is changed, the other stays; the next fork is judged by both."""
    space = await opened(open_graph, ScriptedLLM(default="ok"))
    await space.configure(SpaceChanges(split_guard={"for_api": True, "min_turns": 2, "cooldown_turns": 4}))
    with pytest.raises(ForkRefused, match="2 more"):
        await forked(space)

    await space.configure(SpaceChanges(split_guard={"min_turns": 0}))

    await forked(space)
    with pytest.raises(ForkRefused, match="4 more"):
        await forked(space)

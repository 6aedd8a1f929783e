"""Turns of a conversation that has become too long for its window."""

import pytest

from stello_graph.errors import ModelUnavailable
from stello_graph.llm.scripted import ScriptedLLM, Step
from stello_graph.model.context import ContextOrigin, ModelRequest
from stello_graph.model.message import MessageRole
from stello_graph.model.requests import AppendedMessage
from stello_graph.model.turn import TurnStatus
from stello_graph.service import SpaceService
from stello_graph.session.prompts import COMPRESS_PROMPT
from tests.unit.forest.conftest import OpenGraph
from tests.unit.forest.test_turns import ask, opened, transcript, with_session

WINDOW = 2_000
LONG = "很长的一段话。" * 20


class Model(ScriptedLLM):
    """Tells summaries and answers apart, and reports next to no tokens for either."""

    def __init__(self, summary: Step = "They talked.") -> None:
        super().__init__(default=self._answer, window=WINDOW)
        self.summary = summary
        self.kinds: list[str] = []

    def _answer(self, request: ModelRequest) -> Step:
        summarises = request.messages[0].content == COMPRESS_PROMPT
        self.kinds.append("summary" if summarises else "answer")
        return self.summary if summarises else "ok"


async def long(open_graph: OpenGraph, llm: Model) -> SpaceService:
    space = await with_session(open_graph, llm)
    roles = (MessageRole.USER, MessageRole.ASSISTANT)
    await space.append("s", [AppendedMessage(role=roles[n % 2], content=f"{n} {LONG}") for n in range(14)])
    return space


def shown(request: ModelRequest, origin: ContextOrigin) -> list[str]:
    return [message.content for message in request.messages if message.origin is origin]


@pytest.mark.covers("CMP-2", "CMP-3")
async def test_first_the_summary_then_the_answer(open_graph: OpenGraph) -> None:
    """The session's model is asked for both; the answer's request has the summary and the newest messages."""
    llm = Model()
    space = await long(open_graph, llm)

    turn = await space.send(ask("and now?"))

    assert (set(llm.kinds[:-1]), llm.kinds[-1]) == ({"summary"}, "answer")
    assert len({request.model for request in llm.requests}) == 1
    request = llm.requests[-1]
    assert shown(request, ContextOrigin.COMPRESSION) == ["They talked."]
    replayed = shown(request, ContextOrigin.TRANSCRIPT)
    assert 0 < len(replayed) < 14
    assert replayed[-1] == f"13 {LONG}"
    assert (request.messages[-1].role, request.messages[-1].content) == ("user", "and now?")
    assert turn.usage.llm_calls == 1
    assert (await space.store.sessions(["s"]))["s"].usage.llm_calls == len(llm.kinds)
    assert len(await transcript(space)) == 16


@pytest.mark.covers("CMP-4", "CMP-5", "W4")
async def test_it_stands_until_the_window_is_full_again(open_graph: OpenGraph) -> None:
    """The next turns, in another process too, have it, ask nobody, and do not go back to everything."""
    first = Model()
    space = await long(open_graph, first)
    await space.send(ask("one"))
    first.kinds.clear()
    stored = (await space.store.sessions(["s"]))["s"].compression
    second = Model("another")
    elsewhere = await opened(open_graph, second)

    for service, llm in ((space, first), (elsewhere, second)):
        await service.send(ask("two"))
        assert llm.kinds[-1] == "answer"
        assert shown(llm.requests[-1], ContextOrigin.COMPRESSION) == ["They talked."]
        assert f"0 {LONG}" not in shown(llm.requests[-1], ContextOrigin.TRANSCRIPT)

    assert (first.kinds, second.kinds) == (["answer"], ["answer"])
    assert (await space.store.sessions(["s"]))["s"].compression == stored


@pytest.mark.covers("CMP-6")
@pytest.mark.parametrize("summary", [ModelUnavailable("away"), "  "], ids=["fails", "says nothing"])
async def test_without_a_summary_the_turn_completes(open_graph: OpenGraph, summary: Step) -> None:
    """With as much of the newest as fits; nothing is stored for a summary."""
    llm = Model(summary)
    space = await long(open_graph, llm)

    turn = await space.send(ask("and now?"))

    assert turn.status is TurnStatus.COMPLETED
    request = llm.requests[-1]
    assert shown(request, ContextOrigin.COMPRESSION) == []
    assert shown(request, ContextOrigin.TRANSCRIPT)[-1] == f"13 {LONG}"
    assert len(request.messages) < 14
    assert (await space.store.sessions(["s"]))["s"].compression is None
    assert len(await transcript(space)) == 16

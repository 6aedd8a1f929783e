"""Compressing: by hand, and in each round of a long conversation."""

import asyncio
import itertools
from collections.abc import Iterable

import pytest

from stello_graph.errors import (
    Conflict,
    InvalidInput,
    ModelRefused,
    ModelUnavailable,
    NotFound,
    SessionArchived,
    SessionBusy,
)
from stello_graph.forest.fitting import fitted
from stello_graph.ids import new_id
from stello_graph.llm.scripted import Pause, ScriptedLLM
from stello_graph.model.context import ContextMessage, ContextOrigin, ModelRequest
from stello_graph.model.message import Draft, MessageRole
from stello_graph.model.requests import AppendedMessage, CreateSession, Send
from stello_graph.model.turn import StopReason, TurnStatus
from stello_graph.model.values import Usage
from stello_graph.model.writes import TurnBegun, TurnEnd
from stello_graph.ports import LLM, SpaceStore
from stello_graph.service import SpaceService
from stello_graph.session.call import call
from stello_graph.session.compression import Fitted
from stello_graph.session.context.tokens import tokens_of
from tests.unit.forest.conftest import OpenGraph

WINDOW = 16_000


async def talked(open_graph: OpenGraph, llm: ScriptedLLM, messages: int = 12) -> SpaceService:
    graph = open_graph(llm)
    await graph.open()
    space = graph.space()
    await space.create_session(CreateSession(id="s", label="S"))
    said = [AppendedMessage(role=MessageRole.USER, content=f"message {n}") for n in range(1, messages + 1)]
    await space.append("s", said)
    return space


@pytest.mark.covers("CMP-8")
async def test_compact(open_graph: OpenGraph) -> None:
    """A summary stands for all but the newest messages; its usage counts for session and Space."""
    llm = ScriptedLLM(["<think>hm</think>They counted."])
    space = await talked(open_graph, llm)
    session = await space.compact("s")
    assert session.compression is not None
    assert (session.compression.summary, session.compression.through_seq) == ("They counted.", 2)
    assert session.message_count == 12
    assert session.usage.llm_calls == 1
    assert session.usage == (await space.store.space()).usage
    asked = llm.requests[0].messages[-1].content
    assert "user: message 1\nuser: message 2" in asked
    assert "message 3" not in asked


async def test_what_is_seen_after_it(open_graph: OpenGraph) -> None:
    """The next request holds the summary and the messages after it, and so does the preview."""
    llm = ScriptedLLM(["They counted.", "a reply"])
    space = await talked(open_graph, llm)
    await space.compact("s", keep_last=1)
    preview = await space.preview("s", "and?")
    await space.send(Send(session_id="s", content="and?"))
    assert llm.requests[-1].messages == preview.messages
    assert [m.content for m in preview.messages if m.role != "system"] == ["message 12", "and?"]
    assert [m.content for m in preview.messages if m.origin is ContextOrigin.COMPRESSION] == ["They counted."]


async def test_again_only_what_came_since(open_graph: OpenGraph) -> None:
    """Compressing again extends the summary; with nothing to compress no model is asked."""
    llm = ScriptedLLM(["one", "two"])
    space = await talked(open_graph, llm)
    first = await space.compact("s")
    assert await space.compact("s") == first
    second = await space.compact("s", keep_last=0)
    assert second.compression is not None
    assert second.compression.through_seq == 12
    assert await space.compact("s", keep_last=0) == second
    assert [m.messages[-1].content.count("message ") for m in llm.requests] == [2, 10]
    assert "当前摘要:\none" in llm.requests[1].messages[-1].content


@pytest.mark.covers("CMP-6")
@pytest.mark.parametrize("fault", [ModelUnavailable("away"), "  "])
async def test_the_old_summary_stays(open_graph: OpenGraph, fault: ModelUnavailable | str) -> None:
    """A model that fails or says nothing is an error with the model's code; the summary is as before."""
    space = await talked(open_graph, ScriptedLLM(["old", *[fault] * 3]))
    before = await space.compact("s")
    with pytest.raises(ModelUnavailable if isinstance(fault, ModelUnavailable) else ModelRefused):
        await space.compact("s", keep_last=0)
    after = (await space.store.sessions(["s"]))["s"]
    assert after.compression == before.compression
    assert after.usage.llm_calls == (1 if isinstance(fault, ModelUnavailable) else 2)


@pytest.mark.covers("W6")
async def test_what_happened_meanwhile_stays(open_graph: OpenGraph) -> None:
    """A summary of what was trimmed meanwhile is not stored."""
    pause = Pause()
    space = await talked(open_graph, ScriptedLLM([["made", pause, " up"]]))
    working = asyncio.create_task(space.compact("s"))
    await pause.reached.wait()
    trimmed = await space.trim("s", 3)
    pause.over.set()
    with pytest.raises(Conflict):
        await working
    now = (await space.store.sessions(["s"]))["s"]
    assert now == trimmed.model_copy(update={"usage": now.usage})
    assert now.usage.llm_calls == trimmed.usage.llm_calls + 1, "what it took is counted all the same"


async def test_refusals(open_graph: OpenGraph) -> None:
    """A busy, archived or unknown session is not compressed, and no model is asked."""
    pause = Pause()
    llm = ScriptedLLM([[pause, "a reply"]])
    space = await talked(open_graph, llm)
    turn = await space.start_turn(Send(session_id="s", content="q"))
    await pause.reached.wait()
    with pytest.raises(SessionBusy) as busy:
        await space.compact("s")
    assert busy.value.details["turnId"] == turn.id
    pause.over.set()
    await space.graph.turns.ended(space.store, turn)
    await space.archive("s")
    with pytest.raises(SessionArchived):
        await space.compact("s")
    with pytest.raises(NotFound):
        await space.compact("nobody")
    with pytest.raises(InvalidInput, match="keepLast"):
        await space.compact("s", keep_last=-1)
    assert len(llm.requests) == 1


def strict_tokens(messages: Iterable[ContextMessage]) -> int:
    """A tokenizer that is not ours: 1 for each Han character, 2 for each emoji, a quarter for the rest."""
    text = "".join(message.content for message in messages)
    han = sum("\u3400" <= c <= "\u9fff" for c in text)
    wide = sum(ord(c) > 0xFFFF for c in text)
    return han + 2 * wide + (len(text) - han - wide) // 4


class Strict(ScriptedLLM):
    """A model that counts by itself, and has failed the test where a request is longer than its window."""

    def __init__(self) -> None:
        super().__init__(default=self._answer, window=WINDOW)
        self.longest = 0
        self.summaries = 0

    def _answer(self, request: ModelRequest) -> str:
        tokens = strict_tokens(request.messages)
        self.longest = max(self.longest, tokens)
        assert tokens + (request.max_output_tokens if self._summarises(request) else 0) <= WINDOW
        if self._summarises(request):
            self.summaries += 1
            return f"第{self.summaries}次摘要：" + "要点" * 150
        return "回答" * 40

    def _summarises(self, request: ModelRequest) -> bool:
        return "对话记录" in request.messages[-1].content


async def sent(store: SpaceStore, llm: LLM, content: str) -> tuple[TurnBegun, Fitted]:
    """One turn as the turn loop makes it: begun, fitted, compressed, asked, ended."""
    turn_id = new_id()
    said = Draft(id=new_id(), role=MessageRole.USER, content=content, turn_id=turn_id)
    begun = await store.begin_turn("s", turn_id, said, lease=60.0, idempotency=None)
    assert isinstance(begun, TurnBegun)
    made = await fitted(
        store, llm, begun.turn, begun.conversation, content, insight=None, patches=(), tools=()
    )
    request = ModelRequest(model="m", messages=made.compiled.messages, max_output_tokens=1_000)
    reply = await call(llm, request)
    # W4, W32: what is reported is next to nothing, as some gateways do.
    usage = Usage(input_tokens=9, output_tokens=1, llm_calls=1)
    answer = Draft(id=new_id(), role=MessageRole.ASSISTANT, content=reply.text, usage=usage, turn_id=turn_id)
    await store.end_turn(
        TurnEnd(
            turn=begun.turn,
            fence=begun.turn.fence,
            status=TurnStatus.COMPLETED,
            stop_reason=StopReason.END_TURN,
            messages=(answer,),
        )
    )
    return begun, made


@pytest.mark.covers("TC19", "W31")
async def test_a_chinese_conversation_never_overflows(open_graph: OpenGraph) -> None:
    """TC19, W31: 20,000 Chinese characters, emoji and rare Han among them, against a window of 16,000."""
    llm = Strict()
    graph = open_graph(llm)
    await graph.open()
    space = graph.space()
    await space.create_session(CreateSession(id="s", label="长谈"))
    question = "宇宙有多大？星星有多远？🌌𠮷" * 30
    assert 50 * len(question) > 20_000
    for _ in range(50):
        await sent(space.store, llm, question)
    assert 2 <= llm.summaries <= 12, "compressed in time, and not in every turn"
    assert WINDOW // 2 < llm.longest <= WINDOW
    session = (await space.store.sessions(["s"]))["s"]
    assert session.compression is not None
    assert session.compression.summary.startswith(f"第{llm.summaries}次摘要")
    assert session.usage.llm_calls == llm.summaries
    assert tokens_of(session.compression.summary) == session.compression.tokens
    whole = await space.store.whole_conversation("s")
    assert len(whole.transcript) == 100, "nothing of the transcript is gone"


@pytest.mark.covers("CMP-6")
async def test_a_failure_is_told(open_graph: OpenGraph) -> None:
    """A turn that could not compress has its request all the same; the failure is an event, and counted."""
    llm = ScriptedLLM(["  ", "a reply"], window=1_000)
    space = await talked(open_graph, llm, messages=2)
    await space.append("s", [AppendedMessage(role=MessageRole.USER, content="长" * 900)])
    before = await space.store.space()
    _, made = await sent(space.store, llm, "and?")
    assert made.failure is not None
    after = await space.store.space()
    assert after.event_seq == before.event_seq + 2, "the failure's, and the turn's end"
    session = (await space.store.sessions(["s"]))["s"]
    assert (session.compression, session.usage.llm_calls) == (None, 1)


async def test_a_summary_that_comes_late(open_graph: OpenGraph) -> None:
    """It serves the turn that made it, what stands stays, and what it took is counted."""
    numbers = itertools.count()
    llm = ScriptedLLM(default=lambda _: f"summary {next(numbers)}", window=1_000)
    space = await talked(open_graph, llm, messages=2)
    await space.append("s", [AppendedMessage(role=MessageRole.USER, content="长" * 300)] * 3)
    turn_id = new_id()
    said = Draft(id=new_id(), role=MessageRole.USER, content="and?", turn_id=turn_id)
    begun = await space.store.begin_turn("s", turn_id, said, lease=60.0, idempotency=None)
    assert isinstance(begun, TurnBegun)
    both = [
        await fitted(
            space.store, llm, begun.turn, begun.conversation, "and?", insight=None, patches=(), tools=()
        )
        for _ in range(2)
    ]
    first, second = (made.compression for made in both)
    assert first is not None
    assert second is not None
    assert first.summary != second.summary
    session = (await space.store.sessions(["s"]))["s"]
    assert session.compression is not None
    assert session.compression.summary == first.summary
    assert session.usage.llm_calls == len(llm.requests)

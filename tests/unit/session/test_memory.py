"""Consolidation: what the model is asked, and what becomes of its answer."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from stello_graph.errors import ModelRefused
from stello_graph.model.context import Conversation, ModelRequest, Reply, ReplyStop, TextChunk
from stello_graph.model.message import Message, MessageRole, MessageState
from stello_graph.model.session import Session, SessionOverrides
from stello_graph.model.space import SpaceConfig
from stello_graph.model.values import SessionRole, SessionStatus, TopologyStrategy, Usage
from stello_graph.session.context.tokens import estimate
from stello_graph.session.memory import (
    consolidate,
    consolidate_request,
    distil,
    newest_lines,
    transcript_lines,
)
from stello_graph.session.prompts import CONSOLIDATE_PROMPT


class Stub:
    """Answers with one text and remembers what it was asked."""

    default_model = "default"
    is_offline = False

    def __init__(
        self, text: str = "", *, window: int | None = None, stop: ReplyStop = ReplyStop.END_TURN
    ) -> None:
        self.text, self._window, self.stop = text, window, stop
        self.asked: list[ModelRequest] = []

    def window(self, model: str) -> int | None:
        return self._window

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextChunk | Reply, None]:
        self.asked.append(request)
        if self.text == "fail":
            raise ModelRefused("no")
        yield TextChunk(text=self.text)
        yield Reply(text=self.text, stop=self.stop, usage=Usage(input_tokens=9, llm_calls=1), model="m")

    async def connect(self) -> None:
        pass

    async def aclose(self) -> None:
        pass


def message(seq: int, role: MessageRole, content: str, **fields: Any) -> Message:
    return Message(
        **{"id": f"m{seq}", "role": role, "content": content, "seq": seq, "session_id": "s", **fields},
        created_at=seq,
    )


TALK = (
    message(1, MessageRole.USER, "what is\nthis?"),
    message(2, MessageRole.ASSISTANT, "<think>hm</think>"),
    message(3, MessageRole.TOOL, "x" * 1000, tool_call_id="1"),
    message(4, MessageRole.TOOL, "Cancelled: stop", tool_call_id="2", state=MessageState.CANCELLED),
    message(5, MessageRole.ASSISTANT, "<think>hm</think>a cat", state=MessageState.TRUNCATED),
    message(6, MessageRole.USER, "I wrote <think>x</think> myself"),
)

NONE = SessionOverrides()


def conversation(
    *transcript: Message,
    overrides: SessionOverrides = NONE,
    memory: str | None = None,
    **config: Any,
) -> Conversation:
    return Conversation(
        session=Session(
            id="s",
            label="l",
            role=SessionRole.STANDARD,
            status=SessionStatus.ACTIVE,
            strategy=TopologyStrategy.TREE,
            memory=memory,
            overrides=overrides,
            root_id="s",
            created_at=0,
            updated_at=0,
            last_active_at=0,
        ),
        config=SpaceConfig(**config),
        transcript=transcript,
    )


def request_of(llm: Stub, of: Conversation) -> ModelRequest:
    request = consolidate_request(llm, of)
    assert request is not None
    return request


def test_lines_say_who_said_what() -> None:
    assert transcript_lines(TALK) == [
        "user: what is\n  this?",
        "tool: " + "x" * 400 + "…",
        "assistant: a cat",
        "user: I wrote <think>x</think> myself",
    ]


def test_text_in_blocks_is_read_where_there_is_no_other() -> None:
    parts = [{"type": "text", "text": "from blocks"}]
    assert transcript_lines([message(1, MessageRole.USER, "", parts=parts)]) == ["user: from blocks"]


@pytest.mark.covers("MEM-4")
def test_the_request_has_its_parts_in_order() -> None:
    overrides = SessionOverrides(role_context="a vet")
    request = request_of(Stub(), conversation(*TALK[:1], overrides=overrides, memory="about a cat"))
    assert [(m.role, m.content) for m in request.messages] == [
        ("system", CONSOLIDATE_PROMPT),
        ("system", "<role_context>\na vet\n</role_context>"),
        ("user", "当前摘要:\nabout a cat\n\n对话记录:\nuser: what is\n  this?"),
    ]
    assert request.tools == ()


@pytest.mark.covers("MEM-4")
def test_without_a_digest_and_a_role_there_is_less() -> None:
    for role_context in (None, "", " "):
        request = request_of(Stub(), conversation(*TALK[:1], role_context=role_context))
        assert [m.content for m in request.messages] == [
            CONSOLIDATE_PROMPT,
            "对话记录:\nuser: what is\n  this?",
        ]


@pytest.mark.covers("MEM-5")
def test_the_session_beats_the_space_beats_the_default() -> None:
    own = SessionOverrides(model="own", consolidate_prompt="own prompt", role_context="own role")
    space: dict[str, Any] = {
        "model": "space",
        "consolidate_prompt": "space prompt",
        "role_context": "space role",
    }
    for of, model, prompt, role in (
        (conversation(*TALK, overrides=own, **space), "own", "own prompt", "own role"),
        (conversation(*TALK, **space), "space", "space prompt", "space role"),
        (conversation(*TALK, **space, consolidate_model="cheap"), "cheap", "space prompt", "space role"),
    ):
        request = request_of(Stub(), of)
        assert request.model == model
        assert request.messages[0].content == prompt
        assert role in request.messages[1].content
    assert request_of(Stub(), conversation(*TALK)).model == "default"


def test_an_empty_role_of_the_session_hides_the_spaces() -> None:
    of = conversation(*TALK, overrides=SessionOverrides(role_context=""), role_context="space role")
    assert len(request_of(Stub(), of).messages) == 2


@pytest.mark.parametrize("window", [1_000, 10_000])
def test_the_input_is_bounded_and_the_newest_stays(window: int) -> None:
    talk = [message(seq, MessageRole.USER, f"第{seq}句话。" * 20) for seq in range(1, 2000)]
    request = request_of(Stub(window=window), conversation(*talk, memory="旧" * 5000))
    assert estimate(request.messages) + request.max_output_tokens <= window + 100
    assert request.messages[-1].content.endswith("第1999句话。")
    assert "第1句话" not in request.messages[-1].content


def test_whole_lines_only_but_never_none() -> None:
    assert newest_lines(["a" * 40, "b" * 40, "c" * 40], 25) == ["b" * 40, "c" * 40]
    assert newest_lines(["a", "b" * 400], 10) == ["b" * 40 + "…"]
    assert newest_lines([], 10) == []


@pytest.mark.covers("MEM-4")
async def test_a_digest_is_distilled() -> None:
    llm = Stub("<think>hm</think>\n\n一只猫。\n")
    assert await consolidate(llm, conversation(*TALK)) == ("一只猫。", Usage(input_tokens=9, llm_calls=1))
    assert len(llm.asked) == 1


async def test_nothing_said_means_nothing_asked() -> None:
    llm = Stub("a digest")
    for of in (conversation(memory="old"), conversation(TALK[1], TALK[3], memory="old")):
        assert await consolidate(llm, of) == (None, Usage())
    assert llm.asked == []


@pytest.mark.parametrize(
    "llm", [Stub(""), Stub("<think>all of it"), Stub(" \n"), Stub("I cannot.", stop=ReplyStop.REFUSAL)]
)
async def test_an_answer_that_says_nothing_changes_nothing(llm: Stub) -> None:
    assert await consolidate(llm, conversation(*TALK)) == (None, Usage(input_tokens=9, llm_calls=1))


async def test_a_failure_is_passed_on() -> None:
    with pytest.raises(ModelRefused):
        await consolidate(Stub("fail"), conversation(*TALK))


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        ("plain", "plain"),
        ("```text\nfenced\nlines\n```", "fenced\nlines"),
        ("```\nhalf a fence", "```\nhalf a fence"),
        ("a\x00b\r\nc", "ab\nc"),
        ("\u200b", ""),
    ],
)
def test_output_is_cleaned(text: str, digest: str) -> None:
    assert distil(text) == digest


@pytest.mark.covers("MEM-4")
def test_the_default_prompt_asks_for_what_a_digest_is() -> None:
    for word in ("100-150", "60-100", "Markdown", "已确认的结论", "language of the conversation"):
        assert word in CONSOLIDATE_PROMPT

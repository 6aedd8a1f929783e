"""Summaries: what the model is asked, in which steps, and what becomes of its answers."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stello_graph.errors import InternalError, ModelRefused, ModelUnavailable
from stello_graph.llm.scripted import ScriptedLLM, Step
from stello_graph.model.context import ContextMessage, Conversation, ModelRequest, Reply, ReplyStop
from stello_graph.model.session import SessionOverrides
from stello_graph.model.space import SpaceConfig
from stello_graph.session.context.tokens import estimate, tokens_of
from stello_graph.session.context.transcript import Transcript, transcript_of
from stello_graph.session.prompts import COMPRESS_PROMPT
from stello_graph.session.summaries import Summariser, lines_of, portions
from tests.unit.session.context.spec import IMAGE, call, conversation, result, says, user

HAN = "宇宙很大，星星很多。"


def talk(*drafts: object) -> Transcript:
    return transcript_of(conversation(*drafts), "")[:-1]  # type: ignore[arg-type]


def summariser(llm: ScriptedLLM, talked: Conversation | None = None) -> Summariser:
    return Summariser(llm, talked or conversation())


@pytest.mark.covers("CMP-8")
async def test_what_is_asked() -> None:
    """Task prompt, role context, then the standing summary and the new messages in one user message."""
    llm = ScriptedLLM(["<think>hm</think>both"])
    config = SpaceConfig(
        compress_model="small", model="big", role_context="a tutor", compress_prompt="Squeeze."
    )
    asked = summariser(llm, conversation(config=config))
    assert await asked.summary("old", talk(user("q\nr"), says("a")), 100) == "both"
    (request,) = llm.requests
    assert request.model == "small"
    assert [m.content for m in request.messages] == [
        "Squeeze.",
        "<role_context>\na tutor\n</role_context>",
        "当前摘要:\nold\n\n对话记录:\nuser: q\n  r\nassistant: a",
    ]
    assert asked.usage.llm_calls == 1


@pytest.mark.covers("MEM-5")
async def test_whose_settings_count() -> None:
    """The session's model, prompt and role context before the Space's, those before the defaults."""
    llm = ScriptedLLM(default="s")
    config = SpaceConfig(compress_model="small", role_context="a tutor", compress_prompt="Squeeze.")
    own = SessionOverrides(model="own", compress_prompt="Mine.", role_context="")
    await summariser(llm, conversation(config=config, overrides=own)).summary("", talk(user("q")), 100)
    await summariser(llm).summary("", talk(user("q")), 100)
    await summariser(llm, conversation(config=SpaceConfig(model="big"))).summary("", talk(user("q")), 100)
    assert [request.model for request in llm.requests] == ["own", "scripted", "big"]
    assert [request.messages[0].content for request in llm.requests[:2]] == ["Mine.", COMPRESS_PROMPT]
    assert len(llm.requests[0].messages) == 2, "an empty role context is none"


async def test_nothing_said_nothing_asked() -> None:
    """Messages that say nothing leave the standing summary, and no model is asked."""
    llm = ScriptedLLM()
    assert await summariser(llm).summary("old", talk(says(" "), user("")), 100) == "old"
    assert llm.requests == []


@pytest.mark.parametrize(
    ("step", "error"),
    [
        (" ", ModelRefused),
        ("<think>only</think>", ModelRefused),
        (Reply(text="I will not", stop=ReplyStop.REFUSAL, model="m"), ModelRefused),
        (ModelUnavailable("away"), ModelUnavailable),
    ],
)
async def test_no_summary(step: Step, error: type[Exception]) -> None:
    """A model that fails, refuses or says nothing gives no summary; what its answer took is known."""
    asked = summariser(ScriptedLLM(default=step))
    with pytest.raises(error):
        await asked.summary("", talk(user("q")), 100)
    assert asked.usage.llm_calls == (0 if error is ModelUnavailable else 1)


@pytest.mark.covers("W33")
async def test_a_long_conversation_is_summarised_in_steps() -> None:
    """Each request stays inside the window and extends the last summary; every word is in one of them."""
    window = 1_000
    llm = ScriptedLLM([f"summary {n}" for n in range(99)], window=window)
    said = [user(f"{n} {HAN * 20}") for n in range(12)]
    given = await summariser(llm).summary("summary old", talk(*said), window // 8)
    assert len(llm.requests) > 3
    assert given == f"summary {len(llm.requests) - 1}"
    for number, request in enumerate(llm.requests):
        assert estimate(request.messages) + request.max_output_tokens <= window
        before = f"summary {number - 1}" if number else "summary old"
        assert f"当前摘要:\n{before}\n" in request.messages[-1].content
    told = "".join(_record(request) for request in llm.requests)
    assert told == "".join(f"user: {message.content}" for message in said)


def _record(request: ModelRequest) -> str:
    return request.messages[-1].content.split("对话记录:\n")[1].replace("\n", "")


async def test_a_summary_has_a_limit() -> None:
    """A summary that is too long is cut where its room ends."""
    llm = ScriptedLLM([HAN * 100])
    given = await summariser(llm).summary("", talk(user("q")), 50)
    assert (HAN * 100).startswith(given)
    assert tokens_of(given) == 50


@pytest.mark.covers("INT-10")
async def test_an_application_summarises_by_itself() -> None:
    """It gets the standing summary and the messages, all at once; the model is not asked."""
    got: list[tuple[str | None, Sequence[ContextMessage]]] = []

    async def compress(summary: str | None, messages: Sequence[ContextMessage]) -> str:
        got.append((summary, messages))
        return "mine"

    llm = ScriptedLLM()
    messages = talk(user("q"), says("a"))
    assert await Summariser(llm, conversation(), compress).summary("", messages, 100) == "mine"
    assert got == [(None, messages)]
    assert llm.requests == []


async def test_a_function_that_is_not_async() -> None:
    """It is taken as well."""

    def compress(summary: str | None, messages: Sequence[ContextMessage]) -> str:
        return f"{summary} and {len(messages)}"

    own = Summariser(ScriptedLLM(), conversation(), compress)
    assert await own.summary("old", talk(user("q"), says("a")), 100) == "old and 2"


@pytest.mark.parametrize(("given", "error"), [(" ", ModelRefused), (KeyError("x"), InternalError)])
async def test_an_application_that_fails(given: str | Exception, error: type[Exception]) -> None:
    """A failure of the application's function is one of the task, whatever it raised."""

    async def compress(summary: str | None, messages: Sequence[ContextMessage]) -> str:
        if isinstance(given, Exception):
            raise given
        return given

    with pytest.raises(error):
        await Summariser(ScriptedLLM(), conversation(), compress).summary("", talk(user("q")), 100)


def test_lines() -> None:
    """Tool calls and results are told, thinking is not, media are named, nobody passes for another."""
    messages = talk(
        user("look\nassistant: sure", parts=[IMAGE]),
        says("<think>hm</think>Let me see.", call("1", arguments={"q": "星"})),
        result("1", "x" * 5_000),
        says("<think>nothing</think>"),
    )
    assert lines_of(messages) == [
        "user: look\n  assistant: sure\n  [image]",
        'assistant: Let me see.\n  [tool call: search {"q": "星"}]',
        f"tool: {'x' * 2_000}…",
    ]


@given(
    st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=60), max_size=12), st.integers(8, 60)
)
def test_portions_hold_every_character_once(lines: list[str], budget: int) -> None:
    """Portions are within the budget, and joined they are what was given."""
    parts = list(portions(lines, budget))
    assert "".join(piece for part in parts for piece in part) == "".join(lines)
    for part in parts:
        assert part
        assert sum(tokens_of(piece) + 1 for piece in part) <= budget

"""Fitting a request into its window: exact coverage, extended summaries, and what happens without one."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stello_graph.errors import ContextTooLong, ModelRefused, ModelUnavailable
from stello_graph.llm.scripted import ScriptedLLM
from stello_graph.model.context import ContextMessage, ContextOrigin, Conversation
from stello_graph.model.message import Draft
from stello_graph.model.session import Compression
from stello_graph.model.values import Usage
from stello_graph.session.compression import Fitted, compact, fit
from stello_graph.session.context.compile import compile_context, running_turn
from stello_graph.session.context.patches import ContextSummary, Patch, patch_of
from stello_graph.session.context.tokens import estimate, tokens_of
from stello_graph.session.summaries import Summariser, summary_limit
from tests.unit.session.context.spec import (
    call,
    conversation,
    faults,
    result,
    says,
    session,
    stored,
    tool,
    turns,
    user,
)

WINDOW = 1_000
LONG = "字" * 100
TOOLS = (tool("search"), tool("draw"))


class Recorder:
    """An application's compress function that remembers what it was given."""

    def __init__(self, summary: str = "summary") -> None:
        self.summary = summary
        self.given: list[tuple[str | None, tuple[ContextMessage, ...]]] = []

    async def __call__(self, summary: str | None, messages: Sequence[ContextMessage]) -> str:
        self.given.append((summary, tuple(messages)))
        return f"{self.summary} {len(self.given)}"


async def fitted(
    talked: Conversation,
    content: str = "and?",
    *,
    llm: ScriptedLLM | None = None,
    patches: Sequence[Patch] = (),
    window: int = WINDOW,
    compress: Recorder | None = None,
) -> Fitted:
    return await fit(
        llm or ScriptedLLM(),
        talked,
        content,
        insight=None,
        window=window,
        patches=patches,
        tools=TOOLS,
        compress=compress,
    )


def seqs(compiled: Fitted) -> list[int]:
    return [m.seq for m in compiled.compiled.messages if m.seq is not None]


def asked(compiled: Fitted) -> list[str]:
    return [m.content for m in compiled.compiled.messages if m.origin is ContextOrigin.USER_INPUT]


def then(talked: Conversation, made: Fitted, *more: Draft) -> Conversation:
    """The conversation as a store would give it after that, with more messages."""
    assert made.compression is not None
    draft = made.compression
    compression = Compression(
        summary=draft.summary, through_seq=draft.through_seq, tokens=draft.tokens, created_at=150
    )
    kept = [m for m in talked.transcript if m.seq > draft.through_seq]
    last = talked.transcript[-1].seq
    written = stored(*(m.model_copy(update={"created_at": 200}) for m in more), first=last + 1)
    return talked.model_copy(
        update={
            "session": talked.session.model_copy(update={"compression": compression}),
            "transcript": (*kept, *written),
        }
    )


@pytest.mark.covers("CMP-1")
async def test_below_the_threshold_nothing_is_done() -> None:
    """The request is what compiling gives, and no model is asked."""
    talked = conversation(user(LONG), says(LONG))
    made = await fitted(talked)
    assert made.compiled == compile_context(
        talked, "and?", insight=None, max_context_tokens=WINDOW, tools=TOOLS
    )
    assert (made.compression, made.failure, made.usage, made.patches) == (None, None, Usage(), ())
    assert made.room == WINDOW - made.compiled.estimated_tokens


@pytest.mark.covers("CMP-2")
async def test_at_the_threshold_the_older_part_is_summarised() -> None:
    """A summary stands for the oldest messages exactly, the rest is replayed, the user speaks last."""
    talked = conversation(*[user(LONG), says(LONG)] * 5)
    made = await fitted(talked, llm=ScriptedLLM(["<think>hm</think>They talked."]))
    draft = made.compression
    assert draft is not None
    assert (draft.summary, draft.first_seq, draft.extends) == ("They talked.", 1, 0)
    assert draft.tokens == tokens_of("They talked.")
    assert seqs(made) == list(range(draft.through_seq + 1, 11))
    assert [m.content for m in made.compiled.messages if m.origin is ContextOrigin.COMPRESSION] == [
        "They talked."
    ]
    assert asked(made) == ["and?"]
    assert not made.compiled.would_compress
    assert made.usage.llm_calls >= 1
    assert made.patches == (ContextSummary(summary="They talked.", through_seq=draft.through_seq),)


async def test_the_next_summary_extends_the_last() -> None:
    """The next head is the old summary and the messages after it, none of those before."""
    compress = Recorder()
    talked = conversation(*[user(LONG), says(LONG)] * 5)
    first = await fitted(talked, compress=compress)
    assert first.compression is not None
    later = then(talked, first, *[user(LONG), says(LONG)] * 3)
    second = await fitted(later, compress=compress)
    assert second.compression is not None
    assert second.compression.extends == first.compression.through_seq
    summary, messages = compress.given[1]
    assert summary == "summary 1"
    assert [m.seq for m in messages] == list(
        range(first.compression.through_seq + 1, second.compression.through_seq + 1)
    )


@pytest.mark.covers("CMP-4")
async def test_a_standing_summary_is_reused() -> None:
    """After a compression the next sends replay summary and rest, without asking anybody."""
    talked = conversation(*[user(LONG), says(LONG)] * 5)
    first = await fitted(talked, compress=Recorder())
    llm = ScriptedLLM()
    made = await fitted(then(talked, first, user("and?"), says("so")), llm=llm)
    assert llm.requests == []
    assert made.compression is None
    assert first.compression is not None
    assert seqs(made)[0] == first.compression.through_seq + 1


@pytest.mark.covers("W4")
async def test_a_small_usage_after_a_compression_hides_nothing() -> None:
    """W4: the tokens reported for the compressed request do not make the next one replay everything."""
    small = Usage(input_tokens=40, output_tokens=1, llm_calls=1)
    talked = conversation(*[user(LONG), says(LONG)] * 5)
    first = await fitted(talked, compress=Recorder())
    later = then(talked, first, user("and?"), says("so", usage=small))
    made = await fitted(later)
    assert estimate(made.compiled.messages, TOOLS) <= WINDOW
    assert sum(m.origin is ContextOrigin.COMPRESSION for m in made.compiled.messages) == 1
    crowded = then(talked, first, *[user(LONG), says(LONG, usage=small)] * 4)
    assert (await fitted(crowded, compress=Recorder())).compression is not None


async def test_what_the_provider_counted_counts() -> None:
    """Where a call took more than was estimated, the cut is made for what it took."""
    heavy = Usage(input_tokens=880, output_tokens=10, llm_calls=1)
    talked = conversation(*[user(LONG), says(LONG)] * 2, user("q"), says("a", usage=heavy))
    assert (await fitted(talked, compress=Recorder())).compression is not None


@pytest.mark.covers("W33")
async def test_a_tool_loop_is_compressed_too() -> None:
    """In a later round the transcript before the turn is summarised, and the turn goes on whole."""
    rounds = stored(*(m for n in range(3) for m in (says("", call(f"c{n}")), result(f"c{n}", LONG))), first=6)
    patches = tuple(map(patch_of, rounds))
    talked = conversation(*[user(LONG), says(LONG)] * 2)
    made = await fitted(talked, "find it", patches=patches, compress=Recorder())
    assert made.compression is not None
    through = made.compression.through_seq
    assert 0 < through <= 4
    assert asked(made) == ["find it"]
    assert seqs(made) == [*range(through + 1, 5), 6, 7, 8, 9, 10, 11]
    assert made.patches == (*patches, ContextSummary(summary="summary 1", through_seq=through))
    again = await fitted(talked, "find it", patches=made.patches, compress=Recorder())
    assert again.compiled == made.compiled


async def test_a_turn_that_is_too_long_by_itself() -> None:
    """The oldest rounds of the running turn are summarised, the user's message with them and not sent."""
    rounds = stored(*(m for n in range(8) for m in (says("", call(f"c{n}")), result(f"c{n}", LONG))), first=4)
    patches = tuple(map(patch_of, rounds))
    talked = conversation(user("q"), says("a"))
    compress = Recorder()
    made = await fitted(talked, "find it", patches=patches, compress=compress)
    assert made.compression is not None
    through = made.compression.through_seq
    assert 3 < through < 19
    assert "find it" in [m.content for m in compress.given[0][1]]
    assert asked(made) == []
    assert seqs(made) == list(range(through + 1, 20))

    after = then(talked, made)
    elsewhere = after.model_copy(update={"transcript": tuple(m for m in rounds if m.seq > through)})
    before, content, rest = running_turn(elsewhere, 3)
    resumed = await fitted(before, content, patches=rest)
    assert resumed.compiled.messages == made.compiled.messages, "a process that goes on with it sees the same"

    more = stored(*(m for n in range(8) for m in (says("", call(f"d{n}")), result(f"d{n}", LONG))), first=20)
    here = await fitted(talked, "find it", patches=[*made.patches, *map(patch_of, more)], compress=Recorder())
    there = await fitted(before, content, patches=[*rest, *map(patch_of, more)], compress=Recorder())
    assert here.compression is not None
    assert here.compression.extends == through
    assert here.compression == there.compression


@pytest.mark.covers("CMP-6")
@pytest.mark.parametrize("failure", [ModelUnavailable("away"), "  "])
async def test_without_a_summary_the_turn_goes_on(failure: ModelUnavailable | str) -> None:
    """As much of the newest transcript as fits is sent, nothing is to be stored, the failure is told."""
    talked = conversation(*[user(LONG), says(LONG)] * 8)
    llm = ScriptedLLM(default=failure, window=WINDOW)
    made = await fitted(talked, llm=llm)
    assert made.compression is None
    assert isinstance(
        made.failure, ModelUnavailable if isinstance(failure, ModelUnavailable) else ModelRefused
    )
    assert made.patches == ()
    kept = seqs(made)
    assert kept == list(range(kept[0], 17))
    assert 500 < made.compiled.estimated_tokens <= 900
    assert made.usage.llm_calls == (0 if isinstance(failure, ModelUnavailable) else 1)


@pytest.mark.covers("CMP-9")
async def test_without_a_summary_groups_stay_whole() -> None:
    """What is left out of a tool loop are whole rounds; the user's message stays."""
    rounds = stored(*(m for n in range(9) for m in (says("", call(f"c{n}")), result(f"c{n}", LONG))), first=2)
    made = await fitted(
        conversation(), "find it", patches=[patch_of(m) for m in rounds], llm=ScriptedLLM(default=" ")
    )
    assert made.failure is not None
    assert asked(made) == ["find it"]
    assert seqs(made)[0] % 2 == 0
    assert made.compiled.estimated_tokens <= 900
    assert faults(made.compiled.messages, ["search", "draw"]) == []


async def test_too_long_is_an_error_of_its_own() -> None:
    """What cannot be left out, the user's message or the newest group, is refused where it does not fit."""
    llm = ScriptedLLM(default="s")
    with pytest.raises(ContextTooLong, match="1000"):
        await fitted(conversation(user("q"), says("a")), LONG * 11, llm=llm)
    group = stored(says("", call("1")), result("1", LONG * 11), first=2)
    with pytest.raises(ContextTooLong):
        await fitted(conversation(), "find it", patches=[patch_of(m) for m in group], llm=llm)
    assert llm.requests == [], "nobody is asked in vain"


async def test_no_room_for_a_summary() -> None:
    """Where the user's message leaves room for no summary, older messages are left out, and that is told."""
    talked = conversation(user(LONG), says(LONG))
    made = await fitted(talked, "字" * 880)
    assert isinstance(made.failure, ContextTooLong)
    assert made.compression is None
    assert asked(made) == ["字" * 880]


async def test_a_summary_of_the_applications_that_is_too_long() -> None:
    """A summary beyond the window is none."""
    talked = conversation(*[user(LONG), says(LONG)] * 5)
    made = await fitted(talked, compress=Recorder(LONG * 10))
    assert isinstance(made.failure, ContextTooLong)
    assert made.compression is None
    assert not made.compiled.estimated_tokens > WINDOW


histories = st.lists(turns(), max_size=5)
sizes = st.integers(1, 60)


@pytest.mark.covers("W5")
@given(histories, turns(), sizes, st.integers(80, 1_200), st.sampled_from(["s", LONG]))
async def test_every_message_is_summarised_or_replayed(
    history: list[list[Draft]], turn: list[Draft], size: int, window: int, summary: str
) -> None:
    """W5: never both, never neither, whatever the length of the summary; and the request is legal."""
    heavy = [
        [m.model_copy(update={"content": m.content + "重" * size}) for m in each] for each in (*history, turn)
    ]
    before = [message for each in heavy[:-1] for message in each]
    asks, *came = heavy[-1]
    written = stored(*came[:-1], first=len(before) + 2)
    compress = Recorder(summary)
    try:
        made = await fitted(
            conversation(*before),
            asks.content,
            patches=[patch_of(m) for m in written],
            window=window,
            compress=compress,
        )
    except ContextTooLong:
        return
    assert faults(made.compiled.messages, ["search", "draw"]) == []
    assert made.compiled.estimated_tokens <= window
    if made.failure is not None:
        return
    through = made.compression.through_seq if made.compression else 0
    everything = list(range(1, len(before) + 1 + len(written) + 1))
    question = len(before) + 1
    covered = [m.seq or question for _, messages in compress.given for m in messages]
    replayed = {*seqs(made), *([question] if asked(made) else [])}
    assert covered == everything[:through]
    assert replayed == set(everything[through:])


@pytest.mark.covers("CMP-9")
async def test_compact() -> None:
    """All but the newest messages are summarised, whatever their size; groups stay whole."""
    talked = conversation(user("q"), says("", call("1")), result("1"), says("a"), user("r"), says("b"))
    for keep_last, through in ((0, 6), (2, 4), (4, 1), (5, 1), (6, None), (99, None)):
        llm = ScriptedLLM(["all"])
        summariser = Summariser(llm, talked)
        draft = await compact(summariser, talked, keep_last)
        assert (draft and draft.through_seq) == through
        assert summariser.usage.llm_calls == len(llm.requests) == (0 if draft is None else 1)


async def test_compact_extends() -> None:
    """The standing summary goes into the next; what it covers is not told again."""
    compression = Compression(summary="old", through_seq=4, tokens=1, created_at=1)
    talked = conversation(user("r"), says("b"), user("s"), says("c"), compression=compression)
    llm = ScriptedLLM(["new"])
    draft = await compact(Summariser(llm, talked), talked, 2)
    assert draft is not None
    assert (draft.first_seq, draft.through_seq, draft.extends) == (5, 6, 4)
    assert "当前摘要:\nold\n\n对话记录:\nuser: r\nassistant: b" in llm.requests[0].messages[-1].content


async def test_compact_leaves_a_group_that_waits() -> None:
    """Calls without results at the end stay as they are."""
    talked = conversation(user("q"), says("", call("1")))
    draft = await compact(Summariser(ScriptedLLM(["s"]), talked), talked, 0)
    assert draft is not None
    assert draft.through_seq == 1


def test_the_limit() -> None:
    """An eighth of the window."""
    assert summary_limit(16_000) == 2_000
    assert session().compression is None

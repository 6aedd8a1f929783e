"""The laws of the compile boundary, for whatever is stored and whatever happened since."""

from collections.abc import Sequence
from itertools import count, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stello_graph.model.context import Conversation, ToolSpec
from stello_graph.model.message import Draft
from stello_graph.session.context.closing import closing_messages
from stello_graph.session.context.compile import Compiled, compile_context, running_turn
from stello_graph.session.context.groups import check_whole
from stello_graph.session.context.legal import legal
from stello_graph.session.context.patches import Patch, patch, patch_of
from stello_graph.session.context.transcript import transcript_of

from .spec import conversation, conversations, faults, offers, patch_lists, says, stored, texts, tool, turns

TOOLS = (tool("search"), tool("draw"))


def compiled(
    conversation: Conversation,
    content: str,
    patches: Sequence[Patch] = (),
    tools: Sequence[ToolSpec] = (),
    insight: str | None = None,
) -> Compiled:
    return compile_context(
        conversation, content, insight=insight, max_context_tokens=1000, patches=patches, tools=tools
    )


@pytest.mark.covers("W28")
@given(conversations, texts, patch_lists, offers, texts)
def test_every_request_is_legal(
    stored: Conversation, content: str, patches: list[Patch], tools: tuple[ToolSpec, ...], insight: str
) -> None:
    request = compiled(stored, content, patches, tools, insight)
    assert faults(request.messages, [each.name for each in tools]) == []


@given(conversations, texts, patch_lists, offers)
def test_nothing_stored_is_changed_and_the_answer_is_always_the_same(
    stored: Conversation, content: str, patches: list[Patch], tools: tuple[ToolSpec, ...]
) -> None:
    before = stored.model_dump_json(), [each.model_dump_json() for each in patches]
    first = compiled(stored, content, patches, tools)
    second = compiled(stored, content, patches, tools)
    assert first == second
    assert before == (stored.model_dump_json(), [each.model_dump_json() for each in patches])


@given(conversations, texts, patch_lists, offers)
def test_what_is_legal_stays_as_it_is(
    stored: Conversation, content: str, patches: list[Patch], tools: tuple[ToolSpec, ...]
) -> None:
    names = frozenset(each.name for each in tools)
    once = legal(patch(transcript_of(stored, content), patches), names)
    assert legal(once, names) == once


@given(conversations, texts, patch_lists, patch_lists)
def test_patches_apply_one_after_another(
    stored: Conversation, content: str, first: list[Patch], second: list[Patch]
) -> None:
    transcript = transcript_of(stored, content)
    assert patch(transcript, [*first, *second]) == patch(patch(transcript, first), second)


@pytest.mark.covers("W17")
@given(conversations, texts, patch_lists)
def test_nobodys_words_are_lost(stored: Conversation, content: str, patches: list[Patch]) -> None:
    transcript = patch(transcript_of(stored, content), patches)
    for role in ("user", "assistant"):
        said = [m.content for m in transcript if m.role == role and m.content.strip()]
        heard = [m.content for m in legal(transcript, frozenset()) if m.role == role]
        position = 0
        for words in said:
            position = next(i for i, text in enumerate(heard) if i >= position and words in text)


@pytest.mark.covers("W28")
@given(st.lists(turns(), min_size=1, max_size=3), st.data(), texts)
def test_a_crash_at_any_point_leaves_a_legal_transcript(
    history: list[list[Draft]], data: st.DataObject, partial: str
) -> None:
    *before, last = history
    survived = last[: data.draw(st.integers(1, len(last)), label="stored before the crash")]
    ids = (f"x{number}" for number in count())
    closing = closing_messages(survived, partial, "the server stopped", new_id=lambda: next(ids))
    whole = [message for turn in before for message in turn] + [*survived, *closing]

    check_whole(whole)
    request = compiled(conversation(*whole), "go on", tools=TOOLS)
    assert faults(request.messages, ["search", "draw"]) == []
    results = [m for m in whole if m.tool_call_id]
    assert [m.seq for m in request.messages if m.role == "tool"] == [
        m.seq for m in stored(*whole) if m.tool_call_id
    ]
    assert len(results) == sum(len(m.tool_calls) for m in whole)


@given(st.lists(turns(), min_size=1, max_size=3), st.data())
def test_a_turn_compiles_the_same_from_its_patches_as_from_what_it_stored(
    history: list[list[Draft]], data: st.DataObject
) -> None:
    *before, last = history
    earlier = [message for turn in before for message in turn]
    survived = last[: data.draw(st.integers(1, len(last)), label="stored so far")]
    live = compiled(conversation(*earlier), last[0].content, [patch_of(each) for each in survived[1:]], TOOLS)
    taken_over, content, patches = running_turn(conversation(*earlier, *survived), len(earlier) + 1)
    resumed = compiled(taken_over, content, patches, TOOLS)
    assert [(m.role, m.content, m.tool_calls) for m in live.messages] == [
        (m.role, m.content, m.tool_calls) for m in resumed.messages
    ]
    assert resumed.estimated_tokens == live.estimated_tokens


@given(st.lists(turns(), min_size=1, max_size=4))
def test_a_longer_transcript_begins_with_the_shorter_one(history: list[list[Draft]]) -> None:
    """What caches prompts by their beginning depends on it."""
    whole = [message for turn in history for message in turn]
    requests = [
        compiled(conversation(*whole[:end]), "", tools=TOOLS).messages
        for end in range(1, len(whole) + 1)
        if whole[end - 1] == says("done")
    ]
    for shorter, longer in pairwise(requests):
        assert longer[: len(shorter) - 1] == shorter[:-1]

"""The six kinds of patches."""

import pytest

from stello_graph.model.context import ContextMessage, ContextOrigin
from stello_graph.model.message import Draft, MessageState
from stello_graph.model.session import Compression
from stello_graph.model.values import Usage
from stello_graph.session.context.patches import (
    AssistantMessage,
    AssistantTruncated,
    ContextSummary,
    MultimodalToolResult,
    Patch,
    ToolCancelled,
    ToolResult,
    patch,
    patch_of,
)
from stello_graph.session.context.transcript import transcript_of

from .spec import IMAGE, call, conversation, result, says, stored, user

START = transcript_of(conversation(user("one"), says("two"), user("three"), says("four")), "five")


def contents(transcript: tuple[ContextMessage, ...]) -> list[str]:
    return [message.content for message in transcript]


def test_what_happens_comes_after_the_users_input() -> None:
    patches: list[Patch] = [
        AssistantMessage(content="look", tool_calls=(call("1"), call("2"), call("3"))),
        ToolResult(tool_call_id="1", tool_name="search", content="found", is_error=True),
        MultimodalToolResult(tool_call_id="2", tool_name="search", parts=[IMAGE]),
        ToolCancelled(tool_call_id="3", tool_name="search", content="Cancelled: stop"),
        AssistantTruncated(content="so far", seq=9),
    ]
    after = patch(START, patches)
    assert after[: len(START)] == START
    added = after[len(START) :]
    assert [(m.role, m.content, m.parts, m.tool_call_id, m.is_error, m.seq) for m in added] == [
        ("assistant", "look", None, None, False, None),
        ("tool", "found", None, "1", True, None),
        ("tool", "", [IMAGE], "2", False, None),
        ("tool", "Cancelled: stop", None, "3", True, None),
        ("assistant", "so far", None, None, False, 9),
    ]


def test_a_summary_stands_for_exactly_what_it_covers() -> None:
    after = patch(START, [ContextSummary(summary="one and two", through_seq=2)])
    assert contents(after) == ["one and two", "three", "four", "five"]
    assert after[0].origin is ContextOrigin.COMPRESSION
    assert after[0].role == "system"


def test_a_later_summary_replaces_the_one_before() -> None:
    after = patch(
        START, [ContextSummary(summary="a", through_seq=2), ContextSummary(summary="b", through_seq=3)]
    )
    assert contents(after) == ["b", "four", "five"]


def test_a_summary_extends_the_stored_one() -> None:
    stored_one = Compression(summary="zero", through_seq=3, tokens=1, created_at=1)
    start = transcript_of(conversation(user("one"), says("two"), compression=stored_one), "three")
    assert contents(start) == ["zero", "one", "two", "three"]
    assert contents(patch(start, [ContextSummary(summary="zero to one", through_seq=4)])) == [
        "zero to one",
        "two",
        "three",
    ]


def test_a_summary_never_covers_the_users_input() -> None:
    after = patch(
        START,
        [AssistantMessage(content="six", seq=6), ContextSummary(summary="all", through_seq=6)],
    )
    assert contents(after) == ["all", "five"]


def test_a_blank_summary_covers_nothing() -> None:
    assert patch(START, [ContextSummary(summary=" \n", through_seq=4)]) == START


def test_a_summary_voids_what_was_counted_before() -> None:
    counted = AssistantMessage(content="six", seq=6, usage=Usage(input_tokens=900))
    assert patch(START, [counted])[-1].usage == Usage(input_tokens=900)
    assert patch(START, [counted, ContextSummary(summary="s", through_seq=2)])[-1].usage is None


@pytest.mark.parametrize(
    ("draft", "expected"),
    [
        (says("a", call("1"), model="m"), AssistantMessage(content="a", tool_calls=(call("1"),), model="m")),
        (says("a", state=MessageState.TRUNCATED), AssistantTruncated(content="a")),
        (result("1", "x"), ToolResult(tool_call_id="1", tool_name="search", content="x")),
        (
            result("1", "x", parts=[IMAGE], is_error=True),
            MultimodalToolResult(
                tool_call_id="1", tool_name="search", content="x", parts=[IMAGE], is_error=True
            ),
        ),
        (
            result("1", "no", state=MessageState.CANCELLED, is_error=True),
            ToolCancelled(tool_call_id="1", tool_name="search", content="no"),
        ),
    ],
)
def test_each_message_of_a_turn_is_a_patch(draft: Draft, expected: Patch) -> None:
    assert patch_of(draft) == expected
    assert type(patch_of(draft)) is type(expected)
    assert patch_of(stored(draft, first=7)[0]) == expected.model_copy(update={"seq": 7})


def test_the_users_message_is_no_patch() -> None:
    with pytest.raises(ValueError, match="no patch"):
        patch_of(user("hi"))

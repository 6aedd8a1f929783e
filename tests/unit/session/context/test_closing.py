"""How a turn that was cut off is closed."""

from itertools import count

import pytest

from stello_graph.model.message import Draft, MessageRole, MessageState
from stello_graph.session.context.closing import cancelled_results, closing_messages

from .spec import call, result, says, user


def closed(*stored: Draft, partial: str = "") -> list[tuple[MessageRole, MessageState, str]]:
    ids = (f"x{number}" for number in count())
    drafts = closing_messages(
        stored, partial, "the user stopped the turn", new_id=lambda: next(ids), turn_id="turn", model="m"
    )
    assert [draft.id for draft in drafts] == [f"x{number}" for number in range(len(drafts))]
    assert all(draft.turn_id == "turn" for draft in drafts)
    return [(draft.role, draft.state, draft.content) for draft in drafts]


def test_a_partial_reply_is_kept_as_truncated() -> None:
    assert closed(user("q"), partial="half") == [(MessageRole.ASSISTANT, MessageState.TRUNCATED, "half")]
    assert closed(partial="half") == [(MessageRole.ASSISTANT, MessageState.TRUNCATED, "half")]
    assert closed(user("q"), says("", call("1")), result("1"), partial="so") == [
        (MessageRole.ASSISTANT, MessageState.TRUNCATED, "so")
    ]


def test_waiting_calls_are_cancelled_in_their_order() -> None:
    """TC13."""
    drafts = closing_messages(
        [user("q"), says("", call("1"), call("2", "draw"), call("3")), result("2")],
        "",
        "the user stopped the turn",
        new_id=lambda: "x",
    )
    assert [(d.tool_call_id, d.tool_name, d.state, d.is_error, d.content) for d in drafts] == [
        ("1", "search", MessageState.CANCELLED, True, "Cancelled: the user stopped the turn"),
        ("3", "search", MessageState.CANCELLED, True, "Cancelled: the user stopped the turn"),
    ]


def test_a_late_partial_of_a_stored_reply_is_dropped() -> None:
    assert closed(user("q"), says("look", call("1")), partial="loo") == [
        (MessageRole.TOOL, MessageState.CANCELLED, "Cancelled: the user stopped the turn")
    ]
    assert closed(user("q"), says("done"), partial="do") == []


@pytest.mark.parametrize("partial", ["", " \n"])
def test_where_nothing_was_said_nothing_is_stored(partial: str) -> None:
    assert closed(user("q"), partial=partial) == []


def test_twice_the_same_id_is_cancelled_twice() -> None:
    drafts = closing_messages([says("", call("1"), call("1")), result("1")], "", "why", new_id=lambda: "x")
    assert [d.tool_call_id for d in drafts] == ["1"]
    assert len(cancelled_results([call("1"), call("1")], "why", new_id=lambda: "x")) == 2

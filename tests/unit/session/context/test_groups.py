"""Tool groups of stored messages, and where they may end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stello_graph.errors import InvalidInput
from stello_graph.model.message import Draft
from stello_graph.session.context.groups import check_whole, cuts_group, last_whole, newest_whole

from .spec import IMAGE, call, drafts, faults, result, says, stored, turns, user

STORED = stored(
    user("q"),
    says("", call("1"), call("2")),
    result("1"),
    result("2"),
    says("a"),
    user("r"),
    says("b"),
    first=5,
)


def test_a_cut_inside_a_group_is_none() -> None:
    assert [seq for seq in range(4, 13) if cuts_group(STORED, seq)] == [6, 7]
    assert [last_whole(STORED, seq) for seq in range(4, 12)] == [4, 5, 5, 5, 8, 9, 10, 11]


def test_a_group_that_waits_is_cut_by_any_end() -> None:
    waiting = stored(user("q"), says("", call("1"), call("2")), result("1"))
    assert [cuts_group(waiting, seq) for seq in (1, 2, 3)] == [False, True, True]
    assert last_whole(waiting, 3) == 1


def test_a_group_that_was_given_up_is_cut_by_none() -> None:
    left = stored(says("", call("1")), user("hello?"))
    assert not cuts_group(left, 1)
    assert not cuts_group(left, 2)


def test_a_result_that_strayed_holds_its_group_together() -> None:
    strayed = stored(says("", call("1")), user("hello?"), result("1"))
    assert [cuts_group(strayed, seq) for seq in (1, 2, 3)] == [True, True, False]


@pytest.mark.parametrize(
    ("keep_last", "first"), [(0, 12), (1, 11), (3, 9), (4, 6), (5, 6), (6, 6), (7, 5), (99, 5)]
)
def test_a_trim_keeps_the_group_that_it_meets(keep_last: int, first: int) -> None:
    assert newest_whole(STORED, keep_last) == first


def test_a_trim_of_nothing_and_by_nothing() -> None:
    assert newest_whole((), 3) == 1
    with pytest.raises(InvalidInput, match="keepLast"):
        newest_whole(STORED, -1)


@given(st.lists(drafts, max_size=12), st.integers(0, 14))
def test_moving_back_ends_at_a_legal_cut_and_no_earlier_than_needed(items: list[Draft], seq: int) -> None:
    messages = stored(*items)
    cut = last_whole(messages, seq)
    assert cut <= seq
    assert not cuts_group(messages, cut)
    assert all(cuts_group(messages, between) for between in range(cut + 1, seq + 1))


@given(st.lists(turns(), max_size=3), st.integers(0, 20))
def test_a_trim_keeps_at_least_what_was_asked(history: list[list[Draft]], keep_last: int) -> None:
    messages = stored(*(message for turn in history for message in turn))
    kept = [m for m in messages if m.seq >= newest_whole(messages, keep_last)]
    assert len(kept) >= min(keep_last, len(messages))
    check_whole(kept)


@given(st.lists(turns(), max_size=3))
def test_what_turns_store_can_be_appended(history: list[list[Draft]]) -> None:
    check_whole([message for turn in history for message in turn])


@pytest.mark.parametrize(
    ("items", "sentence"),
    [
        ([result("1")], r'messages\[0\] answers "1", but no call'),
        ([says("", call("1"))], 'the call "1" has no result before the end'),
        ([says("", call("1")), user("x"), result("1")], r'call "1" has no result before messages\[1\]'),
        ([says("", call("1")), says("x")], r'call "1" has no result before messages\[1\]'),
        ([says("", call("1")), result("1"), result("1")], r'messages\[2\] answers "1", but no call'),
        ([says("", call("1")), result("2")], r'messages\[1\] answers "2", but no call'),
        ([says("", call("1")), result(None)], r"messages\[1\] is a tool's result and needs a toolCallId"),
        ([says("", call("1")), result("1", tool_calls=(call("2"),))], "makes no calls of its own"),
        ([says("", call("1"), call("1")), result("1"), result("1")], "two tool calls with the same id"),
        ([says("", call(""))], "without an id or a name"),
        ([says("", call("1", ""))], "without an id or a name"),
        ([user("x", tool_calls=(call("1"),))], "the user's, who makes no tool calls"),
        ([user("x", tool_call_id="1")], "only a tool's result answers a call"),
        ([user("x"), says("")], r"messages\[1\] is the assistant's and has neither text nor tool calls"),
    ],
)
def test_what_cannot_be_appended(items: list[Draft], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        check_whole(items)


def test_what_can_be_appended() -> None:
    check_whole([])
    check_whole([says("hello"), user(""), user("two"), says("", parts=[IMAGE])])
    check_whole([says("", call("1"), call("2")), result("2"), result("1"), says("", call("1")), result("1")])


@given(st.lists(drafts, max_size=6))
def test_what_is_appended_needs_no_repair(items: list[Draft]) -> None:
    try:
        check_whole(items)
    except InvalidInput:
        return
    messages = stored(*items)
    assert last_whole(messages, len(messages)) == len(messages)


def test_the_specification_knows_an_illegal_request() -> None:
    assert faults((), ()) == ["nobody to answer to"]

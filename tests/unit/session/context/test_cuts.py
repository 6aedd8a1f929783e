"""Where a transcript is cut for a summary: exact, between tool groups, and no more than is needed."""

from hypothesis import given
from hypothesis import strategies as st

from stello_graph.model.message import Draft
from stello_graph.session.context.cuts import costs_from, newest_within, place_to_cut, through_of
from stello_graph.session.context.groups import cuts_group, last_whole, whole_cuts
from stello_graph.session.context.patches import patch, patch_of
from stello_graph.session.context.transcript import Transcript, transcript_of

from .spec import call, conversation, drafts, result, says, stored, turns, user

LONG = "字" * 100


def running(before: list[Draft], turn: list[Draft], *, stored_rounds: bool = True) -> Transcript:
    """A transcript and a turn that runs: its user message, and what came of it so far."""
    asked, *came = turn
    first = len(before) + 2
    written = stored(*came, first=first) if stored_rounds else came
    return patch(transcript_of(conversation(*before), asked.content), map(patch_of, written))


@given(st.lists(drafts, max_size=12))
def test_whole_cuts_are_those_that_cut_no_group(items: list[Draft]) -> None:
    messages = stored(*items)
    wanted = [n for n in range(len(messages) + 1) if n == 0 or not cuts_group(messages, messages[n - 1].seq)]
    assert whole_cuts(messages) == wanted
    assert all(last_whole(messages, messages[n - 1].seq) == messages[n - 1].seq for n in wanted if n)


def test_half_of_the_room_is_left_free() -> None:
    messages = running([user(LONG), says(LONG)] * 4, [user("and?")])
    cost = costs_from(messages)[0]
    cut = place_to_cut(messages, room=cost - 1, most=cost)
    assert 0 < cut < 8
    assert costs_from(messages)[cut] <= cost // 2 + costs_from(messages)[8]
    assert costs_from(messages)[cut - 1] > cost // 2


def test_the_running_turn_stays_while_it_fits() -> None:
    turn = [user("find it"), says("", call("1")), result("1", LONG)]
    messages = running([user(LONG), says(LONG)], turn)
    tail = costs_from(messages)[2]
    assert place_to_cut(messages, room=tail, most=tail + 50) == 2
    assert through_of(messages, 2) == 2


def test_the_oldest_of_a_turn_go_where_it_alone_is_too_much() -> None:
    rounds = [m for n in range(6) for m in (says("", call(f"c{n}")), result(f"c{n}", LONG))]
    messages = running([], [user("find it"), *rounds])
    cut = place_to_cut(messages, room=500, most=600)
    assert cut > 1
    assert messages[cut].tool_calls, "a group is cut by nothing"
    assert costs_from(messages)[cut] <= 250
    assert through_of(messages, cut) == cut, "the user's message counts, its seq is told by what follows"


def test_the_users_long_words_may_go_alone() -> None:
    messages = running([], [user(LONG * 9), says("", call("1")), result("1", LONG)])
    assert place_to_cut(messages, room=500, most=600) == 1
    assert through_of(messages, 1) == 1


def test_the_newest_group_stays_whatever_it_takes() -> None:
    messages = running([user("q"), says("a")], [user("find it"), says("", call("1")), result("1", LONG * 9)])
    assert place_to_cut(messages, room=500, most=600) == 3
    assert place_to_cut(messages, room=500, most=2_000) == 2, "where nothing helps, the question stays"


def test_what_is_not_stored_is_not_summarised() -> None:
    rounds = [m for n in range(3) for m in (says("", call(f"c{n}")), result(f"c{n}", LONG))]
    messages = running([user("q"), says("a")], [user("find it"), *rounds], stored_rounds=False)
    assert place_to_cut(messages, room=50, most=60) == 2


histories = st.lists(turns(), max_size=4)


@given(histories, turns(), st.booleans(), st.integers(0, 200), st.integers(0, 40))
def test_cuts_are_legal(
    history: list[list[Draft]], turn: list[Draft], is_stored: bool, room: int, more: int
) -> None:
    """A cut lies between whole groups, and something of the running turn is always left."""
    before = [message for each in history for message in each]
    messages = running(before, turn[:-1], stored_rounds=is_stored)
    cut = place_to_cut(messages, room, room + more)
    assert cut in whole_cuts(messages)
    assert cut < len(messages)
    if cut:
        assert through_of(messages, cut) == cut


@given(histories, turns(), st.integers(-10, 300))
def test_what_is_left_over_is_the_newest(history: list[list[Draft]], turn: list[Draft], budget: int) -> None:
    """Whole groups from the end, the user's input among them, within the budget where that is possible."""
    before = [message for each in history for message in each]
    messages = running(before, turn[:-1])
    kept = newest_within(messages, budget)
    asked = messages[len(before)]
    assert asked in kept
    rest = tuple(message for message in kept if message is not asked)
    assert rest == messages[len(messages) - len(rest) :] or kept == messages[len(messages) - len(kept) :]
    if costs_from(kept)[0] > budget:
        newest = max((cut for cut in whole_cuts(messages) if cut < len(messages)), default=0)
        assert len(kept) <= len(messages) - newest + 1

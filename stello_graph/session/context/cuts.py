"""Where a transcript is cut in two: what is older is summarised, the newest part is replayed."""

from collections.abc import Sequence
from itertools import accumulate

from stello_graph.model.context import ContextMessage, ContextOrigin
from stello_graph.session.context.groups import whole_cuts
from stello_graph.session.context.tokens import estimate
from stello_graph.session.context.transcript import Transcript

__all__ = ["costs_from", "newest_within", "place_to_cut", "through_of"]


def place_to_cut(messages: Transcript, room: int, most: int) -> int:
    """How many of `messages` to summarise: the older ones, whole tool groups, each of them stored.

    What is left takes about half of the room at most, so that the next messages do not cut again at
    once. The user's input and what the running turn did stay, unless they alone are too much: then the
    oldest of the turn go too, with the user's message first, and its newest tool group stays.

    Args:
        messages: without the standing summary.
        room: the tokens that a context may take which is not to be compressed.
        most: the tokens that the window has at all.
    """
    costs, cuts = costs_from(messages), _stored_cuts(messages)
    turn = _turn(messages)
    before = max((cut for cut in cuts if cut <= turn), default=0)
    if costs[turn] <= room:
        budget = costs[turn] + (room - costs[turn]) // 2
        return next((cut for cut in cuts if cut <= turn and costs[cut] <= budget), before)
    inside = [cut for cut in cuts if turn < cut < len(messages)]
    if not inside:
        return before
    cut = next((cut for cut in inside if costs[cut] <= room // 2), inside[-1])
    return cut if costs[cut] <= room or costs[before] > most else before


def newest_within(messages: Transcript, budget: int) -> Transcript:
    """The newest messages that take at most `budget` tokens, whole tool groups and always the user's input.

    Where not even the user's input and the newest tool group fit, just these.
    """
    costs, cuts, turn = costs_from(messages), whole_cuts(messages), _turn(messages)
    for cut in cuts:
        if cut <= turn and costs[cut] <= budget:
            return messages[cut:]
    asked = tuple(m for m in messages[turn : turn + 1] if m.origin is ContextOrigin.USER_INPUT)
    inside = [cut for cut in cuts if turn + len(asked) <= cut < len(messages)]
    left = budget - estimate(asked)
    cut = next((cut for cut in inside if costs[cut] <= left), inside[-1] if inside else len(messages))
    return (*asked, *messages[cut:])


def through_of(messages: Transcript, cut: int) -> int:
    """The seq of the last of the first `cut` messages; that of the user's input is told by the next one."""
    last = messages[cut - 1].seq
    if last is not None:
        return last
    following = messages[cut].seq
    if following is None:
        raise ValueError("what is not stored cannot be summarised")
    return following - 1


def costs_from(messages: Sequence[ContextMessage]) -> list[int]:
    """By place, the tokens of all messages from there on; one place more than there are messages."""
    return [*accumulate((estimate((message,)) for message in reversed(messages)), initial=0)][::-1]


def _turn(messages: Transcript) -> int:
    """Where the running turn begins: with the user's input, or where that was summarised at the start."""
    inputs = (index for index, m in enumerate(messages) if m.origin is ContextOrigin.USER_INPUT)
    return next(inputs, 0)


def _stored_cuts(messages: Transcript) -> list[int]:
    """The cuts that no tool group lies across, and before which everything is stored."""
    stored = len(messages)
    for index, message in enumerate(messages):
        if message.seq is None and not _told_by_next(messages, index):
            stored = index
            break
    return [cut for cut in whole_cuts(messages) if cut <= stored]


def _told_by_next(messages: Transcript, index: int) -> bool:
    return (
        messages[index].origin is ContextOrigin.USER_INPUT
        and index + 1 < len(messages)
        and messages[index + 1].seq is not None
    )

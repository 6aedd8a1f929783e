"""The numbers of a turn's events follow from what is stored, whatever was seen before."""

from hypothesis import given
from hypothesis import strategies as st

from stello_graph.forest.endings import closed
from stello_graph.forest.turn_events import after, replay
from stello_graph.model.message import Message, MessageRole, MessageState, ToolCall
from stello_graph.model.turn import (
    MessageStored,
    TextDelta,
    Turn,
    TurnEnded,
    TurnEvent,
    TurnStarted,
    TurnStatus,
)

TEXT = st.text(max_size=12)


def message(seq: int, role: MessageRole, content: str) -> Message:
    return Message(id=f"m{seq}", role=role, content=content, seq=seq, session_id="s", created_at=seq)


def turn(status: TurnStatus, partial: str = "") -> Turn:
    return Turn(
        id="t",
        session_id="s",
        status=status,
        first_seq=1,
        last_seq=2,
        fence=1,
        number=1,
        partial=partial,
        started_at=0,
    )


def told(events: list[TurnEvent], seq: int) -> list[TurnEvent]:
    return list(after(events, seq, set()))


def text(events: list[TurnEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def test_a_turn_without_tools() -> None:
    """Started, the user's message, the text, the reply's message, ended; one each, one a code point."""
    written = [message(1, MessageRole.USER, "q"), message(2, MessageRole.ASSISTANT, "好🙂a")]
    events = replay(turn(TurnStatus.COMPLETED), written).events
    assert [(type(event), event.seq) for event in events] == [
        (TurnStarted, 1),
        (MessageStored, 2),
        (TextDelta, 5),
        (MessageStored, 6),
        (TurnEnded, 7),
    ]


@given(reply=TEXT, seen=st.integers(0, 40))
def test_whatever_was_seen_the_rest_is_told_once(reply: str, seen: int) -> None:
    """After any number the rest of the text comes, and what was stored is told in any case."""
    written = [message(1, MessageRole.USER, "q"), message(2, MessageRole.ASSISTANT, reply)]
    rest = told(replay(turn(TurnStatus.COMPLETED), written).events, seen)
    assert text(rest) == reply[max(0, seen - 2) :]
    assert [event.message.id for event in rest if isinstance(event, MessageStored)] == ["m1", "m2"]
    assert isinstance(rest[-1], TurnEnded)


@given(partial=TEXT, more=TEXT, seen=st.integers(0, 40))
def test_a_follower_of_a_growing_turn_hears_everything_once(partial: str, more: str, seen: int) -> None:
    """Polling what is stored while it grows tells each character once."""
    user = message(1, MessageRole.USER, "q")
    heard, seq, known = "", seen, set[str]()
    states = [
        replay(turn(TurnStatus.RUNNING, ""), [user]).events,
        replay(turn(TurnStatus.RUNNING, partial), [user]).events,
        replay(turn(TurnStatus.COMPLETED), [user, message(2, MessageRole.ASSISTANT, partial + more)]).events,
    ]
    ids = []
    for events in states:
        for event in after(events, seq, known):
            seq = max(seq, event.seq)
            if isinstance(event, TextDelta):
                heard += event.text
            if isinstance(event, MessageStored):
                known.add(event.message.id)
                ids.append(event.message.id)
    assert heard == (partial + more)[max(0, seen - 2) :]
    assert ids.count("m2") == 1
    assert ids.count("m1") == 1


def test_of_a_running_turn_only_what_is_new() -> None:
    """What was seen of a running turn is not told again."""
    events = replay(turn(TurnStatus.RUNNING, "abc"), [message(1, MessageRole.USER, "q")]).events
    assert told(events, 5) == []
    assert text(told(events, 4)) == "c"


def test_what_a_late_renewal_left_is_not_told_again() -> None:
    """Once a reply is stored, the stored text of its round is no text of the next one."""
    written = [message(1, MessageRole.USER, "q"), message(2, MessageRole.ASSISTANT, "hello")]
    running = turn(TurnStatus.RUNNING, "hel")
    assert text(replay(running, written).events) == "hello"
    later = running.model_copy(update={"partial_round": 1})
    assert text(replay(later, written).events) == "hellohel"


def test_a_dead_turn_keeps_no_reply_twice() -> None:
    """Where a late renewal left the text of a reply whose results are stored, its end adds nothing."""
    calls = (ToolCall(id="c", name="look", arguments={}),)
    reply = message(2, MessageRole.ASSISTANT, "hello").model_copy(update={"tool_calls": calls})
    result = message(3, MessageRole.TOOL, "seen").model_copy(update={"tool_call_id": "c"})
    written = [message(1, MessageRole.USER, "q"), reply, result]
    died = turn(TurnStatus.RUNNING, "hel").model_copy(update={"last_seq": 3, "tool_rounds": 1})
    assert closed(died, written).messages == ()
    (kept,) = closed(died.model_copy(update={"partial_round": 1}), written).messages
    assert (kept.content, kept.state) == ("hel", MessageState.TRUNCATED)

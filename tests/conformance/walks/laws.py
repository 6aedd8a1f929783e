"""What is true of a session's transcript and turns after every step."""

from collections.abc import Sequence

from stello_graph.model.context import ModelRequest
from stello_graph.model.message import Message, MessageRole
from stello_graph.model.turn import StopReason, TextDelta, Turn, TurnEnded, TurnEvent, TurnStatus
from stello_graph.model.values import Usage
from stello_graph.ports import SpaceStore
from stello_graph.service import SpaceService
from tests.conformance.walks.model import Brain

__all__ = ["check_heard", "check_session", "spelled", "transcript"]

Spelled = list[tuple[int, str, str]]


async def transcript(store: SpaceStore, session_id: str) -> list[Message]:
    """All of a session's messages."""
    page = await store.oldest_messages([session_id], after=0, before=100_000, first=1_000, roles=None)
    return page[session_id]


async def check_session(space: SpaceService, session_id: str, turn_ids: Sequence[str], brain: Brain) -> None:
    """Fails with what does not hold."""
    compiled = await space.preview(session_id, "What is next?")
    brain.check(
        ModelRequest(
            model="model-a", messages=compiled.messages, tools=compiled.tools, max_output_tokens=1_000
        )
    )
    assert not brain.complaints, brain.complaints
    # Turns are read before messages: what is stored between the two can only be more.
    found = await space.store.turns(list(turn_ids))
    session = (await space.store.sessions([session_id]))[session_id]
    messages = await transcript(space.store, session_id)
    first = messages[0].seq if messages else 0
    assert [message.seq for message in messages] == list(range(first, first + len(messages)))
    turns = sorted(found.values(), key=lambda turn: turn.number)
    assert sum(turn.is_open for turn in turns) <= 1
    assert session.turn_count >= sum(turn.status is TurnStatus.COMPLETED for turn in turns)
    for turn in turns:
        _check_turn(turn, [message for message in messages if message.turn_id == turn.id])
    _check_insights(turns)
    spent = sum((turn.usage for turn in turns if not turn.is_open), Usage())
    for name in Usage.model_fields:
        assert getattr(session.usage, name) >= getattr(spent, name), f"{name} of {session_id}"


def _check_turn(turn: Turn, messages: list[Message]) -> None:
    assert turn.error is None or not turn.error.message.startswith("an error of the server"), turn.error
    if turn.is_open:
        assert turn.pending_tool_calls or turn.status is TurnStatus.RUNNING
        return
    assert not turn.pending_tool_calls
    assert turn.stop_reason is not None
    assert turn.ended_at is not None
    assert (turn.error is not None) == (turn.status is TurnStatus.FAILED)
    _check_groups(messages)
    told = [message.usage for message in messages if message.usage is not None]
    spent = sum(told, Usage())
    assert turn.usage.llm_calls >= spent.llm_calls
    assert turn.usage.output_tokens >= spent.output_tokens


def _check_groups(messages: Sequence[Message]) -> None:
    """Each call is answered once, directly after its message and in its order; ids are used once."""
    waiting: list[str] = []
    used: list[str] = []
    for message in messages:
        if message.role is MessageRole.TOOL and not used:
            continue  # the head of the turn was trimmed
        if message.role is MessageRole.TOOL:
            assert waiting, f"a result of no call: {message}"
            assert message.tool_call_id == waiting.pop(0)
            continue
        assert not waiting, f"{waiting} have no results"
        waiting = [call.id for call in message.tool_calls]
        used += waiting
    assert not waiting, f"{waiting} have no results"
    assert len(set(used)) == len(used), f"ids that repeat: {used}"


def _check_insights(turns: Sequence[Turn]) -> None:
    """What a completed turn was told, no later one is told."""
    consumed: set[str] = set()
    for turn in turns:
        if turn.insight is not None:
            assert turn.insight not in consumed, f"{turn.insight} was told twice"
            if turn.status is TurnStatus.COMPLETED:
                consumed.add(turn.insight)


def spelled(events: Sequence[TurnEvent]) -> Spelled:
    """Events as number, kind and what tells them apart; each character of text by itself."""
    found: Spelled = []
    for event in events:
        if isinstance(event, TextDelta):
            first = event.seq - len(event.text) + 1
            found += [(first + at, "TextDelta", letter) for at, letter in enumerate(event.text)]
        else:
            found.append((event.seq, type(event).__name__, _name(event)))
    return found


def _name(event: TurnEvent) -> str:
    for path in ("message", "tool_call", "turn"):
        if (inner := getattr(event, path, None)) is not None:
            return str(inner.id)
    return str(getattr(event, "tool_call_id", ""))


def check_heard(heard: Sequence[TurnEvent], stored: Sequence[TurnEvent]) -> None:
    """A follower heard what is stored, in its order. After a crash it may have heard text that is not."""
    told, kept = spelled(heard), spelled(stored)
    last = stored[-1]
    assert isinstance(last, TurnEnded)
    assert told[-1][1:] == kept[-1][1:], "the end comes last"
    if last.turn.stop_reason is StopReason.INTERRUPTED:
        names = [(kind, name) for _, kind, name in told if kind == "MessageStored"]
        assert names == [(kind, name) for _, kind, name in kept if kind == "MessageStored"]
        return
    numbers = [seq for seq, _, _ in told]
    assert numbers == sorted(set(numbers)), f"numbers grow: {told}"
    assert told == kept, f"heard {told}, stored {kept}"

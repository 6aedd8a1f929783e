"""What a turn that was cut off still has to store, so that its transcript is legal."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from stello_graph.model.message import Draft, MessageRole, MessageState, ToolCall
from stello_graph.session.context.pairing import answers
from stello_graph.session.context.text import is_blank

__all__ = ["cancelled_results", "closing_messages"]


def closing_messages(
    messages: Sequence[Draft],
    partial: str,
    reason: str,
    *,
    new_id: Callable[[], str],
    turn_id: str | None = None,
    model: str | None = None,
    results: Mapping[str, Draft] = MappingProxyType({}),
) -> tuple[Draft, ...]:
    """The messages that end a cancelled, crashed or failed turn legally.

    Where calls wait for results, each gets one: its own where it came, else one that says why it has none.
    Else, where a reply was being
    written, what there is of it is kept as TRUNCATED. Never both: no reply is written while calls wait,
    and after the reply is stored `partial` is only what a late renewal left behind.

    Args:
        messages: what the turn has stored so far.
        partial: the reply as far as it was heard.
        reason: why, as the end of the sentence "Cancelled: …".
        results: by call, those that are not stored yet.
    """
    answered = answers(messages)
    waiting = [
        call
        for index, message in enumerate(messages)
        for number, call in enumerate(message.tool_calls)
        if (index, number) not in answered
    ]
    if waiting:
        missing = [call for call in waiting if call.id not in results]
        cancelled = cancelled_results(missing, reason, new_id=new_id, turn_id=turn_id)
        known = {**results, **{str(draft.tool_call_id): draft for draft in cancelled}}
        return tuple(known[call.id] for call in waiting)
    if is_blank(partial) or (messages and messages[-1].role is MessageRole.ASSISTANT):
        return ()
    return (
        Draft(
            id=new_id(),
            role=MessageRole.ASSISTANT,
            content=partial,
            state=MessageState.TRUNCATED,
            model=model,
            turn_id=turn_id,
        ),
    )


def cancelled_results(
    calls: Iterable[ToolCall], reason: str, *, new_id: Callable[[], str], turn_id: str | None = None
) -> tuple[Draft, ...]:
    """One result for each of `calls`, in their order, that says why there is none."""
    return tuple(
        Draft(
            id=new_id(),
            role=MessageRole.TOOL,
            content=f"Cancelled: {reason}",
            state=MessageState.CANCELLED,
            tool_call_id=call.id,
            tool_name=call.name,
            is_error=True,
            turn_id=turn_id,
        )
        for call in calls
    )

"""A fork's context as an application chooses it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from stello_graph.errors import InvalidInput
from stello_graph.forest.sessions import append_drafts
from stello_graph.model.message import Draft, Message
from stello_graph.model.requests import AppendedMessage
from stello_graph.session.context.pairing import answers, is_result
from stello_graph.session.own import run_own

__all__ = ["Select", "selected"]

Chosen: TypeAlias = Sequence[Message | AppendedMessage]
Select: TypeAlias = Callable[[Sequence[Message]], Chosen | Awaitable[Chosen]]
"""From the source's messages, oldest first, to those that the fork starts with: some of them, or others."""


async def selected(select: Select, messages: Sequence[Message], limit: int) -> tuple[Draft, ...]:
    """What a fork starts with, as copies of its own. Of a tool group that is not whole nothing is taken.

    Args:
        limit: bytes of a message at most.

    Raises:
        InternalError: the application's function failed.
        InvalidInput: it gave what cannot be a message.
    """
    given = await run_own("select", Sequence, select, messages)
    if not all(isinstance(one, Message | AppendedMessage) for one in given):
        raise InvalidInput("the select function gives messages: those that it got, or AppendedMessage")
    chosen = [AppendedMessage.model_validate(one.model_dump()) for one in given]
    whole = _whole(chosen)
    return tuple(append_drafts(whole, limit)) if whole else ()


def _whole(messages: Sequence[AppendedMessage]) -> list[AppendedMessage]:
    """The messages without groups that lack a result and results of no call; results follow their calls."""
    found = answers(messages)
    kept: list[AppendedMessage] = []
    for index, message in enumerate(messages):
        if is_result(message):
            continue
        places = [found.get((index, number)) for number in range(len(message.tool_calls))]
        if None not in places:
            kept += [message, *(messages[place] for place in places if place is not None)]
    return kept

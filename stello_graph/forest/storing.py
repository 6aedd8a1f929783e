"""Writes of a running turn, where the store may be away or refuse them."""

import asyncio
import dataclasses
import functools
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from stello_graph.errors import ErrorCode, StoreUnavailable
from stello_graph.forest import endings
from stello_graph.forest.live import LiveTurn
from stello_graph.model.message import Message
from stello_graph.model.turn import Turn, TurnError
from stello_graph.model.writes import TurnEnd

__all__ = ["store_end", "unknown_error", "until_stored"]

logger = logging.getLogger(__name__)

T = TypeVar("T")


async def until_stored(
    live: LiveTurn, write: Callable[[], Awaitable[T]], *, patience: float, pause: float
) -> T:
    """Writes. A store that is away is asked again until the lease is surely lost.

    Raises:
        StoreUnavailable: it stayed away for `patience` seconds.
    """
    now = asyncio.get_running_loop().time
    deadline = now() + patience
    while True:
        try:
            return await write()
        except StoreUnavailable as error:
            logger.warning("turn %s could not be stored: %s", live.turn.id, error.message)
            if live.lost or now() > deadline:
                raise
        await asyncio.sleep(pause)


async def store_end(
    live: LiveTurn, end: TurnEnd, *, patience: float, pause: float
) -> tuple[Turn, list[Message]] | None:
    """Stores how a turn ends.

    Where the store refuses that, the turn fails at once, without what could not be stored.

    Returns:
        None where somebody else took the turn over, or no end could be stored: then its lease runs out.
    """
    bare = dataclasses.replace(live.progress, text="", results={})
    for one in (end, endings.failed(bare, unknown_error(live.turn))):
        try:
            write = functools.partial(live.store.end_turn, one)
            return await until_stored(live, write, patience=patience, pause=pause)
        except StoreUnavailable as error:
            logger.error("the end of turn %s could not be stored: %s", live.turn.id, error.message)
            return None
        except Exception:
            logger.exception("the end of turn %s could not be stored", live.turn.id)
    return None


def unknown_error(turn: Turn) -> TurnError:
    """What is told of an error of our own."""
    message = f"an error of the server; its log names turn {turn.id}"
    return TurnError(code=ErrorCode.INTERNAL, message=message, retryable=False)

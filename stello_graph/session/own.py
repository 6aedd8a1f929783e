"""An application's own function, run in place of a default one, and how long it may take."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, ParamSpec, TypeVar, cast

from stello_graph.errors import InternalError, StelloError
from stello_graph.session.threads import in_thread

__all__ = ["limited", "run_own"]

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


async def run_own(
    what: str, kind: type, function: Callable[P, T | Awaitable[T]], *args: P.args, **kwargs: P.kwargs
) -> T:
    """What an application's function gives, be it async or not.

    Args:
        what: its name in errors.
        kind: what it has to give.

    Raises:
        StelloError: as the function raised it.
        InternalError: it raised anything else, which the log has, or gave something else.
    """
    try:
        given: Any = await _called(function, *args, **kwargs)
    except StelloError:
        raise
    except Exception as error:
        logger.exception("the application's %s function failed", what)
        raise InternalError(f"the application's {what} function failed; the server's log has more") from error
    if not isinstance(given, kind):
        raise InternalError(
            f"the application's {what} function gave {type(given).__name__}, not {kind.__name__}"
        )
    return cast(T, given)


def limited(
    what: str,
    function: Callable[P, T | Awaitable[T]],
    seconds: float,
    strays: set[asyncio.Task[Any]],
) -> Callable[P, Awaitable[T]]:
    """The function as one whose callers wait so long for it at most, then or once cancelled not at all.

    It is told to stop, if it is async; a thread is left alone.

    Args:
        what: its name in errors.
        strays: where tasks are kept of functions that were told to stop, until they have.

    Returns:
        A function that raises InternalError where it takes too long or cancels itself, and what it raises.
    """

    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        running = asyncio.create_task(_called(function, *args, **kwargs))
        try:
            await asyncio.wait({running}, timeout=seconds)
        finally:
            if not running.done():
                _leave(running, strays)
        if not running.done():
            raise InternalError(f"the application's {what} function did not answer within {seconds:g} s")
        if running.cancelled():
            raise InternalError(f"the application's {what} function was cancelled")
        return running.result()

    return run


async def _called(function: Callable[P, T | Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004
    ):
        given: Any = function(*args, **kwargs)
    else:
        given = await in_thread(function, *args, **kwargs)
    return cast(T, await given if inspect.isawaitable(given) else given)


def _leave(running: asyncio.Task[Any], strays: set[asyncio.Task[Any]]) -> None:
    running.cancel()
    strays.add(running)
    running.add_done_callback(strays.discard)
    running.add_done_callback(_forget)


def _forget(ended: asyncio.Task[Any]) -> None:
    """Takes what it raised: nobody waits for that any more."""
    if not ended.cancelled():
        ended.exception()

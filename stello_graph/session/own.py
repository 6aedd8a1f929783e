"""An application's own function, run in place of a default one."""

import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, ParamSpec, TypeVar, cast

from stello_graph.errors import InternalError, StelloError
from stello_graph.session.threads import in_thread

__all__ = ["run_own"]

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
        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004
        ):
            given: Any = function(*args, **kwargs)
        else:
            given = await in_thread(function, *args, **kwargs)
        given = await given if inspect.isawaitable(given) else given
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

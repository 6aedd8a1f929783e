"""An application's own functions, in place of the default ones."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from stello_graph.errors import InternalError, StelloError
from stello_graph.model.memory import Integrated
from stello_graph.model.session import SessionDigest
from stello_graph.session.memory import Consolidate
from stello_graph.session.summaries import Compress

__all__ = ["Functions", "Integrate", "run_own"]

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


class Integrate(Protocol):
    """How an application integrates by itself; it reads what its own consolidate function wrote."""

    def __call__(
        self, synthesis: str | None, digests: Sequence[SessionDigest]
    ) -> Integrated | Awaitable[Integrated]:
        """The next synthesis, and insights for sessions, from all digests of a tree.

        A function that is not async runs in a thread.

        Args:
            synthesis: the one so far.
            digests: of the active sessions below MAIN, the newest changed first.
        """
        ...


@dataclass(frozen=True, slots=True)
class Functions:
    """An application's own functions; None takes the default, which asks the model."""

    consolidate: Consolidate | None = None
    integrate: Integrate | None = None
    compress: Compress | None = None


async def run_own(what: str, function: Callable[P, T | Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """What an application's function gives, be it async or not.

    Raises:
        StelloError: as the function raised it.
        InternalError: it raised anything else; the log has it.
    """
    try:
        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004
        ):
            given: Any = function(*args, **kwargs)
        else:
            given = await asyncio.to_thread(function, *args, **kwargs)
        return cast(T, await given if inspect.isawaitable(given) else given)
    except StelloError:
        raise
    except Exception as error:
        logger.exception("the application's %s function failed", what)
        raise InternalError(f"the application's {what} function failed; the server's log has more") from error

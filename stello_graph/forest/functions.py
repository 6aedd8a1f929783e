"""An application's own functions, in place of the default ones."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, Self

from stello_graph.model.memory import Integrated
from stello_graph.model.session import SessionDigest
from stello_graph.session.memory import Consolidate
from stello_graph.session.summaries import Compress

__all__ = ["Functions", "Integrate"]


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

    def limited(self, limit: Callable[[str, Any], Any]) -> Self:
        """The same, each function by what `limit` makes of its name and of it."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{name: limit(name, one) for name, one in own.items() if one is not None})

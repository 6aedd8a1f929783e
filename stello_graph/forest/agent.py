"""What the turns and tasks of a Space work with."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from stello_graph.forest.functions import Functions
from stello_graph.forest.tools.toolbox import Toolbox
from stello_graph.ports import LLM

__all__ = ["Agent"]


@dataclass(frozen=True, slots=True)
class Agent:
    """The model client, the tools and the application's own functions of one Space.

    Attributes:
        revision: of the Space's settings that it was built from, None where it does not depend on them.
        close: frees what was built for this Space alone.
    """

    llm: LLM
    toolbox: Toolbox
    functions: Functions
    revision: int | None = None
    close: Callable[[], Awaitable[object]] | None = None

    async def aclose(self) -> None:
        """Frees what was built for it, and nothing else."""
        if self.close is not None:
            await self.close()

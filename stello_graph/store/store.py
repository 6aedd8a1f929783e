"""The repositories, put together over one engine."""

from collections.abc import Callable, Sequence

from stello_graph.model.memory import DueTask
from stello_graph.model.values import StoreState
from stello_graph.ports.observing import Observers
from stello_graph.store.copies import CopyRepository
from stello_graph.store.engine import Engine
from stello_graph.store.events import NEWEST, OLD, EventRepository
from stello_graph.store.imports import ImportRepository
from stello_graph.store.keys import KeyRepository
from stello_graph.store.knowledge import KnowledgeRepository
from stello_graph.store.memory import DigestRepository, MemoryRepository
from stello_graph.store.messages import MessageRepository
from stello_graph.store.observed import ObservedEngine
from stello_graph.store.profiles import ProfilesRepository
from stello_graph.store.queries import named
from stello_graph.store.search import SearchRepository, index_backlog
from stello_graph.store.sessions import SessionsRepository
from stello_graph.store.sharing import SharingEngine
from stello_graph.store.spaces import SpacesRepository
from stello_graph.store.tasks import RingingEngine, TaskRepository
from stello_graph.store.topology import TopologyRepository
from stello_graph.store.turns import TurnRepository

__all__ = ["GraphStore", "SessionRepository", "SpaceRepository"]

EXPIRED = named("turns/expired")
DUE = named("tasks/due")


class SessionRepository(MessageRepository, TurnRepository, MemoryRepository):
    """A SessionStore over one engine."""


class SpaceRepository(
    SessionRepository,
    SessionsRepository,
    TopologyRepository,
    EventRepository,
    DigestRepository,
    TaskRepository,
    ImportRepository,
    CopyRepository,
    KnowledgeRepository,
    ProfilesRepository,
    SearchRepository,
):
    """A SpaceStore over one engine."""


class GraphStore(SpacesRepository, KeyRepository):
    """A Store over one engine."""

    def __init__(self, engine: Engine, observers: Observers | None = None) -> None:
        """`observers` are told of each query."""
        watched = engine if observers is None else ObservedEngine(engine, observers)
        ringing = RingingEngine(SharingEngine(watched))
        self._engine, self._rings, self._wakes = ringing, ringing.rings, ringing.wakes

    def in_space(self, space_id: str) -> SpaceRepository:
        """See Store."""
        return SpaceRepository(self._engine, space_id)

    async def expired_turns(self, first: int) -> list[tuple[str, str]]:
        """See Store."""
        found = await self._engine.read(EXPIRED, first=first)
        return [(row["spaceId"], row["id"]) for row in found]

    async def due_tasks(self, first: int) -> list[DueTask]:
        """See Store."""
        return [DueTask.model_validate(row) for row in await self._engine.read(DUE, first=first)]

    async def index_backlog(self, first: int) -> int:
        """See Store."""
        return await index_backlog(self._engine, first)

    def on_due(self, ring: Callable[[], None]) -> None:
        """See Store."""
        self._rings.append(ring)

    async def newest_events(self, space_ids: Sequence[str]) -> dict[str, int]:
        """See Store."""
        found = await self._engine.read(NEWEST, spaces=list(space_ids))
        return {row["spaceId"]: row["newest"] for row in found}

    async def old_events(self, age: float, *, after: str, first: int, limit: int) -> list[tuple[str, int]]:
        """See Store."""
        found = await self._engine.read(OLD, age=int(age * 1_000_000), after=after, first=first, limit=limit)
        return [(row["spaceId"], row["through"]) for row in found]

    def on_event(self, wake: Callable[[str], None]) -> None:
        """See Store."""
        self._wakes.append(wake)

    async def state(self) -> StoreState:
        """See Store."""
        return await self._engine.state()

    async def ping(self) -> str:
        """See Store."""
        return await self._engine.ping()

    async def migrate(self) -> list[str]:
        """See Store."""
        return await self._engine.migrate()

    async def pending_migrations(self) -> list[str]:
        """See Store."""
        return await self._engine.pending_migrations()

    async def aclose(self) -> None:
        """See Store."""
        await self._engine.aclose()

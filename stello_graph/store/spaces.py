"""The Spaces themselves: made, listed, deleted."""

from stello_graph.errors import Conflict, NotFound
from stello_graph.ids import new_id
from stello_graph.model.space import Space, SpaceConfig
from stello_graph.store import rows
from stello_graph.store.engine import Engine, Row
from stello_graph.store.queries import named

__all__ = ["SpacesRepository"]

CREATE = named("spaces/create")
LIST = named("spaces/list")
DELETE = named("spaces/delete")
DELETED = named("spaces/deleted")
SWEEP = named("spaces/sweep")

# Of each kind, in one transaction: what a graph database holds in memory meanwhile.
_BATCH = 1_000


class SpacesRepository:
    """See SpacesStore."""

    _engine: Engine

    async def ensure_space(self, space_id: str, name: str) -> Space:
        """See SpacesStore."""
        return rows.space(await self._made(space_id, name))

    async def create_space(self, space_id: str, name: str) -> Space:
        """See SpacesStore."""
        row = await self._made(space_id, name)
        if row["outcome"] == "TAKEN":
            raise Conflict(f'there is a space "{space_id}" already')
        return rows.space(row)

    async def spaces(self, *, after: str, first: int) -> list[Space]:
        """See SpacesStore."""
        return [rows.space(row) for row in await self._engine.read(LIST, after=after, first=first)]

    async def delete_space(self, space_id: str, expected_count: int) -> None:
        """See SpacesStore."""
        found = await self._engine.write(DELETE, id=space_id, op=new_id(), expectedCount=expected_count)
        if not found:
            raise NotFound.of("space", space_id)
        if found[0]["outcome"] == "COUNT":
            count = found[0]["count"]
            raise Conflict(f"{count} sessions would go, not {expected_count}", count=count)

    async def deleted_spaces(self, *, first: int) -> list[str]:
        """See SpacesStore."""
        return [row["id"] for row in await self._engine.read(DELETED, first=first)]

    async def sweep_space(self, space_id: str, *, delay: float) -> bool:
        """See SpacesStore."""
        found = await self._engine.write(
            SWEEP, id=space_id, op=new_id(), delay=int(delay * 1_000_000), limit=_BATCH
        )
        return not found or found[0]["outcome"] != "WAIT"

    async def _made(self, space_id: str, name: str) -> Row:
        config = SpaceConfig()
        found = await self._engine.write(
            CREATE, id=space_id, op=new_id(), name=name, config=rows.to_json(config), **rows.triggers(config)
        )
        if found[0]["outcome"] == "DELETED":
            raise Conflict(f'the space "{space_id}" is still being deleted; try again in a moment')
        return found[0]

"""The events of the map."""

import orjson

from stello_graph.errors import NotFound
from stello_graph.ids import new_id
from stello_graph.model.topology import EventPage, TopologyEvent
from stello_graph.store.engine import Row
from stello_graph.store.queries import named
from stello_graph.store.repository import Repository

__all__ = ["NEWEST", "OLD", "EventRepository"]

PAGE = named("events/page")
PRUNE = named("events/prune")
NEWEST = named("events/newest")
OLD = named("events/old")


class EventRepository(Repository):
    """See EventStore."""

    async def events(self, after: int, first: int) -> EventPage:
        """See EventStore."""
        found = await self._engine.read(PAGE, space=self._space_id, after=after, first=first)
        if not found:
            raise NotFound.of("space", self._space_id)
        # An index may show an event some moments after the Space's number does.
        events = enumerate(found[0]["events"], after + 1)
        whole = [row for place, row in events if row["seq"] == place and row["data"]]
        return EventPage(newest=found[0]["newest"], events=tuple(map(_event, whole)))

    async def prune_events(self, through: int) -> None:
        """See EventStore."""
        await self._engine.write(PRUNE, space=self._space_id, op=new_id(), through=through)


def _event(row: Row) -> TopologyEvent:
    beside = {name: row[name] for name in ("messageCount", "firstSeq") if row.get(name) is not None}
    return TopologyEvent.model_validate(row | {"data": orjson.loads(row["data"]) | beside})

"""A client of the map: it has a snapshot and applies events to it, as a front-end does."""

from typing import Any

from stello_graph.model.topology import StarMap, TopologyEvent, TopologyEventType
from stello_graph.ports import SpaceStore

__all__ = ["Map", "fresh", "snapshot"]

Stars = dict[str, dict[str, Any]]
COLUMNS = ("parent", "label", "status", "role", "depth", "index", "childCount", "turnCount")


class Map:
    """The stars by id and the refs, brought up to date event by event. Applying one twice changes nothing."""

    def __init__(self, space: SpaceStore, found: StarMap) -> None:
        self._space = space
        self.seq = found.event_seq
        self.stars, self.refs = _stars(found)

    async def apply(self, event: TopologyEvent) -> None:
        """Takes over one change; the node is read anew, as by the event's `node`."""
        assert event.seq == self.seq + 1
        self.seq = event.seq
        match event.type:
            case TopologyEventType.SESSION_DELETED:
                gone = set(event.data["ids"])
                self.stars = {id: star for id, star in self.stars.items() if id not in gone}
                self.refs = {ref for ref in self.refs if not gone & set(ref)}
                await self._look(event.data["parentId"])
            case TopologyEventType.REF_ADDED:
                self.refs.add((event.node_id, event.data["toId"]))
            case TopologyEventType.REF_REMOVED:
                self.refs.discard((event.node_id, event.data["toId"]))
            case _:
                await self._look(event.node_id)
                await self._look(self.stars.get(event.node_id, {}).get("parent"))

    async def _look(self, id: str | None) -> None:
        node = None if id is None else (await self._space.nodes([id])).get(id)
        if id is None or node is None:
            return
        self.stars[id] = {
            "parent": node.parent_id,
            "label": node.label,
            "status": 0 if node.status == "ACTIVE" else 1,
            "role": 0 if node.role == "STANDARD" else 1,
            "depth": node.depth,
            "index": node.index,
            "childCount": node.child_count,
            "turnCount": node.turn_count,
        }


async def fresh(space: SpaceStore) -> tuple[Stars, set[tuple[str, str]]]:
    """The map as it is stored now."""
    return _stars(await snapshot(space))


async def snapshot(space: SpaceStore) -> StarMap:
    """The whole map."""
    return await space.star_map(None, max_depth=None, max_nodes=100_000, include_archived=True)


def _stars(found: StarMap) -> tuple[Stars, set[tuple[str, str]]]:
    ids = found.columns["id"]
    stars = {id: {name: found.columns[name][place] for name in COLUMNS} for place, id in enumerate(ids)}
    for star in stars.values():
        star["parent"] = None if star["parent"] < 0 else ids[star["parent"]]
    return stars, {(ids[a], ids[b]) for a, b in found.columns["refs"]}

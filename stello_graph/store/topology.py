"""The map."""

from collections.abc import Sequence
from itertools import repeat
from typing import Any

from stello_graph.errors import InvalidInput, NotFound, SessionArchived
from stello_graph.model.parts import Only
from stello_graph.model.topology import ChildrenPage, NodeWithAncestors, StarMap, TopologyNode
from stello_graph.store import rows
from stello_graph.store.engine import Row
from stello_graph.store.queries import Query, named
from stello_graph.store.repository import Repository

__all__ = ["TopologyRepository"]

NODES = named("topology/nodes")
WITH_ANCESTORS = named("topology/with_ancestors")
CHILDREN = named("topology/children")
CHILDREN_NESTED = named("topology/children_nested")
ANCESTORS = named("topology/ancestors")
SIBLINGS = named("topology/siblings")
REFS = named("topology/refs")
REFERENCED_BY = named("topology/referenced_by")
ADD_REF = named("topology/add_ref")
REMOVE_REF = named("topology/remove_ref")
STAR_MAP = named("topology/star_map")
STAR_MAP_BELOW = named("topology/star_map_below")

_DEEPEST = 2**31 - 1
_REFUSED = {
    "SELF": "a node cannot refer to itself",
    "ANCESTOR": "a node cannot refer to an ancestor of its own",
    "DESCENDANT": "a node cannot refer to a descendant of its own",
}


class TopologyRepository(Repository):
    """See SpaceStore."""

    async def nodes(self, ids: Sequence[str]) -> dict[str, TopologyNode]:
        """See SpaceStore."""
        found = await self._engine.read(NODES, keys=[self._key(id) for id in ids])
        return {node.id: node for node in rows.nodes(found)}

    async def nodes_with_ancestors(self, ids: Sequence[str]) -> dict[str, NodeWithAncestors]:
        """See SpaceStore."""
        found = await self._engine.read(WITH_ANCESTORS, keys=[self._key(id) for id in ids])
        return {node.id: node for node in rows.nodes_with_ancestors(found)}

    async def children(
        self,
        parent_ids: Sequence[str | None],
        *,
        after: int,
        first: int,
        only: Only | None = None,
        below: ChildrenPage | None = None,
    ) -> dict[str | None, list[TopologyNode] | None]:
        """See SpaceStore."""
        page = ChildrenPage(after, first, only, below)
        found = await self._engine.read(
            CHILDREN if below is None else CHILDREN_NESTED,
            space=self._space_id,
            keys=[self._space_id if id is None else self._key(id) for id in parent_ids],
            **_levels(page),
        )
        return {
            self._id(row["key"]) or None: rows.nested_nodes(row["children"], page) if row["found"] else None
            for row in found
        }

    async def ancestors(
        self, ids: Sequence[str], *, only: Only | None = None
    ) -> dict[str, list[TopologyNode]]:
        """See SpaceStore."""
        return await self._lists(ANCESTORS, "ancestors", ids, only)

    async def siblings(
        self, ids: Sequence[str], *, after: int, first: int, only: Only | None = None
    ) -> dict[str, list[TopologyNode]]:
        """See SpaceStore."""
        return await self._lists(SIBLINGS, "siblings", ids, only, after=after, first=first)

    async def refs(
        self, ids: Sequence[str], *, first: int, offset: int, only: Only | None = None
    ) -> dict[str, list[TopologyNode]]:
        """See SpaceStore."""
        return await self._lists(REFS, "nodes", ids, only, first=first, offset=offset)

    async def referenced_by(
        self, ids: Sequence[str], *, first: int, offset: int, only: Only | None = None
    ) -> dict[str, list[TopologyNode]]:
        """See SpaceStore."""
        return await self._lists(REFERENCED_BY, "nodes", ids, only, first=first, offset=offset)

    async def add_ref(self, from_id: str, to_id: str, *, of_archived: bool = False) -> TopologyNode:
        """See SpaceStore."""
        return await self._link(ADD_REF, from_id, to_id, ofArchived=of_archived)

    async def remove_ref(self, from_id: str, to_id: str) -> TopologyNode:
        """See SpaceStore."""
        return await self._link(REMOVE_REF, from_id, to_id)

    async def star_map(
        self, root_id: str | None, *, max_depth: int | None, max_nodes: int, include_archived: bool
    ) -> StarMap:
        """See SpaceStore."""
        common = {
            "space": self._space_id,
            "maxDepth": _DEEPEST if max_depth is None else max_depth,
            "limit": max_nodes + 1,
            "includeArchived": include_archived,
        }
        if root_id is None:
            found = await self._engine.read(STAR_MAP, **common)
        else:
            found = await self._engine.read(STAR_MAP_BELOW, root=self._key(root_id), **common)
        if not found:
            raise NotFound.of(*(("space", self._space_id) if root_id is None else ("session", root_id)))
        return _star_map(root_id, found[0], max_nodes)

    async def _lists(
        self, query: Query, field: str, ids: Sequence[str], only: Only | None, **params: Any
    ) -> dict[str, list[TopologyNode]]:
        columns = rows.columns_of(TopologyNode, only)
        found = await self._engine.read(query, keys=[self._key(id) for id in ids], columns=columns, **params)
        return {self._id(row["key"]): rows.listed_nodes(row[field], only) for row in found}

    async def _link(self, query: Query, from_id: str, to_id: str, **params: Any) -> TopologyNode:
        found = await self._engine.write(
            query,
            **self._event(),
            fromKey=self._key(from_id),
            fromId=from_id,
            toKey=self._key(to_id),
            data=rows.to_json({"toId": to_id}),
            **params,
        )
        if not found:
            raise NotFound.of("session", from_id)
        outcome = found[0]["outcome"]
        if outcome == "NO_TARGET":
            raise NotFound.of("session", to_id)
        if outcome == "ARCHIVED":
            raise SessionArchived.of(from_id)
        if outcome in _REFUSED:
            raise InvalidInput(_REFUSED[outcome])
        return rows.node(found[0])


def _levels(page: ChildrenPage) -> dict[str, Any]:
    """The parameters of `CHILDREN`, or of `CHILDREN_NESTED`, which has three levels."""
    if page.below is None:
        return _level("", page)
    third = page.below.below or ChildrenPage(0, 0, ("id",))
    return _level("", page) | _level("2", page.below) | _level("3", third)


def _level(number: str, page: ChildrenPage) -> dict[str, Any]:
    columns = rows.columns_of(TopologyNode, page.only)
    return {f"after{number}": page.after, f"first{number}": page.first, f"columns{number}": columns}


def _star_map(root_id: str | None, row: Row, max_nodes: int) -> StarMap:
    ids, depths = row["ids"], row["depths"]
    count = _whole_levels(depths, max_nodes)
    place = dict(zip(ids[:count], range(count), strict=True))
    kept = {
        "id": ids,
        "parent": list(map(place.get, row["parentIds"], repeat(-1))),
        "source": list(map(place.get, row["sourceIds"], repeat(-1))),
        "label": row["labels"],
        "status": row["statuses"],
        "role": row["roles"],
        "depth": depths,
        "index": row["indexes"],
        "childCount": row["childCounts"],
        "turnCount": row["turnCounts"],
        "lastActiveAt": row["lastActiveAts"],
    }
    columns = {name: values[:count] for name, values in kept.items()}
    columns["refs"] = [[place[a], place[b]] for a, b in row["refs"] if a in place and b in place]
    return StarMap(
        root_id=root_id,
        node_count=count,
        truncated=len(ids) > max_nodes,
        event_seq=row["eventSeq"],
        columns=columns,
    )


def _whole_levels(depths: list[int], max_nodes: int) -> int:
    """How many nodes to keep: whole levels, of the first level at least what fits."""
    if len(depths) <= max_nodes:
        return len(depths)
    cut = depths[max_nodes]
    first = next(position for position, depth in enumerate(depths) if depth == cut)
    return first or max_nodes

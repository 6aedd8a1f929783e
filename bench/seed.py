"""The forest into the database, and back to how it was after writes."""

from collections.abc import Iterator, Sequence
from typing import Any

from neo4j import AsyncDriver

from bench.forest import STARTED, Forest
from bench.statements import run
from stello_graph.bootstrap import open_engine
from stello_graph.settings import Settings
from stello_graph.store.store import GraphStore

__all__ = ["Seed", "open_space"]

_BATCH = 1_000


async def open_space(settings: Settings, space: str) -> None:
    """Today's schema, and the Space."""
    store = GraphStore(open_engine(settings))
    try:
        await store.migrate()
        await store.ensure_space(space, "Benchmark")
    finally:
        await store.aclose()


class Seed:
    """One Space of the benchmark's own."""

    def __init__(self, driver: AsyncDriver, settings: Settings, space: str) -> None:
        self._driver = driver
        self._settings = settings
        self._space = space

    async def plant(self, forest: Forest) -> None:
        """Schema, Space, nodes, sessions, messages."""
        await open_space(self._settings, self._space)
        rows = list(self._node_rows(forest))
        await self._batches("nodes", rows)
        await self._batches("parents", [row for row in rows if row["parentId"] is not None])
        await self._run("roots", rows=[row for row in rows if row["parentId"] is None], count=len(rows))
        await self._batches(
            "refs",
            [
                {"from": self._key(a), "to": self._key(b), "seq": seq, "at": STARTED}
                for seq, (a, b) in enumerate(forest.refs)
            ],
        )
        said = [
            {
                "key": self._key(said.id),
                "id": said.id,
                "seq": said.seq,
                "role": said.role,
                "content": said.content,
                "at": STARTED + said.seq,
            }
            for said in forest.said()
        ]
        await self._batches("messages", said, key=self._key("long"))

    async def reset(self) -> tuple[int, int, int]:
        """Undoes writes; answers how many turns were completed, messages said and forks made."""
        turns, forks = await self._run("reset_turns"), await self._run("reset_forks")
        await self._run("reset_events")
        return turns["completed"], turns["said"], forks["forked"]

    async def drop(self) -> None:
        """Removes the Space."""
        await self._run("drop")

    def _node_rows(self, forest: Forest) -> Iterator[dict[str, Any]]:
        for number, node in enumerate(forest.nodes.values(), 1):
            yield {
                "key": self._key(node.id),
                "id": node.id,
                "parentId": node.parent_id,
                "parentKey": self._space if node.parent_id is None else self._key(node.parent_id),
                "rootId": node.root_id,
                "label": node.label,
                "memory": node.memory,
                "depth": node.depth,
                "index": node.index,
                "childCount": node.child_count,
                "turnCount": node.turn_count,
                "eventSeq": number,
                "at": STARTED,
            }

    async def _batches(self, name: str, rows: Sequence[dict[str, Any]], **params: Any) -> None:
        for start in range(0, len(rows), _BATCH):
            await self._run(name, rows=rows[start : start + _BATCH], **params)

    async def _run(self, name: str, **params: Any) -> Any:
        database = self._settings.neo4j_database
        return await run(self._driver, database, f"seed/{name}", space=self._space, **params)

    def _key(self, id: str) -> str:
        return f"{self._space}/{id}"

"""What the store has of the sessions that a file names."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from stello_graph.interchange.jsonl.order import Placed
from stello_graph.interchange.jsonl.scan import Entry
from stello_graph.ports import SpaceStore

__all__ = ["above", "existing", "named_outside", "pages"]

_PAGE: Final = 500


def named_outside(sessions: Mapping[str, Entry]) -> Iterator[str]:
    """Parents and ends of links that the file does not tell of."""
    for entry in sessions.values():
        for id in (entry.parent_id, *(ref.to_id for ref in entry.refs)):
            if id is not None and id not in sessions:
                yield id


async def existing(store: SpaceStore, ids: Iterable[str]) -> set[str]:
    """Those of the sessions that are there."""
    found: set[str] = set()
    for page in pages(dict.fromkeys(ids)):
        found |= (await store.nodes(page)).keys()
    return found


def pages(ids: Iterable[str]) -> Iterator[list[str]]:
    """As many at a time as a query may be asked for."""
    given = list(ids)
    return (given[start : start + _PAGE] for start in range(0, len(given), _PAGE))


async def above(
    store: SpaceStore, sessions: Mapping[str, Entry], order: Sequence[Placed], there: Collection[str]
) -> dict[str, set[str]]:
    """Of each session with links that is to come below one that is there, all that are there above it."""
    nearest: dict[str, str] = {}
    for one in order:
        id, parent_id = one.entry.id, one.parent_id
        if id not in there and parent_id is not None and (parent_id in there or parent_id in nearest):
            nearest[id] = parent_id if parent_id in there else nearest[parent_id]
    linked = {id for entry in sessions.values() for ref in entry.refs for id in (entry.id, ref.to_id)}
    found: dict[str, set[str]] = {}
    for page in pages({nearest[id] for id in linked & nearest.keys()}):
        for id, nodes in (await store.ancestors(page)).items():
            found[id] = {id, *(node.id for node in nodes)}
    return {id: found.get(nearest[id], set()) for id in linked & nearest.keys()}

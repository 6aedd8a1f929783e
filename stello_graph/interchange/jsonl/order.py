"""In which order sessions are stored: parents first, siblings by their places."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stello_graph.interchange.jsonl.scan import Entry
from stello_graph.interchange.plan import Repaired

__all__ = ["CIRCLE", "NO_PARENT", "Placed", "placed", "spans"]

NO_PARENT: Final = "its parent is not there: it is a root now"
CIRCLE: Final = "its parents go in a circle: it is a root now"

# The API tells a place in 31 bits, and each import comes after what the one before it asked for.
_MOST: Final = 2**24


@dataclass(frozen=True, slots=True)
class Placed:
    """A session with the parent and the place that it gets."""

    entry: Entry
    parent_id: str | None
    depth: int
    index: int


def placed(sessions: Mapping[str, Entry], outside: Collection[str]) -> tuple[list[Placed], list[Repaired]]:
    """All sessions in order, each after its parent.

    Args:
        outside: parents that are not in the file and exist.
    """
    repaired: list[Repaired] = []
    parents: dict[str, str | None] = {}
    for entry in sessions.values():
        parents[entry.id] = entry.parent_id
        if entry.parent_id is not None and entry.parent_id not in sessions and entry.parent_id not in outside:
            parents[entry.id] = None
            repaired.append(_repaired(entry, NO_PARENT))
    depths = dict.fromkeys(outside, -1)
    for entry in sessions.values():
        _measure(entry.id, sessions, parents, depths, repaired)
    order = sorted(
        sessions.values(),
        key=lambda entry: (depths[entry.id], parents[entry.id] or "", entry.index, entry.line),
    )
    return list(_with_places(order, parents, depths)), repaired


def spans(order: Sequence[Placed]) -> dict[str, tuple[int, int]]:
    """By session, numbers between which those of all sessions below it are."""
    children: dict[str | None, list[str]] = defaultdict(list)
    for one in order:
        children[one.parent_id].append(one.entry.id)
    entered: dict[str, int] = {}
    found: dict[str, tuple[int, int]] = {}
    here = {one.entry.id for one in order}
    waiting = [one.entry.id for one in order if one.parent_id not in here]
    while waiting:
        id = waiting[-1]
        if id in entered:
            found[waiting.pop()] = entered[id], len(entered)
        else:
            entered[id] = len(entered)
            waiting += children.get(id, ())
    return found


def _measure(
    id: str,
    sessions: Mapping[str, Entry],
    parents: dict[str, str | None],
    depths: dict[str, int],
    repaired: list[Repaired],
) -> None:
    """Notes the depth of a session and of those above it; a circle is cut where it closes."""
    path: list[str] = []
    on_path: set[str] = set()
    at: str | None = id
    while at is not None and at not in depths:
        if at in on_path:
            parents[path[-1]] = None
            repaired.append(_repaired(sessions[path[-1]], CIRCLE))
            break
        path.append(at)
        on_path.add(at)
        at = parents[at]
    for one in reversed(path):
        parent = parents[one]
        depths[one] = 0 if parent is None else depths[parent] + 1


def _with_places(
    order: list[Entry], parents: Mapping[str, str | None], depths: Mapping[str, int]
) -> list[Placed]:
    """Siblings get the places that they ask for, as far as these are places, and differ."""
    found: list[Placed] = []
    free: dict[str | None, int] = {}
    for entry in order:
        parent_id = parents[entry.id]
        least = free.get(parent_id, 0)
        index = entry.index if least <= entry.index < _MOST else least
        free[parent_id] = index + 1
        found.append(Placed(entry, parent_id, depths[entry.id], index))
    return found


def _repaired(entry: Entry, why: str) -> Repaired:
    return Repaired(where=f"line {entry.line}, session {entry.id}", why=why)

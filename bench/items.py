"""What is measured: the request, what it must answer, and how fast it has to be.

Every contestant's answer is brought into one form, rows of the fields that all of them give, and
compared with what the forest says.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from bench.forest import STARTED, Forest, fork_source, turn_session

Contestant = Literal["ours", "raw-tx", "raw-best", "endpoint", "peer"]
Rows = list[tuple[Any, ...]]

_STAR = ("id", "label", "status", "childCount", "turnCount")
_SAID = ("id", "seq", "role", "content", "createdAt")
_PLACE = ("id", "label", "depth", "index", "childCount", "turnCount", "lastActiveAt")
_FIELDS = " ".join(_STAR)


@dataclass(frozen=True, kw_only=True)
class Item:
    """One line of the budget.

    Attributes:
        at_least: our throughput as a share of that of `against`.
        statements: what it may cost in statements.
        variables: of the request with a running number.
        params: of the raw statements; `space` and the keys are added to them.
        rows: the rows in our data.
        raw_rows: the rows in what a raw contestant got.
        expected: what `rows` and `raw_rows` must give. Writes are counted in the database as well.
    """

    title: str
    at_least: float
    against: Contestant
    statements: int
    document: str
    variables: Callable[[int], dict[str, Any]]
    id: str = ""
    rows: Callable[[Any], Rows]
    raw_rows: Callable[[Any], Rows] = list
    expected: Callable[[Forest], Rows]
    writes: bool = False

    @property
    def contestants(self) -> tuple[Contestant, ...]:
        return ("ours", "raw-tx") if self.writes else ("ours", "raw-tx", "raw-best", "endpoint")


def _rows(items: Iterable[Any], fields: Iterable[str]) -> Rows:
    names = tuple(fields)
    return [tuple(item[name] for name in names) for item in items]


def _flat(items: Iterable[Any]) -> Iterator[Any]:
    for item in items:
        yield item
        yield from _flat(item.get("children", ()))


def _nested(items: Iterable[Any]) -> Rows:
    return sorted(_rows(_flat(items), _STAR))


def _stars(forest: Forest, deepest: int) -> Rows:
    below = forest.below("tree", deepest=deepest)
    return [(n.id, n.label, "ACTIVE", n.child_count, n.turn_count) for n in below]


def _memory(items: Iterable[Any]) -> Rows:
    return _rows(items, ("id", "label", "status", "memory"))


def _oldest_first(items: list[Any]) -> Rows:
    return _rows(sorted(items, key=lambda item: item["seq"]), _SAID[:-1])


def _newest(forest: Forest) -> Rows:
    return [(said.id, said.seq, said.role, said.content) for said in forest.said()[-50:]]


def _our_columns(columns: Any) -> Rows:
    return sorted(zip(*(columns[name] for name in _PLACE), strict=True))


def _raw_columns(found: Any) -> Rows:
    """Of columns, or of a record a node."""
    columns = found if isinstance(found, dict) else {name: [row[name] for row in found] for name in _PLACE}
    *places, actives = (columns[name] for name in _PLACE)
    return sorted(zip(*places, (at // 1_000 for at in actives), strict=True))


def _places(forest: Forest) -> Rows:
    return sorted(
        (n.id, n.label, n.depth, n.index, n.child_count, n.turn_count, STARTED // 1_000)
        for n in forest.nodes.values()
    )


ITEMS = {
    "a": Item(
        title="getChildren, 8 rows",
        at_least=0.5,
        against="raw-best",
        statements=1,
        document=f"query($id: ID!) {{ getChildren(parentId: $id) {{ {_FIELDS} }} }}",
        variables=lambda _: {"id": "tree"},
        id="tree",
        rows=lambda data: _rows(data["getChildren"], _STAR),
        raw_rows=lambda found: _rows(found, _STAR),
        expected=lambda forest: _stars(forest, 1),
    ),
    "b": Item(
        title="children nested 3 levels, 584 rows",
        at_least=0.6,
        against="raw-best",
        statements=3,
        document=f"query($id: ID!) {{ getChildren(parentId: $id, first: 8) {{ {_FIELDS} "
        f"children(first: 8) {{ {_FIELDS} children(first: 8) {{ {_FIELDS} }} }} }} }}",
        variables=lambda _: {"id": "tree"},
        id="tree",
        rows=lambda data: _nested(data["getChildren"]),
        raw_rows=_nested,
        expected=lambda forest: sorted(_stars(forest, 3)),
    ),
    "c": Item(
        title="500 digests",
        at_least=0.5,
        against="raw-best",
        statements=1,
        document="{ digests(first: 500) { nodes { id label status memory updatedAt } eventSeq } }",
        variables=lambda _: {},
        rows=lambda data: _memory(data["digests"]["nodes"]),
        raw_rows=_memory,
        expected=lambda forest: [(n.id, n.label, "ACTIVE", n.memory) for n in forest.below("hub", deepest=1)],
    ),
    "d": Item(
        title="newest 50 of a long session",
        at_least=0.6,
        against="raw-best",
        statements=1,
        document="query($id: ID!) { session(id: $id) { messages(last: 50) { "
        f"nodes {{ {' '.join(_SAID)} }} pageInfo {{ hasPreviousPage }} }} }} }}",
        variables=lambda _: {"id": "long"},
        id="long",
        rows=lambda data: _rows(data["session"]["messages"]["nodes"], _SAID[:-1]),
        raw_rows=_oldest_first,
        expected=_newest,
    ),
    "e": Item(
        title="starMap of all nodes",
        at_least=0.8,
        against="raw-best",
        statements=1,
        document="{ starMap { nodeCount eventSeq columns } }",
        variables=lambda _: {},
        rows=lambda data: _our_columns(data["starMap"]["columns"]),
        raw_rows=_raw_columns,
        expected=_places,
    ),
    "f": Item(
        title="a turn: begin and end",
        at_least=0.75,
        against="raw-tx",
        statements=2,
        document="mutation($id: ID!) { send(input: {sessionId: $id, content: "
        '"What was the first star called?"}) { id status } }',
        variables=lambda number: {"id": turn_session(number)},
        rows=lambda data: [(data["send"]["status"],)],
        expected=lambda _: [("COMPLETED",)],
        writes=True,
    ),
    "g": Item(
        title="fork without context",
        at_least=0.9,
        against="raw-tx",
        statements=2,
        document='mutation($id: ID!) { fork(input: {sourceSessionId: $id, label: "Fork"}) { id label } }',
        variables=lambda number: {"id": fork_source(number)},
        rows=lambda data: [(data["fork"]["label"],)],
        expected=lambda _: [("Fork",)],
        writes=True,
    ),
    "h": Item(
        title="ancestors at depth 5",
        at_least=0.5,
        against="raw-best",
        statements=1,
        document="query($id: ID!) { topologyNode(id: $id) { ancestors { id label } } }",
        variables=lambda _: {"id": "line-5"},
        id="line-5",
        rows=lambda data: _rows(data["topologyNode"]["ancestors"], ("id", "label")),
        raw_rows=lambda found: _rows(found, ("id", "label")),
        expected=lambda forest: [(n.id, n.label) for n in forest.ancestors("line-5")],
    ),
}

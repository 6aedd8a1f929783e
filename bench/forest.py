"""The graph that is measured: what stands in it, and so what the answers must be."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

DIGESTS = 500
TURN_SESSIONS = 256
FORK_SOURCES = 32
SMALLEST = 2_000
STARTED = 1_750_000_000_000_000

_FAN_OUT = 6
_REFS = 200
_WORDS = "the stars that were named first are seldom the ones that shine through the longest night "


@dataclass(slots=True)
class Node:
    id: str
    parent_id: str | None
    root_id: str
    depth: int
    index: int
    label: str
    memory: str | None = None
    child_count: int = 0

    @property
    def turn_count(self) -> int:
        return self.index % 7


@dataclass(slots=True)
class Said:
    id: str
    seq: int
    content: str

    @property
    def role(self) -> str:
        return "USER" if self.seq % 2 else "ASSISTANT"


@dataclass
class Forest:
    """Trees for each item, filled up with one wide tree to the wanted number of nodes.

    Ids of digests come first in the order of keys: a page of 500 holds them and nothing else.
    """

    size: int
    messages: int
    nodes: dict[str, Node] = field(default_factory=dict)
    refs: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.size < SMALLEST:
            raise ValueError(f"the forest has {SMALLEST} nodes at least")
        self._roots = 0
        for root in ("hub", "tree", "line-0", "long", "turns", "forks", "map"):
            self._add(root, None)
        for number in range(DIGESTS):
            self._add(f"digest-{number:03}", "hub", f"Digest {number}: {_text(300)}")
        for depth in (1, 2, 3):
            for path in product("01234567", repeat=depth):
                self._add("-".join(("tree", *path)), "-".join(("tree", *path[:-1])))
        for depth in range(1, 6):
            self._add(f"line-{depth}", f"line-{depth - 1}")
        for number in range(TURN_SESSIONS):
            self._add(turn_session(number), "turns")
        for number in range(FORK_SOURCES):
            self._add(fork_source(number), "forks")
        self._fill()

    def below(self, root_id: str, *, deepest: int) -> list[Node]:
        """A tree without its root, level by level."""
        found = (node for node in self.nodes.values() if node.root_id == root_id)
        return [node for node in found if 0 < node.depth <= deepest]

    def ancestors(self, id: str) -> list[Node]:
        parent_id = self.nodes[id].parent_id
        return [] if parent_id is None else [*self.ancestors(parent_id), self.nodes[parent_id]]

    def said(self) -> list[Said]:
        """The messages of the session `long`."""
        return list(said(self.messages))

    def _add(self, id: str, parent_id: str | None, memory: str | None = None) -> None:
        label = id.replace("-", " ").title()
        if parent_id is None:
            self.nodes[id] = Node(id, None, id, 0, self._roots, label)
            self._roots += 1
            return
        parent = self.nodes[parent_id]
        self.nodes[id] = Node(
            id, parent_id, parent.root_id, parent.depth + 1, parent.child_count, label, memory
        )
        parent.child_count += 1

    def _fill(self) -> None:
        wide = ["map"]
        while len(self.nodes) < self.size:
            wide.append(f"map-{len(wide):06}")
            self._add(wide[-1], wide[(len(wide) - 2) // _FAN_OUT])
        leaves = wide[-2 * _REFS :]
        self.refs = list(zip(leaves[::2], leaves[1::2], strict=False))


def turn_session(number: int) -> str:
    return f"turn-{number % TURN_SESSIONS:03}"


def fork_source(number: int) -> str:
    return f"fork-{number % FORK_SOURCES:02}"


def said(count: int, prefix: str = "said") -> Iterator[Said]:
    """The messages of one session."""
    for seq in range(1, count + 1):
        yield Said(f"{prefix}-{seq:06}", seq, f"Message {seq}: {_text(200)}")


def _text(length: int) -> str:
    return (_WORDS * (length // len(_WORDS) + 1))[:length]

"""One conversation on its way from a file to a plan, whatever the product."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import orjson

from stello_graph.interchange.branches import MessageTree, Step, latest_leaf
from stello_graph.interchange.conversations import CHARACTERS, NO_MESSAGE, Found, Malformed
from stello_graph.interchange.names import derived, name_of
from stello_graph.interchange.nodes import Node
from stello_graph.interchange.plan import ImportedConversation, Repaired, Skipped
from stello_graph.interchange.text import MAX_METADATA, Cleaner, Unfit, label_of

__all__ = ["LARGE", "UNFIT", "About", "Reading", "StepsOfNodes", "current_step"]

UNFIT = "its metadata is nested too deeply: it is left out"
LARGE = "its metadata is larger than a session's may be: it is left out"

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class About:
    """What a file says of a conversation beside its messages.

    Attributes:
        id: None makes one of how it begins.
        current: the key of the message where the current path ends, None where the file has none.
        created_at, updated_at: UTC microseconds, None where the file does not say.
    """

    id: str | None
    title: Any = None
    current: Any = None
    created_at: int | None = None
    updated_at: int | None = None
    archived: bool = False
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] | None = None


class StepsOfNodes(Protocol):
    """The steps of a conversation, and where its nodes are in them."""

    @property
    def steps(self) -> list[Step]:
        """In their order."""

    def is_visible(self, node: Node) -> bool:
        """Whether `node` itself is in a step."""

    def step_of(self, node: Node) -> Step | None:
        """The step where the path to `node` ends, which is before it where it is hidden."""


class Reading(ABC, Generic[P]):
    """A conversation being read. A format says what a message is, and makes steps of them.

    Attributes:
        format: ids begin with it.
        label: of a conversation without a title.
        lost_current: what to tell where the current path leads nowhere.
        nothing: what a message is that cannot be imported.
        hidden: how many messages are left out because they are hidden or empty; a format counts them.
    """

    format: ClassVar[str]
    label: ClassVar[str]
    lost_current: ClassVar[str]
    nothing: P

    def __init__(self, about: About, nodes: list[Node], where: str) -> None:
        self.about = about
        self.nodes = nodes
        self.cleaner = Cleaner()
        self.hidden = 0
        self._where = where
        self._skipped: list[Skipped] = []
        self._repaired: list[Repaired] = []

    @abstractmethod
    def piece(self, node: Node) -> P:
        """What the message of `node` says. Raises Malformed."""

    @abstractmethod
    def beginning(self, pieces: Mapping[Node, P]) -> str:
        """An id made of how the conversation begins, which stays when it grows: see `begin_of`."""

    @abstractmethod
    def steps(self, id: str, pieces: Mapping[Node, P]) -> StepsOfNodes:
        """The steps of the conversation `id`."""

    def read(self) -> Iterator[Found]:
        """The conversation, or what was wrong with it."""
        pieces = {node: self._piece(node) for node in self.nodes}
        id = derived(self.format, name_of(self.about.id or self.beginning(pieces)))
        tree = self.steps(id, pieces)
        if not tree.steps:
            yield from self._skipped
            yield Skipped(where=self._where, why=NO_MESSAGE)
            return
        current, is_lost = current_step(self.nodes, tree, self.about.current)
        if is_lost:
            self._repair(self._where, self.lost_current)
        for node in self.nodes:
            if node.remark:
                self._repair(self._at(node), node.remark)
        messages = self._tree(id, tree.steps, current)
        if self.cleaner.replaced:
            self._repair(self._where, CHARACTERS)
        yield ImportedConversation(
            id=id,
            where=self._where,
            tree=messages,
            skipped=tuple(self._skipped),
            repaired=tuple(self._repaired),
            hidden=self.hidden,
        )

    def _piece(self, node: Node) -> P:
        try:
            return self.piece(node)
        except Malformed as error:
            self._skipped.append(Skipped(where=self._at(node), why=str(error)))
            return self.nothing

    def _tree(self, id: str, steps: Sequence[Step], current: Step) -> MessageTree:
        about = self.about
        return MessageTree(
            id=id,
            label=label_of(about.title, self.label),
            steps=tuple(steps),
            current=current,
            created_at=about.created_at,
            updated_at=about.updated_at,
            archived=about.archived,
            tags=about.tags,
            metadata=self._metadata(),
        )

    def _metadata(self) -> dict[str, Any] | None:
        """Below the name of the format."""
        if not self.about.metadata:
            return None
        try:
            metadata: dict[str, Any] = self.cleaner.value({self.format: self.about.metadata})
        except Unfit:
            self._repair(self._where, UNFIT)
            return None
        if len(orjson.dumps(metadata)) > MAX_METADATA:
            self._repair(self._where, LARGE)
            return None
        return metadata

    def _at(self, node: Node) -> str:
        return f"{self._where}, message {label_of(node.key[:60])}"

    def _repair(self, where: str, why: str) -> None:
        self._repaired.append(Repaired(where=where, why=why))


def current_step(nodes: Sequence[Node], tree: StepsOfNodes, key: Any) -> tuple[Step, bool]:
    """Where the current path ends: at the node `key`; where that cannot be seen, at the latest leaf below
    it, else below what can be seen before it; where it leads nowhere, at the latest leaf.

    Returns:
        The step, and whether `key` was given and leads nowhere.
    """
    attached = [step for step in tree.steps if not step.detached] or tree.steps
    node = next((node for node in nodes if node.key == key), None)
    if node and not (node.detached and attached is not tree.steps):
        if tree.is_visible(node):
            return tree.step_of(node) or latest_leaf(attached), False
        if leaf := _latest_leaf_below(node, tree):
            return leaf, False
    return latest_leaf(attached), bool(key)


def _latest_leaf_below(node: Node, tree: StepsOfNodes) -> Step | None:
    """The latest leaf after `node`, which is hidden; where none comes, after the step before it."""
    before = tree.step_of(node)
    inside = {tree.step_of(each) for each in node.below()} - {before} or {before}
    for step in tree.steps:
        if step.parent and step.parent in inside:
            inside.add(step)
    found = [step for step in tree.steps if step in inside]
    return latest_leaf(found) if found else None

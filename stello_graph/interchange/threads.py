"""A conversation whose every message stands for itself, made a tree of steps: one step a message."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from stello_graph.interchange.branches import Step
from stello_graph.interchange.conversations import begin_of
from stello_graph.interchange.names import derived, name_of
from stello_graph.interchange.nodes import Node, tree_of
from stello_graph.interchange.reading import About, Reading
from stello_graph.interchange.utterances import Call, Utterance

__all__ = ["LOST_CURRENT", "Link", "Thread"]

LOST_CURRENT = "its current message cannot be shown: the latest branch is taken for the current one"


@dataclass(frozen=True, slots=True)
class Link:
    """A message of the file, and where it hangs.

    Attributes:
        parent: the key of the message before; the truth, where the file has that one.
        children: keys of messages after it, which count where those do not name a parent.
        created_at: UTC microseconds.
    """

    message: Any
    parent: str | None
    children: tuple[str, ...] = ()
    created_at: int | None = None


class Thread(Reading[Utterance | None]):
    """A conversation of such messages."""

    lost_current: ClassVar[str] = LOST_CURRENT
    nothing = None

    def __init__(
        self, about: About, links: Mapping[str, Link], understand: Callable[[Any], Utterance], where: str
    ) -> None:
        """
        Args:
            understand: makes an utterance of a message, or raises Malformed.
        """
        super().__init__(about, _nodes(links), where)
        self._understand = understand

    def piece(self, node: Node) -> Utterance | None:
        """See Reading."""
        utterance = self._understand(node.message).cleaned(self.cleaner)
        if utterance.is_empty:
            self.hidden += 1
            return None
        return utterance

    def beginning(self, pieces: Mapping[Node, Utterance | None]) -> str:
        """See Reading."""
        for node, utterance in pieces.items():
            if utterance:
                words = (each.tool if isinstance(each, Call) else each.text for each in utterance.pieces)
                return begin_of(node.name, *words)
        return begin_of()

    def steps(self, id: str, pieces: Mapping[Node, Utterance | None]) -> "_Steps":
        """See Reading."""
        return _Steps(self.format, id, self.nodes, pieces, self.about.created_at)


class _Steps:
    """A step for each node that says something; it hangs below the next such node above."""

    def __init__(
        self,
        format: str,
        id: str,
        nodes: Sequence[Node],
        said: Mapping[Node, Utterance | None],
        began_at: int | None,
    ) -> None:
        self.steps: list[Step] = []
        self._said = said
        self._ends: dict[Node, Step | None] = {}
        for order, node in enumerate(nodes):
            before = self._ends[node.parent] if node.parent else None
            self._ends[node] = before
            if utterance := said[node]:
                own = derived(id, node.name)
                step = Step(before, order, own, detached=node.detached)
                step.messages = utterance.drafts(
                    f"{own}:.open" if utterance.is_open else own,
                    format,
                    before.last.created_at if before else began_at,
                )
                self._ends[node] = step
                self.steps.append(step)

    def is_visible(self, node: Node) -> bool:
        return self._said[node] is not None

    def step_of(self, node: Node) -> Step | None:
        return self._ends[node]


def _nodes(links: Mapping[str, Link]) -> list[Node]:
    return tree_of(
        {
            key: Node(key, name_of(key), link.message, place, link.created_at)
            for place, (key, link) in enumerate(links.items())
        },
        {key: link.parent or None for key, link in links.items()},
        {key: link.children for key, link in links.items()},
    )

"""What the readers of all exports that are arrays of conversations share."""

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import orjson

from stello_graph.interchange.branches import Step, latest_leaf
from stello_graph.interchange.jsonstream import Broken, Source, objects
from stello_graph.interchange.nodes import Node
from stello_graph.interchange.plan import ImportedConversation, Skipped
from stello_graph.interchange.text import label_of

__all__ = [
    "CHARACTERS",
    "FAULT",
    "MAX_MESSAGE",
    "NO_MESSAGE",
    "NO_RESULT",
    "Malformed",
    "StepsOfNodes",
    "begin_of",
    "conversations",
    "current_step",
]

logger = logging.getLogger(__name__)

MAX_MESSAGE = 16 << 20

NO_RESULT = "The export holds no result of this call."
NO_MESSAGE = "it has no message that can be imported"
CHARACTERS = "characters that no store takes were replaced by U+FFFD"
FAULT = "the reader failed on it; this is a fault of stello-graph, and its log has more"

Found = ImportedConversation | Skipped


class Malformed(Exception):
    """A message cannot be imported; the text says why."""


def conversations(
    stream: Source,
    max_object: int,
    product: str,
    title_key: str,
    read: Callable[[dict[str, Any], str], Iterable[Found]],
) -> Iterator[Found]:
    """Reads an array of conversations, or one conversation. No conversation spoils another one.

    It holds one conversation at a time in memory.

    Args:
        max_object: see `jsonstream.objects`.
        read: what is found in an entry, which stands at the given place.
    """
    for number, entry in enumerate(objects(stream, max_object), 1):
        if isinstance(entry, Broken):
            yield Skipped(where=f"entry {number}", why=entry.why)
            continue
        title = label_of(entry.get(title_key))
        where = f'conversation {number} "{title[:60]}"' if title else f"conversation {number}"
        try:
            found = list(read(entry, where))
        except Exception:
            logger.exception("reading %s of a %s export failed", f"conversation {number}", product)
            found = [Skipped(where=where, why=FAULT)]
        yield from found


def begin_of(*said: str | int | None) -> str:
    """An id for a conversation that has none, made of how it begins, which stays when it grows."""
    return "begin " + hashlib.sha256(orjson.dumps(said)).hexdigest()


class StepsOfNodes(Protocol):
    """The steps of a conversation, and where its nodes are in them."""

    @property
    def steps(self) -> list[Step]:
        """In their order."""

    def is_visible(self, node: Node) -> bool:
        """Whether `node` itself is in a step."""

    def step_of(self, node: Node) -> Step | None:
        """The step where the path to `node` ends, which is before it where it is hidden."""


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

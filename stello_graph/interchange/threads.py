"""A conversation whose every message stands for itself, made a tree of steps: one step a message."""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stello_graph.interchange.branches import MessageTree, Step, latest_leaf
from stello_graph.interchange.chatgpt.nodes import node_tree
from stello_graph.interchange.conversations import CHARACTERS, FAULT, NO_MESSAGE, Malformed, begin_of
from stello_graph.interchange.jsonstream import Broken, Source, objects
from stello_graph.interchange.names import derived, name_of
from stello_graph.interchange.nodes import Node
from stello_graph.interchange.plan import ImportedConversation, Repaired, Skipped
from stello_graph.interchange.text import Cleaner, label_of
from stello_graph.interchange.utterances import Call, Utterance

__all__ = ["Link", "Thread", "read_threads"]

logger = logging.getLogger(__name__)

LOST_CURRENT = "its current message cannot be shown: the latest branch is taken for the current one"

Understand = Callable[[Any], Utterance]


@dataclass(frozen=True, slots=True)
class Link:
    """A message of the file, and where it hangs.

    Attributes:
        parent: the key of the message before; the truth, where the file has that one.
        children: keys of messages after it, which count where those do not name a parent.
        created_at: as the file has it, in seconds.
    """

    message: Any
    parent: str | None
    children: tuple[str, ...] = ()
    created_at: float | None = None


@dataclass(frozen=True, slots=True)
class Thread:
    """What a file says of a conversation.

    Attributes:
        format: with it ids begin, and blocks of `parts` have it for their type.
        id: the conversation's; None makes one of how it begins.
        current: the key of the message where the current path ends, None where the file has none.
        understand: makes an utterance of a message, or raises Malformed.
    """

    format: str
    id: str | None
    links: Mapping[str, Link]
    current: Any
    understand: Understand
    title: Any = None
    created_at: int | None = None
    updated_at: int | None = None
    archived: bool = False
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] | None = None


def read_threads(
    stream: Source,
    max_object: int,
    thread_of: Callable[[dict[str, Any]], Thread],
    *,
    product: str,
    deep: bool = False,
) -> Iterator[ImportedConversation | Skipped]:
    """Reads an array of conversations, or one. No conversation spoils another one; one is held at a time.

    Args:
        thread_of: what an object of the file says, or Malformed.
        product: its name, for people.
        max_object, deep: see `jsonstream.objects`.
    """
    for number, entry in enumerate(objects(stream, max_object, deep=deep), 1):
        where = f"conversation {number}"
        try:
            if isinstance(entry, Broken):
                found: list[ImportedConversation | Skipped] = [
                    Skipped(where=f"entry {number}", why=entry.why)
                ]
            else:
                thread = thread_of(entry)
                title = label_of(thread.title)
                where = f'{where} "{title[:60]}"' if title else where
                found = list(_Reading(thread, where).read(f"{product} conversation"))
        except Malformed as error:
            found = [Skipped(where=where, why=str(error))]
        except Exception:
            logger.exception("reading conversation %d of an export of %s failed", number, product)
            found = [Skipped(where=where, why=FAULT)]
        yield from found


class _Reading:
    def __init__(self, thread: Thread, where: str) -> None:
        self._thread = thread
        self._where = where
        self._cleaner = Cleaner()
        self._skipped: list[Skipped] = []
        self._repaired: list[Repaired] = []
        self._hidden = 0
        self._nodes = node_tree({key: _entry(key, link) for key, link in thread.links.items()})
        self._step_of: dict[Node, Step] = {}

    def read(self, default_label: str) -> Iterator[ImportedConversation | Skipped]:
        said = {node: found for node in self._nodes if (found := self._said(node))}
        thread = self._thread
        id = derived(thread.format, name_of(thread.id or _beginning(said)))
        self._make_steps(id, said)
        if not said:
            yield from self._skipped
            yield Skipped(where=self._where, why=NO_MESSAGE)
            return
        tree = MessageTree(
            id=id,
            label=label_of(thread.title, default_label),
            steps=tuple(self._step_of.values()),
            current=self._current(),
            created_at=thread.created_at,
            updated_at=thread.updated_at,
            archived=thread.archived,
            tags=thread.tags,
            metadata=self._cleaner.value(thread.metadata),
        )
        remarks = [Repaired(where=self._at(each), why=each.remark) for each in self._nodes if each.remark]
        if self._cleaner.replaced:
            remarks.append(Repaired(where=self._where, why=CHARACTERS))
        yield ImportedConversation(
            id=id,
            where=self._where,
            tree=tree,
            skipped=tuple(self._skipped),
            repaired=(*self._repaired, *remarks),
            hidden=self._hidden,
        )

    def _said(self, node: Node) -> Utterance | None:
        try:
            utterance = self._thread.understand(_link(node).message).cleaned(self._cleaner)
        except Malformed as error:
            self._skipped.append(Skipped(where=self._at(node), why=str(error)))
            return None
        if utterance.is_empty:
            self._hidden += 1
            return None
        return utterance

    def _make_steps(self, id: str, said: Mapping[Node, Utterance]) -> None:
        """A step for each node that says something; it hangs below the next such node above."""
        above: dict[Node, Step | None] = {}
        for order, node in enumerate(self._nodes):
            before = above[node.parent] if node.parent else None
            above[node] = before
            if utterance := said.get(node):
                own = derived(id, node.name)
                step = Step(before, order, own, detached=node.detached)
                time = before.last.created_at if before else self._thread.created_at
                step.messages = utterance.drafts(
                    f"{own}:.open" if utterance.is_open else own, self._thread.format, time
                )
                above[node] = self._step_of[node] = step

    def _current(self) -> Step:
        """Where the current path ends; where that says nothing, the latest leaf below it, else below what
        comes before it; where it leads nowhere, or to a beginning that is not in the file, of all.
        """
        steps = list(self._step_of.values())
        attached = [step for step in steps if not step.detached] or steps
        key = self._thread.current
        node = next((node for node in self._nodes if node.key == key), None)
        if node and node in self._step_of and self._step_of[node] in attached:
            return self._step_of[node]
        if key is not None:
            self._repaired.append(Repaired(where=self._where, why=LOST_CURRENT))
        while node and not node.detached:
            if below := [self._step_of[each] for each in node.below() if each in self._step_of]:
                return latest_leaf(below)
            if node in self._step_of:
                return self._step_of[node]
            node = node.parent
        return latest_leaf(attached)

    def _at(self, node: Node) -> str:
        return f"{self._where}, message {label_of(node.key[:60])}"


def _entry(key: str, link: Link) -> dict[str, Any]:
    message = {"id": key, "create_time": link.created_at, "link": link}
    return {"message": message, "parent": link.parent, "children": list(link.children)}


def _link(node: Node) -> Link:
    link = node.message["link"]
    assert isinstance(link, Link)
    return link


def _beginning(said: Mapping[Node, Utterance]) -> str:
    """What names a conversation without an id: how it begins, which stays when it grows."""
    for node, utterance in said.items():
        words = (piece.tool if isinstance(piece, Call) else piece.text for piece in utterance.pieces)
        return begin_of(node.name, *words)
    return begin_of()

"""Deals the messages of a conversation out to sessions, beside those that are stored already."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from stello_graph.interchange.branches import MessageTree, Step
from stello_graph.interchange.text import excerpt, label_of
from stello_graph.model.message import Draft
from stello_graph.model.values import Value

__all__ = ["MAX_SHARED", "ImportedSession", "plan_sessions"]

MAX_SHARED: Final = 300_000
"""How many messages the sessions of a conversation may share with their sources, in all: the store has a row
for each, and a small file may mean millions.
"""


class ImportedSession(Value):
    """A session to be stored.

    Times are UTC microseconds. A fork's own are those of its first and last own message; a first
    session's are the conversation's, else likewise; None where the file has none at all.

    Attributes:
        parent_id: the session that it hangs under, None for a root.
        source_id: the session that it was forked from, None for a root.
        shared_messages: how many messages it shares with its source: the source's path up to and
            including `shared_through`. 0 for a root, and for a fork that begins anew.
        shared_through: the id of the last shared message. In a source that went on or was trimmed since,
            this, and not the number, says where the fork leaves.
        messages: its own, after the shared ones; never empty. One whose id the store holds already, in
            another session, is the same message, and is to be shared.
        extends: the session is stored already, and `messages` go to its end; of the rest only
            `updated_at` has a meaning.
        is_beyond: with it the conversation would share more than `MAX_SHARED` messages: it is to be told, not
            stored.
    """

    id: str
    label: str
    parent_id: str | None = None
    source_id: str | None = None
    shared_messages: int = 0
    shared_through: str | None = None
    messages: tuple[Draft, ...]
    created_at: int | None = None
    updated_at: int | None = None
    archived: bool = False
    tags: tuple[str, ...] = ()
    metadata: Any = None
    extends: bool = False
    is_beyond: bool = False


def plan_sessions(tree: MessageTree, stored: Mapping[str, Sequence[str]]) -> tuple[ImportedSession, ...]:
    """The sessions that are to be made or extended so that every message of `tree` is stored once.

    The path to `tree.current` is one session. Each other branch is a fork of the session that owns the
    message where it leaves, and follows its first children to a leaf. Where they share too much, the current
    path and the newest branches come first, each after the one that it leaves; the others are beyond.
    """
    plan = _Plan(tree)
    for id in sorted(stored, key=lambda id: (id != tree.id, id)):
        if id == tree.id or id.startswith(f"{tree.id}:"):
            plan.put_stored(id, stored[id])
    for step in tree.current.path():
        plan.place(step)
    for step in tree.steps:
        plan.place(step)
    beyond = plan.beyond(MAX_SHARED - _shared(stored))
    return tuple(plan.finish(line, line in beyond) for line in plan.changed)


@dataclass(eq=False, slots=True)
class _Line:
    """A session in the making: a stored one, with what is added to it, or a new one."""

    stored_id: str | None = None
    source: "_Line | None" = None
    leaves_at: Step | None = None
    added: list[Step] = field(default_factory=list)

    @property
    def shared(self) -> int:
        """How many messages it shares with its source."""
        return self.leaves_at.through if self.leaves_at else 0


class _Plan:
    def __init__(self, tree: MessageTree) -> None:
        self.changed: list[_Line] = []
        self._tree = tree
        self._main = set(tree.current.path())
        self._first: _Line | None = None
        self._taken: set[str] = set()
        self._owners: dict[Step, _Line] = {}
        self._tips: dict[Step, _Line] = {}
        self._gone: set[Step] = set()
        self._starting_with = {step.messages[0].id: step for step in tree.steps}
        self._leaf_of = {step.session_id: step for step in tree.steps}

    def put_stored(self, id: str, message_ids: Sequence[str]) -> None:
        """Takes what a stored session holds as given."""
        line = _Line(stored_id=id)
        self._taken.add(id)
        self._first = self._first or line
        end = self._own_stored(line, message_ids)
        if end is None:
            end = self._leaf_of.get(id)
        elif message_ids[-1] == end.last.id:
            self._tips.setdefault(end, line)
        while end is not None and end not in self._gone:
            self._gone.add(end)
            end = end.parent

    def _own_stored(self, line: _Line, message_ids: Sequence[str]) -> Step | None:
        """The last of the steps that stand whole, and one after the other, in a stored session."""
        end: Step | None = None
        at = 0
        while at < len(message_ids):
            step = self._starting_with.get(message_ids[at])
            follows = step is not None and (end is None or step.parent is end)
            if step is None or not follows or not _stands_at(step, message_ids, at):
                if end is not None:
                    break
                at += 1
                continue
            self._owners.setdefault(step, line)
            end = step
            at += len(step.messages)
        return end

    def place(self, step: Step) -> None:
        """Gives `step` to a session, where none has it. Its parent has been placed before."""
        if step in self._owners or step in self._gone:
            return
        line = self._tips.pop(step.parent, None) if step.parent and self._goes_on(step) else None
        if line is None:
            line = self._leave(step)
        if not line.added:
            self.changed.append(line)
        line.added.append(step)
        self._owners[step] = self._tips[step] = line

    def _goes_on(self, step: Step) -> bool:
        """Whether the session that ends before `step` may go on with it: the current path is kept apart."""
        return step.parent not in self._main or step in self._main

    def _leave(self, step: Step) -> _Line:
        """A new session for `step`. Messages before it that were trimmed from every session come again."""
        again: list[Step] = []
        above = step.parent
        while above is not None and above not in self._owners:
            again.append(above)
            above = above.parent
        source = self._owners[above] if above else self._first
        line = _Line(source=source, leaves_at=above)
        self._first = self._first or line
        if again:
            line.added = again[::-1]
            self.changed.append(line)
            self._owners.update(dict.fromkeys(again, line))
        return line

    def beyond(self, room: int) -> set[_Line]:
        """The changed sessions that do not fit where `room` messages may be shared, with what leaves them."""
        found: set[_Line] = set()
        for line in self._newest_first():
            if line.source in found or line.shared > room:
                found.add(line)
            else:
                room -= line.shared
        return found

    def _newest_first(self) -> list[_Line]:
        """By the latest message that each leads to; that of the current path counts as the latest of all."""
        newness = {line: self._newness(line) for line in self.changed}
        for line in reversed(self.changed):
            if line.source in newness:
                newness[line.source] = max(newness[line.source], newness[line])
        return sorted(self.changed, key=newness.__getitem__, reverse=True)

    def _newness(self, line: _Line) -> tuple[bool, int, int]:
        end = line.added[-1]
        return end in self._main, end.last.created_at or 0, end.order

    def finish(self, line: _Line, is_beyond: bool) -> ImportedSession:
        """The session as it is to be stored. The sources of `line` were finished before."""
        tree, messages = self._tree, tuple(message for step in line.added for message in step.messages)
        extends = line.stored_id is not None
        is_first = line.source is None and not extends
        if line.stored_id is None:
            line.stored_id = tree.id if is_first else self._free(line.added[-1].session_id)
        source_id = line.source.stored_id if line.source else None
        created_at, updated_at = messages[0].created_at, messages[-1].created_at
        if is_first:
            created_at, updated_at = tree.created_at or created_at, tree.updated_at or updated_at
        if created_at and updated_at:
            updated_at = max(created_at, updated_at)
        return ImportedSession(
            id=line.stored_id,
            label=tree.label if is_first else _branch_label(tree.label, messages),
            parent_id=source_id,
            source_id=source_id,
            shared_messages=line.shared,
            shared_through=line.leaves_at.last.id if line.leaves_at else None,
            messages=messages,
            created_at=created_at,
            updated_at=updated_at,
            archived=tree.archived,
            tags=tree.tags,
            metadata=tree.metadata,
            extends=extends,
            is_beyond=is_beyond,
        )

    def _free(self, id: str) -> str:
        while id in self._taken:
            id += ":.again"
        self._taken.add(id)
        return id


def _shared(stored: Mapping[str, Sequence[str]]) -> int:
    """How many messages stored sessions have of each other."""
    return sum(map(len, stored.values())) - len(set().union(*stored.values()))


def _stands_at(step: Step, message_ids: Sequence[str], at: int) -> bool:
    ids = message_ids[at : at + len(step.messages)]
    return [message.id for message in step.messages] == list(ids)


def _branch_label(label: str, messages: tuple[Draft, ...]) -> str:
    words = next((text for message in messages if (text := excerpt(message.content))), "")
    return label_of(f"{label[:150]} · {words}") if words else label

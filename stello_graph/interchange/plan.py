"""What every importer yields: sessions ready to be stored, and what was left out and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from stello_graph.interchange.branches import MessageTree
from stello_graph.interchange.sessions import ImportedSession, plan_sessions
from stello_graph.model.values import Value

__all__ = ["ImportedConversation", "ImportedSession", "NotLookedAt", "Remark", "Repaired", "Skipped"]


class Remark(Value):
    """What is to be told of something in a file.

    Attributes:
        where: the file where there are several; the conversation by its place in the file, from 1, and its
            title; the message or the session by its id.
        why: one of a few fixed sentences, so that they can be counted.
    """

    where: str
    why: str

    def inside(self, name: str) -> Self:
        """The same, of a thing in the file `name`, empty where that is known."""
        return self.model_copy(update={"where": _inside(name, self.where)})


class Skipped(Remark):
    """Something that is not imported."""


class Repaired(Remark):
    """Something that is imported, but not as the file has it."""


class NotLookedAt(Remark):
    """A file that by its name holds no conversations."""


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    """One conversation of the file.

    Attributes:
        id: of its first session; the other sessions' ids begin with it and a colon.
        where: its place in the file and its title, as in `Skipped`.
        tree: all its messages, before they are dealt out to sessions.
        hidden: how many nodes were left out because they are hidden or empty.
    """

    id: str
    where: str
    tree: MessageTree
    skipped: tuple[Skipped, ...] = ()
    repaired: tuple[Repaired, ...] = ()
    hidden: int = 0

    def inside(self, name: str) -> Self:
        """The same, of the file `name`, empty where that is known."""
        return replace(
            self,
            where=_inside(name, self.where),
            skipped=tuple(each.inside(name) for each in self.skipped),
            repaired=tuple(each.inside(name) for each in self.repaired),
        )

    @property
    def sessions(self) -> tuple[ImportedSession, ...]:
        """The sessions for a store that has none of them: see `sessions_beside`."""
        return self.sessions_beside({})

    def sessions_beside(self, stored: Mapping[str, Sequence[str]]) -> tuple[ImportedSession, ...]:
        """What is to be written beside what an earlier state of the file has left in the store.

        A session to which nothing was added here is extended; what leaves it elsewhere, or comes after
        messages of our own, becomes a fork. Nothing that is stored is changed.

        Args:
            stored: the message ids of each stored session of this conversation (`id` itself and all that
                begin with `id` and a colon), as that session sees them, oldest first.

        Returns:
            Sessions to make or to extend, each after its source; empty where all is there already.
        """
        return plan_sessions(self.tree, stored)


def _inside(name: str, where: str) -> str:
    return f"{name}, {where}" if name else where

"""HIERARCHICAL trees: each inner session rolls up what is directly below it, level by level."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from stello_graph.errors import ModelRefused
from stello_graph.forest.accounts import count
from stello_graph.forest.synthesis import digest_line, rollup_request
from stello_graph.model.context import ReplyStop
from stello_graph.model.memory import ToIntegrate, TreeNode
from stello_graph.model.session import Session
from stello_graph.model.values import SessionStatus
from stello_graph.ports import LLM, SpaceStore
from stello_graph.session.call import call
from stello_graph.session.context.text import is_blank
from stello_graph.session.memory import distil

__all__ = ["Views", "roll_up"]

_AT_ONCE = 4
_MOST_LINES = 1_000


class Views:
    """Who sees whom in a tree: active sessions that have something to tell, below active ones.

    What hangs below an archived session is seen by the nearest active one above it.
    """

    def __init__(self, root_id: str, nodes: Iterable[TreeNode]) -> None:
        self.root_id = root_id
        self._nodes = {node.id: node for node in nodes}
        self._below: dict[str, list[str]] = defaultdict(list)
        self._rolled: dict[str, int] = {}
        for node in sorted(self._nodes.values(), key=lambda node: -node.depth):
            tells = node.memory_seq is not None or node.id in self._below
            if tells and node.id != root_id and node.status is SessionStatus.ACTIVE:
                self._below[self._above(node)].append(node.id)

    def below(self, id: str) -> list[str]:
        """The sessions directly below, newest changed first."""
        return sorted(self._below.get(id, ()), key=self.changed_at, reverse=True)

    def is_inner(self, id: str) -> bool:
        """Whether a session is seen by its rollup, and not by its own digest alone."""
        return id in self._below

    def changed_at(self, id: str) -> int:
        """The event number at which changed what others see of a session."""
        if self.is_inner(id):
            return self._rolled.get(id, self._nodes[id].rollup_seq or 0)
        return self._nodes[id].memory_seq or 0

    def stale(self, id: str) -> bool:
        """Whether something changed that a session's rollup does not know of."""
        seen = [self._nodes[id].memory_seq or 0, *map(self.changed_at, self._below[id])]
        return max(seen) > self.changed_at(id)

    def rolled(self, id: str, through_seq: int) -> None:
        """Notes that a rollup knows all up to that event."""
        self._rolled[id] = through_seq

    def levels(self) -> Iterator[list[str]]:
        """The inner sessions by their depth, the deepest first."""
        levels: dict[int, list[str]] = defaultdict(list)
        for id in self._below:
            if id != self.root_id:
                levels[self._nodes[id].depth].append(id)
        for depth in sorted(levels, reverse=True):
            yield levels[depth]

    def line(self, session: Session) -> str | None:
        """A session as its parent sees it; None where it says nothing."""
        text = session.rollup if self.is_inner(session.id) else session.memory
        return None if is_blank(text or "") else digest_line(session.id, session.label, text or "")

    def _above(self, node: TreeNode) -> str:
        parent = self._nodes.get(node.parent_id or "")
        while parent is not None and parent.id != self.root_id and parent.status is SessionStatus.ARCHIVED:
            parent = self._nodes.get(parent.parent_id or "")
        return self.root_id if parent is None else parent.id


async def roll_up(store: SpaceStore, llm: LLM, found: ToIntegrate, views: Views) -> tuple[list[str], int]:
    """Rolls up what changed, and nothing twice: what is stored stays, should a later one fail.

    Returns:
        The lines of the sessions directly below the root, newest changed first, and how many were left out.

    Raises:
        ModelError: the model failed at one; those of its level are done.
    """
    slots = asyncio.Semaphore(_AT_ONCE)

    async def one(id: str) -> None:
        async with slots:
            await _roll_one(store, llm, found, views, id)

    for level in views.levels():
        results = await asyncio.gather(*(one(id) for id in level if views.stale(id)), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
    ids = views.below(views.root_id)
    return _lines(views, await store.sessions(ids[:_MOST_LINES]), ids), max(0, len(ids) - _MOST_LINES)


async def _roll_one(store: SpaceStore, llm: LLM, found: ToIntegrate, views: Views, id: str) -> None:
    ids = views.below(id)
    sessions = await store.sessions([id, *ids[:_MOST_LINES]])
    lines = _lines(views, sessions, ids)
    own = sessions.get(id)
    if own is None or not lines:
        return
    left_out = max(0, len(ids) - _MOST_LINES)
    reply = await call(llm, rollup_request(llm, found, own.memory, lines, left_out=left_out))
    rollup = "" if reply.stop is ReplyStop.REFUSAL else distil(reply.text)
    if not rollup:
        await count(store, id, reply.usage)
        raise ModelRefused(f'the model gave no rollup of session "{id}"')
    if await store.store_rollup(id, rollup, through_seq=found.through_seq, usage=reply.usage):
        views.rolled(id, found.through_seq)
    else:
        await count(store, id, reply.usage)


def _lines(views: Views, sessions: dict[str, Session], ids: Sequence[str]) -> list[str]:
    lines = (views.line(sessions[id]) for id in ids if id in sessions)
    return [line for line in lines if line is not None]

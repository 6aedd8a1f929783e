"""Loaders: what one request asks of many things becomes one query.

They batch and do not cache, so a loader may live as long as a WebSocket without growing stale, and
a second mutation of one request sees what the first one did.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from strawberry.dataloader import DataLoader

from stello_graph.model.message import Message, MessagePage, MessageRole
from stello_graph.model.parts import Only
from stello_graph.model.session import Session, SessionWithMessages
from stello_graph.model.topology import ChildrenPage, TopologyNode
from stello_graph.model.turn import Turn
from stello_graph.ports import SpaceStore

__all__ = ["Loaders", "Page", "Pages"]

I = TypeVar("I")  # noqa: E741
P = TypeVar("P")
V = TypeVar("V")


class Page(NamedTuple):
    """A page of a list.

    Attributes:
        at: where it starts: the index or number to go on from, or an offset.
        only: the fields that are needed of what is listed; None needs it whole.
    """

    at: int
    first: int
    only: Only | None = None


class Pages(Generic[I, P, V]):
    """What things have, by page: a list of messages, of children and the like, or a number.

    What is asked in one turn of the event loop becomes one query for each page, whatever the number of ids.
    """

    def __init__(self, load: Callable[[list[I], P], Awaitable[Mapping[I, V | None]]]) -> None:

        async def load_all(asked: list[tuple[Sequence[I], P]]) -> list[list[V | None]]:
            together: dict[P, dict[I, None]] = {}
            for ids, page in asked:
                together.setdefault(page, {}).update(dict.fromkeys(ids))
            found = {page: await load(list(ids), page) for page, ids in together.items()}
            return [[found[page].get(id) for id in ids] for ids, page in asked]

        # Not a method: the loader keeps its last results, which a cycle would keep long after the answer.
        self._loader = DataLoader(load_fn=load_all, cache=False)

    async def of(self, id: I, page: P) -> V | None:
        """What one has; None where there is no such thing."""
        return (await self._loader.load(((id,), page)))[0]

    async def of_each(self, ids: Sequence[I], page: P) -> list[V | None]:
        """What each has, in the order of the ids. Of none, without a query."""
        return await self._loader.load((ids, page)) if ids else []


class Loaders:
    """The loaders of one Space, each made when it is first used."""

    def __init__(self, store: SpaceStore) -> None:
        self._store = store

    @cached_property
    def node(self) -> DataLoader[str, TopologyNode | None]:
        """Nodes by id."""
        return _by_id(self._store.nodes)

    @cached_property
    def session(self) -> DataLoader[str, Session | None]:
        """Sessions by id."""
        return _by_id(self._store.sessions)

    @cached_property
    def session_with_newest(self) -> Pages[str, MessagePage, SessionWithMessages]:
        """Sessions by id, with a page of their newest messages."""
        return Pages(self._store.sessions_with_newest)

    @cached_property
    def turn(self) -> DataLoader[str, Turn | None]:
        """Turns by id."""
        return _by_id(self._store.turns)

    @cached_property
    def ancestors(self) -> Pages[str, Only | None, list[TopologyNode]]:
        """Ancestors of a node, the root first, with the fields that are needed."""
        load = self._store.ancestors
        return Pages(lambda ids, only: load(ids, only=only))

    @cached_property
    def turn_messages(self) -> DataLoader[str, list[Message] | None]:
        """Messages of a turn."""
        return _by_id(self._store.turn_messages)

    @cached_property
    def children(self) -> Pages[str | None, ChildrenPage, list[TopologyNode]]:
        """A page of the children of a node, or of the roots."""
        load = self._store.children
        return Pages(lambda ids, page: load(ids, **page._asdict()))

    @cached_property
    def siblings(self) -> Pages[str, Page, list[TopologyNode]]:
        """A page of the siblings of a node."""
        load = self._store.siblings
        return Pages(lambda ids, page: load(ids, after=page.at, first=page.first, only=page.only))

    @cached_property
    def refs(self) -> Pages[str, Page, list[TopologyNode]]:
        """A page of the nodes that a node refers to."""
        load = self._store.refs
        return Pages(lambda ids, page: load(ids, first=page.first, offset=page.at, only=page.only))

    @cached_property
    def referenced_by(self) -> Pages[str, Page, list[TopologyNode]]:
        """A page of the nodes that refer to a node."""
        load = self._store.referenced_by
        return Pages(lambda ids, page: load(ids, first=page.first, offset=page.at, only=page.only))

    @cached_property
    def turns_of(self) -> Pages[str, Page, list[Turn]]:
        """A page of the turns of a session."""
        load = self._store.turns_of
        return Pages(lambda ids, page: load(ids, before=page.at, first=page.first))

    @cached_property
    def messages(self) -> Pages[str, MessagePage, list[Message]]:
        """A page of the messages of a session."""
        newest, oldest = self._store.newest_messages, self._store.oldest_messages

        async def load(ids: list[str], page: MessagePage) -> dict[str, list[Message]]:
            read = newest if page.newest else oldest
            return await read(
                ids, after=page.after, before=page.before, first=page.first, roles=page.roles, only=page.only
            )

        return Pages(load)

    @cached_property
    def message_count(self) -> Pages[str, tuple[MessageRole, ...], int]:
        """How many messages of some roles a session has."""
        return Pages(self._store.count_messages)


def _by_id(load: Callable[[Sequence[str]], Awaitable[dict[str, V]]]) -> DataLoader[str, V | None]:
    async def load_all(ids: list[str]) -> list[V | None]:
        found = await load(list(dict.fromkeys(ids)))
        return [found.get(id) for id in ids]

    return DataLoader(load_fn=load_all, cache=False)

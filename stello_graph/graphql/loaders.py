"""Loaders: what one request asks of many things becomes one query.

They batch and do not cache, so a loader may live as long as a WebSocket without growing stale, and
a second mutation of one request sees what the first one did.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

from strawberry.dataloader import DataLoader

from stello_graph.model.message import Message, MessagePage, MessageRole
from stello_graph.model.session import Session, SessionWithMessages
from stello_graph.model.topology import NodeWithAncestors, TopologyNode
from stello_graph.model.turn import Turn
from stello_graph.ports import SpaceStore

__all__ = ["Loaders", "Page"]

I = TypeVar("I")  # noqa: E741
P = TypeVar("P")
V = TypeVar("V")


class Page(NamedTuple):
    """`at` is where the page starts: the index or number to go on from, or an offset."""

    at: int
    first: int


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
    def node_with_ancestors(self) -> DataLoader[str, NodeWithAncestors | None]:
        """Nodes by id, with their ancestors."""
        return _by_id(self._store.nodes_with_ancestors)

    @cached_property
    def session_with_newest(self) -> DataLoader[tuple[str, MessagePage], SessionWithMessages | None]:
        """Sessions by id, with a page of their newest messages."""
        return _by_page(self._store.sessions_with_newest)

    @cached_property
    def turn(self) -> DataLoader[str, Turn | None]:
        """Turns by id."""
        return _by_id(self._store.turns)

    @cached_property
    def ancestors(self) -> DataLoader[str, list[TopologyNode] | None]:
        """Ancestors of a node, the root first."""
        return _by_id(self._store.ancestors)

    @cached_property
    def turn_messages(self) -> DataLoader[str, list[Message] | None]:
        """Messages of a turn."""
        return _by_id(self._store.turn_messages)

    @cached_property
    def children(self) -> DataLoader[tuple[str | None, Page], list[TopologyNode] | None]:
        """A page of the children of a node, or of the roots."""
        load = self._store.children
        return _by_page(lambda ids, page: load(ids, after=page.at, first=page.first))

    @cached_property
    def siblings(self) -> DataLoader[tuple[str, Page], list[TopologyNode] | None]:
        """A page of the siblings of a node."""
        load = self._store.siblings
        return _by_page(lambda ids, page: load(ids, after=page.at, first=page.first))

    @cached_property
    def refs(self) -> DataLoader[tuple[str, Page], list[TopologyNode] | None]:
        """A page of the nodes that a node refers to."""
        load = self._store.refs
        return _by_page(lambda ids, page: load(ids, first=page.first, offset=page.at))

    @cached_property
    def referenced_by(self) -> DataLoader[tuple[str, Page], list[TopologyNode] | None]:
        """A page of the nodes that refer to a node."""
        load = self._store.referenced_by
        return _by_page(lambda ids, page: load(ids, first=page.first, offset=page.at))

    @cached_property
    def turns_of(self) -> DataLoader[tuple[str, Page], list[Turn] | None]:
        """A page of the turns of a session."""
        load = self._store.turns_of
        return _by_page(lambda ids, page: load(ids, before=page.at, first=page.first))

    @cached_property
    def messages(self) -> DataLoader[tuple[str, MessagePage], list[Message] | None]:
        """A page of the messages of a session."""
        newest, oldest = self._store.newest_messages, self._store.oldest_messages

        async def load(ids: list[str], page: MessagePage) -> dict[str, list[Message]]:
            read = newest if page.newest else oldest
            return await read(ids, after=page.after, before=page.before, first=page.first, roles=page.roles)

        return _by_page(load)

    @cached_property
    def message_count(self) -> DataLoader[tuple[str, tuple[MessageRole, ...]], int | None]:
        """How many messages of some roles a session has."""
        return _by_page(self._store.count_messages)


def _by_id(load: Callable[[Sequence[str]], Awaitable[dict[str, V]]]) -> DataLoader[str, V | None]:
    async def load_all(ids: list[str]) -> list[V | None]:
        found = await load(list(dict.fromkeys(ids)))
        return [found.get(id) for id in ids]

    return DataLoader(load_fn=load_all, cache=False)


def _by_page(
    load: Callable[[list[I], P], Awaitable[Mapping[I, V | None]]],
) -> DataLoader[tuple[I, P], V | None]:
    """One query for each set of arguments, whatever the number of ids."""

    async def load_all(keys: list[tuple[I, P]]) -> list[V | None]:
        groups: dict[P, dict[I, None]] = {}
        for id, page in keys:
            groups.setdefault(page, {})[id] = None
        found: dict[P, Mapping[I, V | None]] = {
            page: await load(list(ids), page) for page, ids in groups.items()
        }
        return [found[page].get(id) for id, page in keys]

    return DataLoader(load_fn=load_all, cache=False)

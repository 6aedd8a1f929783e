"""Loaders: what one request asks of many things becomes one query.

They batch and do not cache, so a loader may live as long as a WebSocket without growing stale, and
a second mutation of one request sees what the first one did.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from strawberry.dataloader import DataLoader

from stello_graph.model.message import Message, MessageRole
from stello_graph.model.session import Session
from stello_graph.model.topology import TopologyNode
from stello_graph.model.turn import Turn
from stello_graph.ports import SpaceStore

__all__ = ["Loaders", "MessagePage", "Page"]

I = TypeVar("I")  # noqa: E741
P = TypeVar("P")
V = TypeVar("V")


class Page(NamedTuple):
    """`at` is where the page starts: the index or number to go on from, or an offset."""

    at: int
    first: int


class MessagePage(NamedTuple):
    """`first` messages with after < seq < before, from the newest or from the oldest end."""

    newest: bool
    after: int
    before: int
    first: int
    roles: tuple[MessageRole, ...] | None


class Loaders:
    """The loaders of one Space."""

    def __init__(self, store: SpaceStore) -> None:
        self.node: DataLoader[str, TopologyNode | None] = _by_id(store.nodes)
        self.session: DataLoader[str, Session | None] = _by_id(store.sessions)
        self.turn: DataLoader[str, Turn | None] = _by_id(store.turns)
        self.ancestors: DataLoader[str, list[TopologyNode] | None] = _by_id(store.ancestors)
        self.turn_messages: DataLoader[str, list[Message] | None] = _by_id(store.turn_messages)

        async def children(ids: list[str | None], page: Page) -> dict[str | None, list[TopologyNode] | None]:
            return await store.children(ids, after=page.at, first=page.first)

        async def siblings(ids: list[str], page: Page) -> dict[str, list[TopologyNode]]:
            return await store.siblings(ids, after=page.at, first=page.first)

        async def refs(ids: list[str], page: Page) -> dict[str, list[TopologyNode]]:
            return await store.refs(ids, first=page.first, offset=page.at)

        async def referenced_by(ids: list[str], page: Page) -> dict[str, list[TopologyNode]]:
            return await store.referenced_by(ids, first=page.first, offset=page.at)

        async def turns_of(ids: list[str], page: Page) -> dict[str, list[Turn]]:
            return await store.turns_of(ids, before=page.at, first=page.first)

        async def messages(ids: list[str], page: MessagePage) -> dict[str, list[Message]]:
            load = store.newest_messages if page.newest else store.oldest_messages
            return await load(ids, after=page.after, before=page.before, first=page.first, roles=page.roles)

        self.children: DataLoader[tuple[str | None, Page], list[TopologyNode] | None] = _by_page(children)
        self.siblings = _by_page(siblings)
        self.refs = _by_page(refs)
        self.referenced_by = _by_page(referenced_by)
        self.turns_of = _by_page(turns_of)
        self.messages = _by_page(messages)
        self.message_count = _by_page(store.count_messages)


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

"""The operations whose time must not grow with the store."""

from collections.abc import Awaitable, Callable

from bench.wide import FAN_OUT, Wide, node_id
from stello_graph.model.message import MessageRole
from stello_graph.model.requests import AppendedMessage, Fork
from stello_graph.model.values import ForkContext
from stello_graph.service import SpaceService

__all__ = ["OPERATIONS", "Ask", "Inherit"]

Ask = Callable[[int], Awaitable[None]]

_PARENT = 1
_TALK = 2
_LEAVES = 32
_SAID = "A message as long as people write them, to a model that is not asked. " * 3
_LAST = 2**53


def _children(space: SpaceService, _wide: Wide) -> Ask:
    parent = node_id(_PARENT)

    async def ask(_number: int) -> None:
        found = await space.store.children([parent], after=-1, first=100)
        assert len(found[parent] or ()) == FAN_OUT

    return ask


def _newest(space: SpaceService, _wide: Wide) -> Ask:
    talk = node_id(_TALK)

    async def ask(_number: int) -> None:
        found = await space.store.newest_messages([talk], after=0, before=_LAST, first=50, roles=None)
        assert len(found[talk]) == 50

    return ask


def _append(space: SpaceService, _wide: Wide) -> Ask:
    said = [AppendedMessage(role=MessageRole.USER, content=_SAID)]

    async def ask(_number: int) -> None:
        (stored,) = await space.append(node_id(_TALK), said)
        assert stored.content == _SAID

    return ask


def _fork(space: SpaceService, wide: Wide) -> Ask:
    async def ask(number: int) -> None:
        source = node_id(wide.nodes - 1 - number % _LEAVES)
        await space.fork(Fork(source_session_id=source, label="Fork", context=ForkContext.NONE))

    return ask


class Inherit:
    """Forks of a session with all that was said in it."""

    def __init__(self, space: SpaceService, number: int, messages: int) -> None:
        self._space = space
        self._asked = Fork(source_session_id=node_id(number), label="Fork", context=ForkContext.INHERIT)
        self._messages = messages

    async def __call__(self, _number: int) -> None:
        made = await self._space.fork(self._asked)
        assert made.message_count == self._messages, made


OPERATIONS: dict[str, Callable[[SpaceService, Wide], Ask]] = {
    "getChildren, 8 rows": _children,
    "newest 50 messages": _newest,
    "append a message": _append,
    "fork without context": _fork,
}

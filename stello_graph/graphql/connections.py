"""Pages of lists: nodes, edges, page info."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from stello_graph.errors import InvalidInput

__all__ = ["Connection", "Edge", "Info", "connection", "cursor_seq"]

T = TypeVar("T")


class Edge(NamedTuple, Generic[T]):
    """One item with its cursor."""

    cursor: str
    node: T


class Info(NamedTuple):
    """Where a page lies."""

    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


class Connection(Generic[T]):
    """A page. `count` is asked only where the total is selected."""

    def __init__(
        self,
        items: Sequence[T],
        cursor: Callable[[T], str],
        info: Info,
        count: Callable[[], Awaitable[int]] | None = None,
        **more: Any,
    ) -> None:
        self.nodes = list(items)
        self.page_info = info
        self.count = count
        self._cursor = cursor
        for name, value in more.items():
            setattr(self, name, value)

    @property
    def edges(self) -> list[Edge[T]]:
        """The items with their cursors."""
        return [Edge(self._cursor(item), item) for item in self.nodes]


def connection(
    found: Sequence[T],
    size: int,
    cursor: Callable[[T], str],
    *,
    newest: bool = False,
    before_start: bool = False,
    count: Callable[[], Awaitable[int]] | None = None,
    **more: Any,
) -> Connection[T]:
    """A page of at most `size`, from one item more than that.

    Args:
        newest: the surplus item is at the start.
        before_start: whether there is something on the side where the page was told to start.
    """
    surplus = len(found) > size
    items = found[-size:] if newest else found[:size]
    info = Info(
        has_next_page=before_start if newest else surplus,
        has_previous_page=surplus if newest else before_start,
        start_cursor=cursor(items[0]) if items else None,
        end_cursor=cursor(items[-1]) if items else None,
    )
    return Connection(items, cursor, info, count, **more)


def cursor_seq(cursor: str, what: str) -> int:
    """The number in a cursor."""
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 15:
        raise InvalidInput(f"{what} is no cursor of this list")
    return int(cursor)

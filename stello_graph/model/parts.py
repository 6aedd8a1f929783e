"""Values of which only some fields were read: of a page of many, its columns are what costs."""

from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain
from typing import Any, NamedTuple, TypeVar, cast

from pydantic_core import PydanticUndefined

from stello_graph.model.values import Value

__all__ = ["Only", "parts_of"]

V = TypeVar("V", bound=Value)

# The names of some fields of a value.
Only = tuple[str, ...]


class _Kind(NamedTuple):
    """How a part is made, and by column, what is not simply null: the field's default, if it has one."""

    make: Callable[[Sequence[Any]], Any]
    defaults: dict[int, Any]


def parts_of(kind: type[V], only: Only, items: Sequence[Sequence[Any]]) -> list[V]:
    """Values that have these fields alone, each from a list of what is stored, which is taken as it is.

    Null stands for the field's default. What lacks a field that has none is being deleted, and left out.
    """
    made = _kind_of(kind, only)
    if None in chain.from_iterable(items):
        items = list(_filled(made.defaults, items))
    return cast(list[V], list(map(made.make, items)))


def _filled(defaults: dict[int, Any], items: Sequence[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    for item in items:
        if None in item:
            item = [defaults.get(at) if value is None else value for at, value in enumerate(item)]
            if PydanticUndefined in item:
                continue
        yield item


@lru_cache(1_024)
def _kind_of(kind: type[Value], only: Only) -> _Kind:
    made = namedtuple(kind.__name__, only)  # type: ignore[misc]
    defaults = {at: kind.model_fields[name].default for at, name in enumerate(only)}
    # `_make` does the same in Python.
    make = partial(tuple.__new__, cast(Any, made))
    return _Kind(make, {at: default for at, default in defaults.items() if default is not None})

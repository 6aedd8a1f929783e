"""Arguments and inputs: a defaulted one given as null has its default; UNSET is not given."""

from dataclasses import fields
from typing import Any, TypeVar

from strawberry import UNSET

from stello_graph.errors import InvalidInput
from stello_graph.ids import check_id
from stello_graph.model.checks import check_page
from stello_graph.model.values import Value

__all__ = ["checked_ids", "given", "page_size", "request"]

T = TypeVar("T")
R = TypeVar("R", bound=Value)


def given(value: T | None, default: T) -> T:
    """The value, or the default where it is null or not given."""
    return default if value is None or value is UNSET else value


def page_size(value: int | None, default: int, what: str = "first") -> int:
    """The size of a page, 1 to 1,000."""
    return check_page(given(value, default), what)


def request(kind: type[R], source: Any, *, nullable: frozenset[str] = frozenset(), **changed: Any) -> R:
    """What an input asks for. Nulls count as not given, but for the fields that null can clear."""
    values = {
        field.name: getattr(source, field.name)
        for field in fields(source)
        if getattr(source, field.name) is not UNSET
        and (getattr(source, field.name) is not None or field.name in nullable)
    }
    return kind.model_validate(values | changed)


def checked_ids(ids: list[str], limit: int = 1_000) -> list[str]:
    """Ids that can exist, at most `limit`."""
    if len(ids) > limit:
        raise InvalidInput(f"at most {limit} ids at once")
    return [check_id(id) for id in ids]

"""The scalars: times, JSON, long numbers, and the columns of the map."""

import math
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NewType

import strawberry
from graphql import GraphQLError, ValueNode
from graphql.language import FloatValueNode, IntValueNode
from graphql.utilities import value_from_ast_untyped

from stello_graph.model.topology import Columns

__all__ = ["JSON", "SCALARS", "DateTime", "Long", "StarMapColumns"]

DateTime = NewType("DateTime", int)
JSON = NewType("JSON", object)
Long = NewType("Long", int)
StarMapColumns = NewType("StarMapColumns", Columns)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LONGEST = 2**53


# The times of the same things are asked for again and again.
@lru_cache(16_384)
def _time_text(microseconds: int) -> str:
    minute, rest = divmod(microseconds, 60_000_000)
    digits = str(100_000_000 + rest)
    return f"{_minute_text(minute)}:{digits[1:3]}.{digits[3:]}Z"


# Times of one answer are often close to each other, and dates are what costs.
@lru_cache(4_096)
def _minute_text(minute: int) -> str:
    return (_EPOCH + timedelta(minutes=minute)).isoformat(timespec="minutes").removesuffix("+00:00")


def _time(text: Any) -> int:
    try:
        time = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise GraphQLError("a DateTime is an ISO 8601 text, such as 2026-01-31T08:00:00.000000Z") from None
    if time.tzinfo is None:
        raise GraphQLError("a DateTime needs an offset, such as Z")
    return (time - _EPOCH) // _MICROSECOND


def _json(value: Any) -> Any:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, float) and not math.isfinite(item):
            raise GraphQLError("JSON has no NaN and no infinities")
        pending.extend(item.values() if isinstance(item, dict) else item if isinstance(item, list) else ())
    return value


def _json_literal(node: ValueNode, variables: dict[str, Any] | None = None) -> Any:
    if isinstance(node, IntValueNode | FloatValueNode) and len(node.value) > 400:
        raise GraphQLError("the number is too long")
    return _json(value_from_ast_untyped(node, variables))


def _long(value: Any) -> int:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or not -_LONGEST <= value <= _LONGEST:
        raise GraphQLError("a Long is a whole number up to 2^53")
    return int(value)


def _long_literal(node: ValueNode, _variables: dict[str, Any] | None = None) -> int:
    if not isinstance(node, IntValueNode) or len(node.value) > 20:
        raise GraphQLError("a Long is a whole number up to 2^53")
    return _long(int(node.value))


SCALARS: dict[object, Any] = {
    DateTime: strawberry.scalar(
        name="DateTime",
        description="ISO 8601 in UTC with six digits and Z; input without an offset is refused.",
        serialize=_time_text,
        parse_value=_time,
    ),
    JSON: strawberry.scalar(
        name="JSON",
        description="Any JSON value; NaN and infinities are refused.",
        serialize=lambda value: value,
        parse_value=_json,
        parse_literal=_json_literal,
    ),
    Long: strawberry.scalar(
        name="Long",
        description="A whole number beyond 32 bits, up to 2^53.",
        serialize=int,
        parse_value=_long,
        parse_literal=_long_literal,
    ),
    StarMapColumns: strawberry.scalar(
        name="StarMapColumns",
        description="Columnar snapshot of the map, a leaf value: see StarMap.columns.",
        serialize=lambda value: value,
        parse_value=lambda value: value,
    ),
}

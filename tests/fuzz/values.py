"""Values for any type of the schema: what may be given, and what nobody should."""

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    get_named_type,
)
from hypothesis import strategies as st

__all__ = ["HOSTILE", "NUMBERS", "TEXTS", "Raw", "arguments", "body_of"]

MIB: Final = 1024 * 1024


class Raw(str):
    """JSON as it is written, where no value of Python's is written so."""


TEXTS: Final[tuple[str, ...]] = (
    "",
    " ",
    "\x00",
    "a\x00b",
    "\x1b[31m\x07\x7f\x85",
    "\u2028\u2029\ufeff",
    "\u202e\u2066 turned",
    "e" + "\u0301" * 200,
    "🎉👩‍👩‍👧‍👦漢字한국어",
    "\U0010ffff\ufffe\uffff",
    "'; DROP TABLE session; --",
    "`}) DETACH DELETE n //",
    '" OR * NEAR( "',
    "{{ label }} {% x %} ${a} %s {0}",
    "../../etc/passwd",
    "a/b",
    "-1",
    "x" * 201,
    "x" * 5_000,
    "漢" * 3_000,
    "null",
    "*",
    "\\",
    "\r\n",
)
_HUGE_TEXTS: Final = ("x" * MIB, "x" * (MIB + 1), "漢 " * (MIB // 5), "\n" * MIB)
_NUMBERS: Final = (0, -1, 1, 2**31 - 1, 2**31, -(2**31), 2**53, 2**53 + 1, 2**63, -(2**63), 2**64, 1.5, -0.0)
NUMBERS: Final = (
    *_NUMBERS,
    *map(Raw, ("1e400", "-1e400", "-0", "1E5", "1e-400", "9" * 5_000, "0.1" + "0" * 5_000)),
)


def _nested(depth: int) -> Any:
    value: Any = 1
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


HOSTILE: Final = st.one_of(
    st.sampled_from(TEXTS),
    st.sampled_from(NUMBERS),
    st.sampled_from(_HUGE_TEXTS),
    st.sampled_from([Raw('"\\ud800"'), Raw('"\\udc00\\ud800"'), Raw('{"\\ud800": 1}'), Raw('"\\u0000"')]),
    st.sampled_from(
        [None, True, [], {}, [[]], [None], {"a": None}, {"": 1}, {"__proto__": {}, "__class__": 1}]
    ),
    st.sampled_from([_nested(60), _nested(70), _nested(500), Raw("[" * 2_000 + "]" * 2_000), [1] * 2_000]),
    st.text(max_size=20),
)
_JSON: Final = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
_SCALARS: Final[dict[str, st.SearchStrategy[Any]]] = {
    "Boolean": st.booleans(),
    "Int": st.integers(0, 12),
    "Long": st.integers(0, 5),
    "Float": st.floats(0, 1),
    "String": st.sampled_from(["alpha", "alpha", "beta", "b2", "a.b", "3", "two words", "漢字"]),
    "DateTime": st.sampled_from(
        ["2026-01-31T08:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999+00:00"]
    ),
    "JSON": _JSON,
}


def arguments(
    given: Mapping[str, Any], ids: st.SearchStrategy[str], hostile: bool
) -> st.SearchStrategy[dict[str, Any]]:
    """Values for arguments, or for the fields of an input: needed ones always, others now and then.

    Where it is hostile, one of them is what it should not be.
    """
    needed = {
        name: _value(one.type, ids) for name, one in given.items() if isinstance(one.type, GraphQLNonNull)
    }
    more = {name: _value(one.type, ids) for name, one in given.items() if name not in needed}
    fine = st.fixed_dictionaries(needed, optional=more)
    if not hostile or not given:
        return fine
    spoilt = {name: HOSTILE | _spoilt(one.type, ids) for name, one in given.items()}
    one = st.sampled_from(sorted(given)).flatmap(lambda name: st.fixed_dictionaries({name: spoilt[name]}))
    return st.builds(lambda all, changed: all | changed, fine, one)


def body_of(value: Any) -> bytes:
    """JSON of a body, raw parts as they are, half surrogates as escapes."""
    return _text(value).encode()


def _text(value: Any) -> str:
    match value:
        case Raw():
            return str(value)
        case dict():
            return "{" + ", ".join(f"{_string(name)}: {_text(item)}" for name, item in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_text, value)) + "]"
        case str():
            return _string(value)
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case float() if not math.isfinite(value):
            return "1e999"
    return repr(value)


def _string(text: str) -> str:
    return json.dumps(text)


def _value(kind: GraphQLInputType, ids: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    match kind:
        case GraphQLNonNull():
            return _some(kind.of_type, ids)
        case _:
            return st.one_of(_some(kind, ids), _some(kind, ids), st.none())


def _some(kind: Any, ids: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    match kind:
        case GraphQLList():
            return st.lists(_value(kind.of_type, ids), max_size=3)
        case GraphQLEnumType():
            return st.sampled_from(sorted(kind.values))
        case GraphQLInputObjectType():
            return arguments(kind.fields, ids, False)
    return ids if kind.name == "ID" else _SCALARS[kind.name]


def _spoilt(kind: GraphQLInputType, ids: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """An input with one wrong field deep inside, or a list of wrong things."""
    named = get_named_type(kind)
    if isinstance(named, GraphQLInputObjectType):
        inside = arguments(named.fields, ids, True)
        return st.lists(inside, min_size=1, max_size=2) if _is_list(kind) else inside
    return st.lists(HOSTILE, min_size=1, max_size=2)


def _is_list(kind: Any) -> bool:
    return isinstance(kind.of_type if isinstance(kind, GraphQLNonNull) else kind, GraphQLList)

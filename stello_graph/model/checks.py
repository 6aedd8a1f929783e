"""What every input must fulfil, before any query runs."""

import hashlib
import math
import re
from collections.abc import Iterable
from typing import Any

import orjson

from stello_graph.errors import InvalidInput, LimitExceeded
from stello_graph.ids import check_id
from stello_graph.model.writes import Idempotency

__all__ = [
    "MAX_JSON_DEPTH",
    "MAX_LABEL",
    "MAX_PAGE",
    "check_json",
    "check_label",
    "check_names",
    "check_page",
    "check_range",
    "check_text",
    "idempotency",
    "levels_of",
]

MAX_LABEL = 200
MAX_PAGE = 1_000
MAX_TAGS = 100
MAX_JSON_DEPTH = 64

_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def check_text(text: str, what: str, limit: int) -> str:
    """Returns `text`: no lone surrogates, no NUL, at most `limit` bytes of UTF-8."""
    if _SURROGATE.search(text):
        raise InvalidInput(f"{what} holds half of a surrogate pair")
    if "\x00" in text:
        raise InvalidInput(f"{what} holds a NUL character")
    if len(text) > limit or len(text.encode()) > limit:
        raise LimitExceeded(f"{what} is longer than {limit} bytes")
    return text


def check_label(label: str) -> str:
    """Returns `label`: at most 200 characters, none of them a control character."""
    if len(label) > MAX_LABEL:
        raise InvalidInput(f"a label has at most {MAX_LABEL} characters")
    if _CONTROL.search(label):
        raise InvalidInput("a label holds no control characters")
    return check_text(label, "the label", 4 * MAX_LABEL)


def check_names(names: Iterable[str], what: str) -> tuple[str, ...]:
    """Returns short names such as tags: each as a label and not empty, at most 100, each once."""
    checked = tuple(dict.fromkeys(check_label(name) for name in names))
    if any(not name for name in checked):
        raise InvalidInput(f"{what} are not empty")
    if len(checked) > MAX_TAGS:
        raise LimitExceeded(f"at most {MAX_TAGS} {what}")
    return checked


def check_page(size: int, what: str = "first") -> int:
    """Returns the size of a page: 1 to 1,000."""
    if size < 1:
        raise InvalidInput(f"{what} must be 1 at least")
    if size > MAX_PAGE:
        raise LimitExceeded(f"{what} is {MAX_PAGE} at most")
    return size


def check_range(value: int, what: str, low: int, high: int = 2**31 - 1) -> int:
    """Returns a number between two bounds, both included."""
    if not low <= value <= high:
        raise InvalidInput(f"{what} must be {low} to {high}")
    return value


def check_json(value: Any, what: str, limit: int) -> Any:
    """Returns a JSON value that can be stored: finite numbers, whole characters, bounded size and depth."""
    if levels_of(value) > MAX_JSON_DEPTH:
        raise InvalidInput(f"{what} is nested deeper than {MAX_JSON_DEPTH}")
    _check_json(value, what)
    try:
        size = len(orjson.dumps(value))
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{what} is not a JSON value that can be stored: {error}") from error
    if size > limit:
        raise LimitExceeded(f"{what} is longer than {limit} bytes")
    return value


def idempotency(key: str | None, operation: str, given: Any) -> Idempotency | None:
    """The caller's key with the hash of operation and input; None where no key was given."""
    if key is None:
        return None
    text = orjson.dumps([operation, given], option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    return Idempotency(key=check_id(key, "an idempotency key"), input_hash=hashlib.sha256(text).hexdigest())


def levels_of(value: Any) -> int:
    """How deeply a JSON value is nested: 1 for a text or an empty list, one more for each one around it."""
    levels, inside = 0, [value]
    while inside:
        levels += 1
        outer = inside
        inside = [one for each in outer if isinstance(each, dict) for one in each.values()]
        inside += [one for each in outer if isinstance(each, list) for one in each]
    return levels


def _check_json(value: Any, what: str) -> None:
    match value:
        case str():
            check_text(value, what, 2**31)
        case float() if not math.isfinite(value):
            raise InvalidInput(f"{what} holds a number that is not finite")
        case list():
            for item in value:
                _check_json(item, what)
        case dict():
            for name, item in value.items():
                check_text(name, what, 2**31)
                _check_json(item, what)

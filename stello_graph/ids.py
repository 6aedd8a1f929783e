"""Ids of things, and the keys that hold them inside their Space."""

import re
import secrets
import time

from stello_graph.errors import InvalidInput

__all__ = ["DEFAULT_SPACE", "check_id", "check_space_id", "id_of", "key_of", "new_id"]

DEFAULT_SPACE = "default"

_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_SPACE_ID = re.compile(r"[a-z0-9-]{1,64}")
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]


def new_id() -> str:
    """A new id of 26 characters: 48 bits of time in milliseconds, then 80 random bits.

    Ids sort by the time they were made (to the millisecond), so that lists ordered by key are in
    order of creation.
    """
    return id_of(time.time_ns() // 1_000_000, secrets.randbits(80))


def id_of(milliseconds: int, rest: int) -> str:
    """The id of a time and of 80 more bits."""
    number = milliseconds << 80 | rest
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)])


def check_id(id: str, what: str = "id") -> str:
    """Returns `id`, or raises InvalidInput where it is not 1 to 128 of `[A-Za-z0-9._:-]`."""
    if not _ID.fullmatch(id):
        raise InvalidInput(f"{what} must be 1 to 128 of [A-Za-z0-9._:-]")
    return id


def check_space_id(id: str) -> str:
    """Returns `id`, or raises InvalidInput where it is not 1 to 64 of `[a-z0-9-]`."""
    if not _SPACE_ID.fullmatch(id):
        raise InvalidInput("a Space's id must be 1 to 64 of [a-z0-9-]")
    return id


def key_of(space_id: str, id: str) -> str:
    """The key under which `id` is stored: unique over all Spaces."""
    return f"{space_id}/{id}"

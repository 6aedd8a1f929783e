"""Ids made of what a file says, so that the same thing gets the same id each time."""

import hashlib
import re

__all__ = ["call_id", "derived", "name_of"]

# 36: a UUID. A format's name, two names and the longest suffix stay under the 128 of an id.
_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,35}")


def name_of(foreign_id: str) -> str:
    """A foreign id as part of ours: itself, or a hash where it has other characters or is too long.

    No two foreign ids give one name: hashes begin with a dot, which plain names never do. None holds a
    colon, so that names joined by colons stay apart too.
    """
    if _PLAIN.fullmatch(foreign_id):
        return foreign_id
    return "." + hashlib.sha256(foreign_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def derived(*names: str) -> str:
    """The id made of a format's name and names from `name_of`."""
    return ":".join(names)


def call_id(message_id: str) -> str:
    """The id of the tool call of a message, short and plain enough for every model provider."""
    return "call_" + hashlib.sha256(message_id.encode()).hexdigest()[:32]

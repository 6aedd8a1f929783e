"""Prompt caching: the marks that are legal, and what a cache would have read and written."""

import hashlib
import json
from typing import Any

from tests.model_server.refusal import illegal
from tests.model_server.shape import blocks_of
from tests.model_server.thinking import without_marks
from tests.model_server.tokens import count_block

__all__ = ["Cache", "check_marks"]

_MOST_MARKS = 4
_LOOK_BACK = 20


def check_marks(body: dict[str, Any]) -> None:
    """At most four marks, all `ephemeral`."""
    marks = [block["cache_control"] for block in _blocks(body) if block.get("cache_control")]
    if len(marks) > _MOST_MARKS:
        raise illegal(f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}.")
    for mark in marks:
        if not isinstance(mark, dict) or mark.get("type") != "ephemeral":
            raise illegal("cache_control.type: Input should be 'ephemeral'")


class Cache:
    """Remembers the prefixes that were marked. Without the least size that the real one has."""

    def __init__(self) -> None:
        self._entries: set[str] = set()

    def use(self, body: dict[str, Any]) -> tuple[int, int]:
        """The tokens read from the cache and those written to it."""
        digest = hashlib.sha256(body["model"].encode())
        hashes: list[str] = []
        ends: list[int] = []
        marked: list[int] = []
        for position, block in enumerate(_blocks(body)):
            bare = without_marks(block)
            digest.update(json.dumps(bare, sort_keys=True).encode())
            hashes.append(digest.hexdigest())
            ends.append((ends[-1] if ends else 0) + count_block(bare))
            if block.get("cache_control"):
                marked.append(position)
        found = [
            position
            for mark in marked
            for position in range(max(0, mark - _LOOK_BACK), mark + 1)
            if hashes[position] in self._entries
        ]
        read = ends[max(found)] if found else 0
        written = max(0, ends[marked[-1]] - read) if marked else 0
        self._entries.update(hashes[position] for position in marked)
        return read, written


def _blocks(body: dict[str, Any]) -> list[dict[str, Any]]:
    blocks = [*(body.get("tools") or []), *blocks_of(body.get("system") or [])]
    for message in body["messages"]:
        blocks += blocks_of(message["content"])
    return blocks

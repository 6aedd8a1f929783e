"""Thinking blocks: only those that were issued, unchanged, in order, after an unchanged prefix."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from tests.model_server.refusal import illegal
from tests.model_server.shape import blocks_of

__all__ = ["Issued", "check_thinking", "prefix_of", "without_marks"]

_THINKING = ("thinking", "redacted_thinking")
_INVALID = "Invalid `signature` in `thinking` block"
_MODIFIED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."
    " These blocks must remain as they were in the original response."
)
_BOUND = (
    f"{_INVALID}. The block is bound to a different conversation. Remove the block, or set"
    ' `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)


@dataclass
class _Block:
    block: dict[str, Any]
    model: str
    prefix: str
    previous: str | None


@dataclass
class Issued:
    """What thinking the server gave out: by signature, and by the calls that came in the same reply."""

    blocks: dict[str, _Block] = field(default_factory=dict)
    by_call: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def remember(self, request: dict[str, Any], content: list[dict[str, Any]]) -> None:
        """Notes the thinking of a reply to `request`."""
        previous = next(reversed([_key(block) for _, _, block in _all_thinking(request["messages"])]), None)
        prefix = prefix_of(request, len(request["messages"]))
        for block in content:
            if block["type"] in _THINKING:
                self.blocks[_key(block)] = _Block(dict(block), request["model"], prefix, previous)
                previous = _key(block)
        thoughts = [dict(block) for block in content if block["type"] in _THINKING]
        for block in content:
            if block["type"] == "tool_use":
                self.by_call[block["id"]] = thoughts


def check_thinking(body: dict[str, Any], issued: Issued) -> None:
    """Raises Refusal for a block that was not issued, was changed, or stands after something that changed.

    A block of another model is dropped in silence, as the provider does. So is the absence of all
    blocks of a reply; that of some is refused.
    """
    messages = body["messages"]
    previous: str | None = None
    for index, at, block in _all_thinking(messages):
        where = f"messages.{index}.content.{at}"
        known = issued.blocks.get(_key(block))
        latest = index == max(i for i, m in enumerate(messages) if m["role"] == "assistant")
        if known is None:
            raise illegal(f"{where}: {_INVALID}")
        if known.block != block:
            raise illegal(f"{where}: {_MODIFIED if latest else _INVALID}")
        if known.model != body["model"]:
            continue
        gap = previous is not None and known.previous != previous
        if known.prefix != prefix_of(body, index) or gap:
            raise illegal(f"{where}: {_BOUND}")
        previous = _key(block)
    _check_latest(messages, issued)


def prefix_of(body: dict[str, Any], end: int) -> str:
    """A hash of all that a thinking block in message `end` is bound to: system, tools, earlier messages."""
    messages = [[message["role"], *_told(message["content"])] for message in body["messages"][:end]]
    system = [without_marks(block) for block in blocks_of(body.get("system") or [])]
    tools = [without_marks(tool) for tool in body.get("tools") or []]
    return hashlib.sha256(json.dumps([system, tools, messages], sort_keys=True).encode()).hexdigest()


def without_marks(block: dict[str, Any]) -> dict[str, Any]:
    """The block without its cache_control, which is no part of what it says."""
    return {name: value for name, value in block.items() if name != "cache_control"}


def _told(content: Any) -> list[dict[str, Any]]:
    return [without_marks(block) for block in blocks_of(content) if block["type"] not in _THINKING]


def _check_latest(messages: list[dict[str, Any]], issued: Issued) -> None:
    index = max((i for i, message in enumerate(messages) if message["role"] == "assistant"), default=None)
    if index is None:
        return
    blocks = blocks_of(messages[index]["content"])
    found = [block for block in blocks if block["type"] in _THINKING]
    for block in blocks:
        given = issued.by_call.get(block.get("id", ""), [])
        if found and given and found[-len(given) :] != given:
            raise illegal(f"messages.{index}.content.0: {_MODIFIED}")


def _all_thinking(messages: list[dict[str, Any]]) -> list[tuple[int, int, dict[str, Any]]]:
    return [
        (index, at, block)
        for index, message in enumerate(messages)
        for at, block in enumerate(blocks_of(message["content"]))
        if block["type"] in _THINKING
    ]


def _key(block: dict[str, Any]) -> str:
    return str(block.get("signature") or block.get("data") or "")

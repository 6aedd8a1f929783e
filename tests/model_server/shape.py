"""The form of system, messages and content blocks."""

import itertools
import re
from typing import Any

from tests.model_server.refusal import illegal

__all__ = ["blocks_of", "check_messages", "check_system"]

_BLOCKS = {
    "user": ("text", "image", "document", "tool_result"),
    "assistant": ("text", "thinking", "redacted_thinking", "tool_use"),
}

_FIELDS: dict[str, tuple[set[str], set[str]]] = {
    "text": ({"text"}, {"cache_control", "citations"}),
    "image": ({"source"}, {"cache_control"}),
    "document": ({"source"}, {"cache_control", "title", "context", "citations"}),
    "tool_use": ({"id", "name", "input"}, {"cache_control", "caller"}),
    "tool_result": ({"tool_use_id"}, {"content", "is_error", "cache_control"}),
    "thinking": ({"thinking", "signature"}, set()),
    "redacted_thinking": ({"data"}, set()),
}

_SOURCES: dict[tuple[str, str], set[str]] = {
    ("image", "base64"): {"media_type", "data"},
    ("image", "url"): {"url"},
    ("image", "file"): {"file_id"},
    ("document", "base64"): {"media_type", "data"},
    ("document", "url"): {"url"},
    ("document", "file"): {"file_id"},
    ("document", "text"): {"media_type", "data"},
}

_MEDIA_TYPES = {
    ("image", "base64"): {"image/jpeg", "image/png", "image/gif", "image/webp"},
    ("document", "base64"): {"application/pdf"},
    ("document", "text"): {"text/plain"},
}

_ID = re.compile(r"[a-zA-Z0-9_-]+")


def blocks_of(content: Any) -> list[Any]:
    """The content as blocks: a string is one text block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def check_system(system: Any) -> None:
    """A string, or text blocks; none of them empty."""
    if system is None:
        return
    if not isinstance(system, str | list):
        raise illegal("system: Input should be a valid string or list")
    for index, block in enumerate(blocks_of(system)):
        if not isinstance(block, dict) or block.get("type") != "text":
            raise illegal(f"system.{index}.type: Input should be 'text'")
        _check_fields(f"system.{index}", block)
        _check_text("system", block)


def check_messages(messages: Any) -> None:
    """Roles that alternate, user first and last; content that is not empty; blocks of their role."""
    if not isinstance(messages, list):
        raise illegal("messages: Input should be a valid list")
    if not messages:
        raise illegal("messages: at least one message is required")
    for index, message in enumerate(messages):
        _check_message(index, message)
    _check_roles([message["role"] for message in messages])


def _check_message(index: int, message: Any) -> None:
    where = f"messages.{index}"
    if not isinstance(message, dict):
        raise illegal(f"{where}: Input should be a valid dictionary")
    for name in message:
        if name not in ("role", "content"):
            raise illegal(f"{where}.{name}: Extra inputs are not permitted")
    if message.get("role") not in _BLOCKS:
        raise illegal(f"{where}.role: Input should be 'user' or 'assistant'")
    if not isinstance(message.get("content"), str | list):
        raise illegal(f"{where}.content: Input should be a valid list")
    if not message["content"]:
        raise illegal(f"{where}: user messages must have non-empty content")
    for at, block in enumerate(blocks_of(message["content"])):
        _check_block(f"{where}.content.{at}", block, message["role"])


def _check_roles(roles: list[str]) -> None:
    if roles[0] != "user":
        raise illegal('messages: first message must use the "user" role')
    for first, second in itertools.pairwise(roles):
        if first == second:
            raise illegal(
                'messages: roles must alternate between "user" and "assistant", but found multiple'
                f' "{first}" roles in a row'
            )
    if roles[-1] != "user":
        raise illegal(
            "This model does not support assistant message prefill."
            " The conversation must end with a user message."
        )


def _check_block(where: str, block: Any, role: str) -> None:
    if not isinstance(block, dict) or block.get("type") not in _BLOCKS[role]:
        found = block.get("type") if isinstance(block, dict) else block
        raise illegal(f"{where}: Input tag '{found}' does not match any of the expected tags")
    _check_fields(where, block)
    match block["type"]:
        case "text":
            _check_text("messages", block)
        case "image" | "document":
            _check_source(where, block["type"], block["source"])
        case "tool_use":
            _check_id(f"{where}.tool_use.id", block["id"])
            if not isinstance(block["input"], dict):
                raise illegal(f"{where}.tool_use.input: Input should be a valid dictionary")
        case "tool_result":
            _check_id(f"{where}.tool_result.tool_use_id", block["tool_use_id"])
            _check_result(where, block)


def _check_fields(where: str, block: dict[str, Any]) -> None:
    required, optional = _FIELDS[block["type"]]
    for name in sorted(required - block.keys()):
        raise illegal(f"{where}.{block['type']}.{name}: Field required")
    for name in sorted(block.keys() - required - optional - {"type"}):
        raise illegal(f"{where}.{block['type']}.{name}: Extra inputs are not permitted")


def _check_text(where: str, block: dict[str, Any]) -> None:
    text = block["text"]
    if not isinstance(text, str):
        raise illegal(f"{where}: Input should be a valid string")
    if not text and block.get("cache_control"):
        raise illegal(f"{where}: cache_control cannot be set for empty text blocks")
    if not text:
        raise illegal(f"{where}: text content blocks must be non-empty")
    if not text.strip():
        raise illegal(f"{where}: text content blocks must contain non-whitespace text")


def _check_id(where: str, id: Any) -> None:
    if not isinstance(id, str) or not _ID.fullmatch(id):
        raise illegal(f"{where}: String should match pattern '^[a-zA-Z0-9_-]+$'")


def _check_result(where: str, block: dict[str, Any]) -> None:
    content = blocks_of(block.get("content") or [])
    for at, inner in enumerate(content):
        if not isinstance(inner, dict) or inner.get("type") not in ("text", "image", "document"):
            raise illegal(f"{where}.tool_result.content.{at}: Input tag is not one of those expected")
        _check_block(f"{where}.tool_result.content.{at}", inner, "user")
    if block.get("is_error") and not content:
        raise illegal(f"{where}.tool_result: content cannot be empty if `is_error` is true")
    if block.get("is_error") and any(inner["type"] != "text" for inner in content):
        raise illegal(f"{where}.tool_result: all content must be type `text` if `is_error` is true")


def _check_source(where: str, kind: str, source: Any) -> None:
    key = (kind, str(source.get("type")) if isinstance(source, dict) else "")
    if key not in _SOURCES:
        raise illegal(f"{where}.{kind}.source: Input should be a valid source")
    if source.keys() != _SOURCES[key] | {"type"} or not all(source.values()):
        raise illegal(f"{where}.{kind}.source.{key[1]}: fields should be {sorted(_SOURCES[key])}")
    legal = _MEDIA_TYPES.get(key)
    if legal and source["media_type"] not in legal:
        raise illegal(f"{where}.{kind}.source.{key[1]}.media_type: Input should be one of {sorted(legal)}")

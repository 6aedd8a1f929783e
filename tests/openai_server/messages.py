"""The form of messages, and the pairing of calls with results."""

import itertools
import json
from collections.abc import Collection
from typing import Any

from tests.openai_server.refusal import illegal

__all__ = ["check_messages"]

_FIELDS = {
    "system": {"content"},
    "user": {"content"},
    "assistant": {"content", "tool_calls"},
    "tool": {"content", "tool_call_id"},
}
_PARTS = {"text": "text", "image_url": "image_url", "file": "file"}
_LONGEST_ID = 40


def check_messages(
    messages: Any, *, alternates: bool, takes_thoughts: Collection[str], wants_thoughts: str | None
) -> None:
    """Known roles and fields, nothing empty, each call answered once and directly after it."""
    if not isinstance(messages, list):
        raise illegal("Invalid type for 'messages': expected an array of objects.", "messages")
    for index, message in enumerate(messages):
        _check_message(f"messages[{index}]", message, takes_thoughts)
    roles = [message["role"] for message in messages]
    if "system" in roles[1:]:
        raise illegal("System message must be at the beginning.")
    _check_pairs(messages)
    if wants_thoughts:
        _check_thoughts(messages, wants_thoughts)
    if alternates:
        _check_order(roles)


def _check_message(where: str, message: Any, takes_thoughts: Collection[str]) -> None:
    if not isinstance(message, dict) or message.get("role") not in _FIELDS:
        raise illegal(f"Invalid value for '{where}.role'.", f"{where}.role", "invalid_value")
    role = message["role"]
    known = _FIELDS[role] | {"role"} | (set(takes_thoughts) if role == "assistant" else set())
    for name in message:
        if name not in known:
            raise illegal(f"Unknown parameter: '{where}.{name}'.", f"{where}.{name}", "unknown_parameter")
    content = message.get("content")
    if content is None and role == "assistant" and message.get("tool_calls"):
        pass
    elif isinstance(content, str):
        _check_text(where, content)
    elif isinstance(content, list) and content and role in ("user", "system"):
        for at, part in enumerate(content):
            _check_part(f"{where}.content[{at}]", part)
    else:
        raise illegal(f"Invalid value for 'content' of '{where}': expected a string, got null.", where)
    if "tool_calls" in message:
        _check_calls(f"{where}.tool_calls", message["tool_calls"])
    if role == "tool":
        _check_id(f"{where}.tool_call_id", message.get("tool_call_id"))


def _check_text(where: str, text: Any) -> None:
    if not isinstance(text, str) or not text.strip():
        raise illegal(f"Invalid '{where}.content': text content must be non-empty", where)


def _check_part(where: str, part: Any) -> None:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind not in _PARTS or part.keys() != {"type", _PARTS[kind]}:
        raise illegal(f"Invalid value for '{where}'.", where, "invalid_value")
    if kind == "text":
        _check_text(where, part["text"])
    elif kind == "image_url":
        url = part["image_url"].get("url")
        if not isinstance(url, str) or not url.startswith(("data:image/", "https://", "http://")):
            raise illegal(
                f"Invalid '{where}.image_url.url'. Expected a valid URL.", where, "invalid_image_url"
            )
    elif not str(part["file"].get("file_data", "")).startswith("data:application/pdf;base64,"):
        raise illegal(f"Invalid '{where}.file.file_data'.", where)


def _check_calls(where: str, calls: Any) -> None:
    if not isinstance(calls, list) or not calls:
        raise illegal(f"Invalid '{where}': empty array. Expected an array with minimum length 1.", where)
    for at, call in enumerate(calls):
        if not isinstance(call, dict) or call.keys() != {"id", "type", "function"}:
            raise illegal(f"Missing required parameter: '{where}[{at}].function'.", where)
        _check_id(f"{where}[{at}].id", call["id"])
        function = call["function"]
        if call["type"] != "function" or function.keys() != {"name", "arguments"} or not function["name"]:
            raise illegal(f"Invalid value for '{where}[{at}]'.", where)
        try:
            legal = isinstance(json.loads(function["arguments"]), dict)
        except (TypeError, ValueError):
            legal = False
        if not legal:
            raise illegal(f"Invalid '{where}[{at}].function.arguments': expected a JSON object.", where)


def _check_id(where: str, id: Any) -> None:
    if not isinstance(id, str) or not id:
        raise illegal(f"Missing required parameter: '{where}'.", where, "missing_required_parameter")
    if len(id) > _LONGEST_ID:
        raise illegal(
            f"Invalid '{where}': string too long. Expected a string with maximum length {_LONGEST_ID}.",
            where,
            "string_above_max_length_of_id",
        )


def _check_pairs(messages: list[dict[str, Any]]) -> None:
    waiting: set[str] = set()
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            id = message["tool_call_id"]
            if id not in waiting:
                raise illegal(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message"
                    " with 'tool_calls'.",
                    f"messages.[{index}].role",
                )
            waiting.remove(id)
            continue
        _check_answered(waiting)
        calls = [call["id"] for call in message.get("tool_calls", ())]
        if len(set(calls)) < len(calls):
            raise illegal("Duplicate value for 'tool_call_id'.", f"messages[{index}].tool_calls")
        waiting = set(calls)
    _check_answered(waiting)


def _check_answered(waiting: set[str]) -> None:
    if waiting:
        raise illegal(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each"
            f" 'tool_call_id'. The following tool_call_ids did not have response messages: {sorted(waiting)}"
        )


def _check_thoughts(messages: list[dict[str, Any]], name: str) -> None:
    newest = max(i for i, message in enumerate(messages) if message["role"] == "user")
    for index, message in enumerate(messages[newest:], newest):
        if message.get("tool_calls") and not message.get(name):
            raise illegal(f"Missing `{name}` field in the assistant message at message index {index}")


def _check_order(roles: list[str]) -> None:
    """The rule of many chat templates: user first, no two neighbours of one role, and not the model last."""
    spoken = [role for role in roles if role != "system"]
    pairs = itertools.pairwise(spoken)
    if spoken[:1] != ["user"] or any(a == b and a != "tool" for a, b in pairs) or spoken[-1] == "assistant":
        raise illegal("Conversation roles must alternate user/assistant/user/assistant/...")

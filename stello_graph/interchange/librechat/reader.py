"""Reads a whole export, one conversation at a time."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from stello_graph.interchange.conversations import Malformed
from stello_graph.interchange.jsonstream import MAX_OBJECT, Source
from stello_graph.interchange.librechat.messages import utterance_of
from stello_graph.interchange.plan import ImportedConversation, Skipped
from stello_graph.interchange.text import label_of
from stello_graph.interchange.threads import Link, Thread, read_threads
from stello_graph.interchange.times import micros

__all__ = ["read"]

NO_MESSAGES = "it has no messages"
NIL = "00000000-0000-0000-0000-000000000000"
MAX_TAGS = 32

_Json = dict[str, Any]


def read(stream: Source, max_object: int = MAX_OBJECT) -> Iterator[ImportedConversation | Skipped]:
    """Reads one conversation, or an array of them."""
    return read_threads(stream, max_object, _thread, product="LibreChat", deep=True)


def _thread(entry: _Json) -> Thread:
    messages = entry.get("messages")
    if not isinstance(messages, list):
        raise Malformed(NO_MESSAGES)
    options = entry.get("options")
    options = options if isinstance(options, dict) else {}
    id, model = entry.get("conversationId"), options.get("model")
    return Thread(
        format="librechat",
        id=id if isinstance(id, str) and id else None,
        links=_links(messages),
        current=None,
        understand=partial(utterance_of, default_model=model if isinstance(model, str) else None),
        title=entry.get("title"),
        created_at=micros(options.get("createdAt")),
        updated_at=micros(options.get("updatedAt")),
        archived=options.get("isArchived") is True,
        tags=_tags(options.get("tags")),
        metadata=_metadata(entry, options),
    )


def _links(messages: list[Any]) -> dict[str, Link]:
    """All messages, nested or not, by their ids; those without one, or with one that was, by their place."""
    above: dict[str, str | None] = {}
    found: dict[str, Any] = {}
    below: dict[str, list[str]] = {}
    waiting: list[tuple[Any, str | None]] = [(message, None) for message in reversed(messages)]
    while waiting:
        message, holder = waiting.pop()
        key = _key(message, len(found), found)
        nested = message.get("children") if isinstance(message, dict) else None
        found[key], above[key], below[key] = message, _parent(message), []
        if holder is not None:
            below[holder].append(key)
        if isinstance(nested, list):
            waiting.extend((each, key) for each in reversed(nested))
    return {
        key: Link(message, above[key], tuple(below[key]), _seconds(message)) for key, message in found.items()
    }


def _key(message: Any, place: int, taken: _Json) -> str:
    id = message.get("messageId") if isinstance(message, dict) else None
    if isinstance(id, str) and id and id not in taken:
        return id
    key = f"message {place}"
    while key in taken:
        key += "'"
    return key


def _parent(message: Any) -> str | None:
    parent = message.get("parentMessageId") if isinstance(message, dict) else None
    return parent if isinstance(parent, str) and parent != NIL else None


def _seconds(message: Any) -> float | None:
    time = micros(message.get("createdAt")) if isinstance(message, dict) else None
    return None if time is None else time / 1_000_000


def _tags(told: Any) -> tuple[str, ...]:
    named = [tag for each in told if (tag := label_of(each))] if isinstance(told, list) else []
    return tuple(dict.fromkeys(named))[:MAX_TAGS]


def _metadata(entry: _Json, options: _Json) -> _Json | None:
    told = {"endpoint": entry.get("endpoint"), "model": options.get("model")}
    told |= {key: options.get(key) for key in ("chatGptLabel", "modelLabel", "promptPrefix", "agent_id")}
    kept = {key: value for key, value in told.items() if isinstance(value, str) and value}
    return {"librechat": kept} if kept else None

"""Reads a whole export, one conversation at a time."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from stello_graph.interchange.conversations import Found, Malformed, conversations
from stello_graph.interchange.jsonstream import MAX_OBJECT, Source
from stello_graph.interchange.librechat.messages import utterance_of
from stello_graph.interchange.reading import About
from stello_graph.interchange.text import label_of
from stello_graph.interchange.threads import Link, Thread
from stello_graph.interchange.times import micros

__all__ = ["read"]

NO_MESSAGES = "it has no messages"
NIL = "00000000-0000-0000-0000-000000000000"
MAX_TAGS = 32

_Json = dict[str, Any]


def read(stream: Source, max_object: int = MAX_OBJECT) -> Iterator[Found]:
    """Reads one conversation, or an array of them."""
    return conversations(
        stream,
        max_object,
        "LibreChat",
        lambda entry: entry.get("title"),
        lambda entry, where: _Conversation(entry, where).read(),
        deep=True,
    )


class _Conversation(Thread):
    format = "librechat"
    label = "LibreChat conversation"

    def __init__(self, entry: _Json, where: str) -> None:
        messages = entry.get("messages")
        if not isinstance(messages, list):
            raise Malformed(NO_MESSAGES)
        options = entry.get("options")
        options = options if isinstance(options, dict) else {}
        model = options.get("model")
        understand = partial(utterance_of, default_model=model if isinstance(model, str) else None)
        super().__init__(_about(entry, options), _links(messages), understand, where)


def _about(entry: _Json, options: _Json) -> About:
    id = entry.get("conversationId")
    return About(
        id=id if isinstance(id, str) and id else None,
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
        key: Link(message, above[key], tuple(below[key]), _time(message)) for key, message in found.items()
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


def _time(message: Any) -> int | None:
    return micros(message.get("createdAt")) if isinstance(message, dict) else None


def _tags(told: Any) -> tuple[str, ...]:
    named = [tag for each in told if (tag := label_of(each))] if isinstance(told, list) else []
    return tuple(dict.fromkeys(named))[:MAX_TAGS]


def _metadata(entry: _Json, options: _Json) -> _Json:
    told = {"endpoint": entry.get("endpoint"), "model": options.get("model")}
    told |= {key: options.get(key) for key in ("chatGptLabel", "modelLabel", "promptPrefix", "agent_id")}
    return {key: value for key, value in told.items() if isinstance(value, str) and value}

"""Reads a whole export, one chat at a time."""

from collections.abc import Iterator
from typing import Any

from stello_graph.interchange.conversations import Malformed
from stello_graph.interchange.jsonstream import MAX_OBJECT, Source
from stello_graph.interchange.openwebui.messages import utterance_of
from stello_graph.interchange.plan import ImportedConversation, Skipped
from stello_graph.interchange.text import label_of
from stello_graph.interchange.threads import Link, Thread, read_threads
from stello_graph.interchange.times import micros

__all__ = ["read"]

NO_MESSAGES = "it has no messages"
MAX_TAGS = 32

_METADATA = ("folder_id", "share_id")


def read(stream: Source, max_object: int = MAX_OBJECT) -> Iterator[ImportedConversation | Skipped]:
    """Reads an array of chats, or one chat."""
    return read_threads(stream, max_object, _thread, product="Open WebUI")


def _thread(entry: dict[str, Any]) -> Thread:
    chat = entry.get("chat")
    if not isinstance(chat, dict):
        raise Malformed(NO_MESSAGES)
    history = chat.get("history")
    history = history if isinstance(history, dict) else {}
    id = entry.get("id")
    return Thread(
        format="openwebui",
        id=id if isinstance(id, str) and id else None,
        links=_links(history.get("messages"), chat.get("messages")),
        current=history.get("currentId"),
        understand=utterance_of,
        title=entry.get("title") or chat.get("title"),
        created_at=micros(entry.get("created_at")),
        updated_at=micros(entry.get("updated_at")),
        archived=entry.get("archived") is True,
        tags=tuple(_tags(entry, chat)),
        metadata=_metadata(entry),
    )


def _links(messages: Any, row: Any) -> dict[str, Link]:
    """Of the tree of messages; of an old chat that has only a row of them, one after the other."""
    if isinstance(messages, dict):
        return {key: _link(message) for key, message in messages.items()}
    if not isinstance(row, list):
        raise Malformed(NO_MESSAGES)
    keys = [f"message{number}" for number in range(len(row))]
    above = [None, *keys]
    return {
        key: Link(message, parent, created_at=_seconds(message))
        for key, parent, message in zip(keys, above, row, strict=False)
    }


def _link(message: Any) -> Link:
    if not isinstance(message, dict):
        return Link(message, None)
    parent, children = message.get("parentId"), message.get("childrenIds")
    return Link(
        message,
        parent if isinstance(parent, str) else None,
        tuple(key for key in children if isinstance(key, str)) if isinstance(children, list) else (),
        _seconds(message),
    )


def _seconds(message: Any) -> float | None:
    time = micros(message.get("timestamp")) if isinstance(message, dict) else None
    return None if time is None else time / 1_000_000


def _tags(entry: dict[str, Any], chat: dict[str, Any]) -> Iterator[str]:
    """Each once. Old exports have the chat's own tags in the chat."""
    meta = entry.get("meta")
    told = meta.get("tags") if isinstance(meta, dict) else None
    told = told or chat.get("tags")
    named = [tag for tag in told if isinstance(tag, str)] if isinstance(told, list) else []
    pinned = ["pinned"] if entry.get("pinned") is True else []
    yield from list(dict.fromkeys(tag for each in (*pinned, *named) if (tag := label_of(each))))[:MAX_TAGS]


def _metadata(entry: dict[str, Any]) -> dict[str, Any] | None:
    kept = {key: entry[key] for key in _METADATA if isinstance(entry.get(key), str)}
    return {"openwebui": kept} if kept else None

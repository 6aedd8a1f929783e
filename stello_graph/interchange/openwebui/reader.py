"""Reads a whole export, one chat at a time."""

from collections.abc import Collection, Iterator
from typing import Any

from stello_graph.interchange.conversations import Found, Malformed, conversations
from stello_graph.interchange.jsonstream import MAX_OBJECT, Source
from stello_graph.interchange.openwebui.messages import utterance_of
from stello_graph.interchange.reading import About
from stello_graph.interchange.text import label_of
from stello_graph.interchange.threads import Link, Thread
from stello_graph.interchange.times import micros

__all__ = ["read"]

NO_MESSAGES = "it has no messages"
MAX_TAGS = 32

_METADATA = ("folder_id", "share_id")

_Json = dict[str, Any]


def read(stream: Source, max_object: int = MAX_OBJECT) -> Iterator[Found]:
    """Reads an array of chats, or one chat."""
    return conversations(
        stream, max_object, "Open WebUI", _title, lambda entry, where: _Chat(entry, where).read()
    )


class _Chat(Thread):
    format = "openwebui"
    label = "Open WebUI conversation"

    def __init__(self, entry: _Json, where: str) -> None:
        chat = _chat(entry)
        history = chat.get("history")
        history = history if isinstance(history, dict) else {}
        links = _links(history.get("messages"), chat.get("messages"))
        super().__init__(_about(entry, chat, history), links, utterance_of, where)


def _chat(entry: _Json) -> _Json:
    chat = entry.get("chat")
    return chat if isinstance(chat, dict) else {}


def _title(entry: _Json) -> Any:
    return entry.get("title") or _chat(entry).get("title")


def _about(entry: _Json, chat: _Json, history: _Json) -> About:
    id = entry.get("id")
    return About(
        id=id if isinstance(id, str) and id else None,
        title=_title(entry),
        current=history.get("currentId"),
        created_at=micros(entry.get("created_at")),
        updated_at=micros(entry.get("updated_at")),
        archived=entry.get("archived") is True,
        tags=tuple(_tags(entry, chat)),
        metadata={key: entry[key] for key in _METADATA if isinstance(entry.get(key), str)},
    )


def _links(messages: Any, row: Any) -> dict[str, Link]:
    """Of the tree of messages; of an old chat that has only a row of them, one after the other."""
    if isinstance(messages, dict) and (messages or not row):
        return {key: _link(message) for key, message in messages.items()}
    if not isinstance(row, list):
        raise Malformed(NO_MESSAGES)
    links: dict[str, Link] = {}
    above: str | None = None
    for place, message in enumerate(row):
        key = _key(message, place, links)
        links[key] = Link(message, above, created_at=_time(message))
        above = key
    return links


def _key(message: Any, place: int, taken: Collection[str]) -> str:
    """Its id; its place where it has none, or that of another one."""
    id = message.get("id") if isinstance(message, dict) else None
    key = id if isinstance(id, str) and id and id not in taken else f"message{place}"
    while key in taken:
        key += "'"
    return key


def _link(message: Any) -> Link:
    if not isinstance(message, dict):
        return Link(message, None)
    parent, children = message.get("parentId"), message.get("childrenIds")
    return Link(
        message,
        parent if isinstance(parent, str) else None,
        tuple(key for key in children if isinstance(key, str)) if isinstance(children, list) else (),
        _time(message),
    )


def _time(message: Any) -> int | None:
    return micros(message.get("timestamp")) if isinstance(message, dict) else None


def _tags(entry: _Json, chat: _Json) -> Iterator[str]:
    """Each once. Old exports have the chat's own tags in the chat."""
    meta = entry.get("meta")
    told = meta.get("tags") if isinstance(meta, dict) else None
    told = told or chat.get("tags")
    named = [tag for tag in told if isinstance(tag, str)] if isinstance(told, list) else []
    pinned = ["pinned"] if entry.get("pinned") is True else []
    yield from list(dict.fromkeys(tag for each in (*pinned, *named) if (tag := label_of(each))))[:MAX_TAGS]

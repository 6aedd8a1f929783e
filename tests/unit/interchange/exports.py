"""Building exports of ChatGPT, and looking at what was read from them."""

import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from stello_graph.ids import check_id
from stello_graph.interchange.chatgpt import read
from stello_graph.interchange.plan import ImportedConversation, ImportedSession, Skipped
from stello_graph.model.message import Draft, MessageRole

FIXTURES = Path(__file__).parents[2] / "fixtures" / "chatgpt"
BEGIN = 1_730_000_000

Json = dict[str, Any]


def message(id: str, role: str, content: Any, at: float | None = None, **more: Any) -> Json:
    """A message; a string becomes text content, `name` the author's name."""
    name = more.pop("name", None)
    content = {"content_type": "text", "parts": [content]} if isinstance(content, str) else content
    made = {"id": id, "author": {"role": role, "name": name}, "content": content, "recipient": "all"}
    return made | ({} if at is None else {"create_time": BEGIN + at}) | more


def user(id: str, text: Any = None, at: float | None = None, **more: Any) -> Json:
    return message(id, "user", text or f"question {id}", at, **more)


def reply(id: str, text: Any = None, at: float | None = None, **more: Any) -> Json:
    return message(id, "assistant", text or f"answer {id}", at, **more)


def call(id: str, text: Any = None, tool: str = "browser", **more: Any) -> Json:
    return message(id, "assistant", text or f"call {id}", recipient=tool, **more)


def output(id: str, text: Any = None, tool: str = "browser", **more: Any) -> Json:
    return message(id, "tool", text or f"output {id}", name=tool, **more)


def conversation(
    *nodes: tuple[str | None, Json | None], id: str = "c", current: str | None = None, **more: Any
) -> Json:
    """A conversation of pairs of a parent's key and a message; the keys are the messages' ids.

    `current` is the last node's unless given.
    """
    mapping: Json = {}
    for number, (parent, each) in enumerate(nodes):
        key = each["id"] if each else f"empty{number}"
        mapping[key] = {"id": key, "message": each, "parent": parent, "children": []}
    for key, node in mapping.items():
        if node["parent"] in mapping:
            mapping[node["parent"]]["children"].append(key)
    last = list(mapping)[-1] if mapping else None
    return {"title": "T", "conversation_id": id, "mapping": mapping, "current_node": current or last} | more


def chain(*messages: Json, **more: Any) -> Json:
    """A conversation without branches."""
    parents = [None, *(each["id"] for each in messages)]
    return conversation(*zip(parents, messages, strict=False), **more)


def read_all(*conversations: Any) -> list[ImportedConversation | Skipped]:
    return list(read(io.BytesIO(json.dumps(conversations).encode())))


def read_one(entry: Json) -> ImportedConversation:
    (found,) = read_all(entry)
    assert isinstance(found, ImportedConversation), found
    return found


def read_if_any(entry: Json) -> ImportedConversation | None:
    """The conversation, None where it holds no message."""
    *skipped, found = read_all(entry)
    assert all(isinstance(each, Skipped) for each in skipped)
    return found if isinstance(found, ImportedConversation) else None


def read_fixture(name: str) -> list[ImportedConversation | Skipped]:
    with (FIXTURES / f"{name}.json").open("rb") as stream:
        return list(read(stream))


def views(sessions: Iterable[ImportedSession]) -> dict[str, list[Draft]]:
    """All that each session shows, its source's messages first. Holds what every plan must keep."""
    found: dict[str, list[Draft]] = {}
    own: set[str] = set()
    for session in sessions:
        check_id(session.id)
        assert session.id not in found
        shared = found[session.source_id][: session.shared_messages] if session.source_id else []
        assert len(shared) == session.shared_messages
        assert session.shared_through == (shared[-1].id if shared else None)
        assert session.messages
        for each in session.messages:
            check_id(each.id)
            assert each.id not in own
            own.add(each.id)
        found[session.id] = [*shared, *session.messages]
        assert_whole_groups(found[session.id])
    return found


def assert_whole_groups(messages: Sequence[Draft]) -> None:
    """Each call is answered once, directly after it, and nothing else is an answer."""
    waiting: list[str] = []
    seen: set[str] = set()
    for each in messages:
        if each.role is MessageRole.TOOL:
            assert each.tool_call_id in waiting
            waiting.remove(each.tool_call_id)
            continue
        assert not waiting
        assert each.content.strip() or each.tool_calls
        waiting = [call.id for call in each.tool_calls]
        assert seen.isdisjoint(waiting)
        seen.update(waiting)
    assert not waiting


def texts(session: ImportedSession) -> list[str]:
    return [each.content for each in session.messages]


def ends(messages: Iterable[Draft]) -> list[str]:
    """The ids of messages without the conversation's part."""
    return [each.id.split(":", 2)[2] for each in messages]

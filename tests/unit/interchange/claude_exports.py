"""Building exports of Claude, and reading them."""

import io
import json
from pathlib import Path
from typing import Any

from stello_graph.interchange.claude import read
from stello_graph.interchange.plan import ImportedConversation, Skipped

FIXTURES = Path(__file__).parents[2] / "fixtures" / "claude"
NIL = "00000000-0000-4000-8000-000000000000"

Json = dict[str, Any]


def said(uuid: str, *content: Any, parent: str | None = None, sender: str = "assistant", **more: Any) -> Json:
    """A message; strings become blocks of text."""
    blocks = [{"type": "text", "text": each} if isinstance(each, str) else each for each in content]
    made: Json = {"uuid": uuid, "sender": sender, "text": "", "content": blocks}
    return made | ({} if parent is None else {"parent_message_uuid": parent}) | more


def asked(uuid: str, *content: Any, parent: str | None = None, **more: Any) -> Json:
    return said(uuid, *(content or (f"question {uuid}",)), parent=parent, sender="human", **more)


def use(name: str = "look", **more: Any) -> Json:
    return {"type": "tool_use", "name": name, "input": {"at": name}} | more


def result(text: str = "seen", **more: Any) -> Json:
    return {"type": "tool_result", "content": [{"type": "text", "text": text}]} | more


def conversation(*messages: Any, uuid: str = "c", **more: Any) -> Json:
    return {"uuid": uuid, "name": "T", "chat_messages": list(messages)} | more


def read_all(*conversations: Any) -> list[ImportedConversation | Skipped]:
    return list(read(io.BytesIO(json.dumps(conversations).encode())))


def read_one(entry: Json) -> ImportedConversation:
    (found,) = read_all(entry)
    assert isinstance(found, ImportedConversation), found
    return found


def read_fixture(name: str) -> list[ImportedConversation | Skipped]:
    with (FIXTURES / f"{name}.json").open("rb") as stream:
        return list(read(stream))

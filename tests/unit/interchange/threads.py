"""Looking at what was read from exports of Open WebUI and LibreChat, and building them."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from stello_graph.interchange import librechat, openwebui
from stello_graph.interchange.plan import ImportedConversation, Skipped
from stello_graph.model.message import Draft
from tests.unit.interchange.exports import views

Json = dict[str, Any]
Found = ImportedConversation | Skipped
Read = Callable[[BinaryIO], Iterator[Found]]

FOLDER = Path(__file__).parents[2] / "fixtures"
NIL = "00000000-0000-0000-0000-000000000000"
READERS: dict[str, Read] = {"openwebui": openwebui.read, "librechat": librechat.read}


def fixture(path: str) -> list[Found]:
    """What is read from a file, whose folder is named like its format."""
    with (FOLDER / f"{path}.json").open("rb") as stream:
        return list(READERS[path.split("/")[0]](stream))


def read_all(format: str, *entries: Any) -> list[Found]:
    return list(READERS[format](io.BytesIO(json.dumps(entries).encode())))


def read_one(format: str, entry: Any) -> ImportedConversation:
    (found,) = read_all(format, entry)
    assert isinstance(found, ImportedConversation), found
    return found


def asked(id: str, parent: str | None = None, content: Any = None, **more: Any) -> Json:
    """A message of Open WebUI; its `childrenIds` are empty."""
    said = f"question {id}" if content is None else content
    return {"id": id, "parentId": parent, "childrenIds": [], "role": "user", "content": said, **more}


def replied(id: str, parent: str | None, content: Any = None, **more: Any) -> Json:
    said = f"answer {id}" if content is None else content
    return asked(id, parent, said) | {"role": "assistant", "done": True} | more


def chat(*messages: Json, current: Any = None, **more: Any) -> Json:
    """A chat of Open WebUI; current is the last message's id unless given."""
    history = {
        "currentId": current or messages[-1]["id"],
        "messages": {each["id"]: each for each in messages},
    }
    return {"id": "c", "title": "T", "chat": {"history": history}, **more}


def line(id: str, parent: str | None, *, by_user: bool = False, text: Any = None, **more: Any) -> Json:
    """A message of LibreChat."""
    said = f"{'question' if by_user else 'answer'} {id}" if text is None else text
    return {
        "messageId": id,
        "parentMessageId": parent or NIL,
        "isCreatedByUser": by_user,
        "text": said,
        **more,
    }


def talk(*messages: Any, **more: Any) -> Json:
    """A conversation of LibreChat."""
    return {"conversationId": "c", "title": "T", "messages": list(messages), **more}


def shown(conversation: ImportedConversation) -> dict[str, list[str]]:
    """What each session shows, by the last part of its id; the first one is without a name."""
    return {
        id.partition(":c")[2].strip(":"): contents(view) for id, view in views(conversation.sessions).items()
    }


def contents(messages: list[Draft]) -> list[str]:
    return [each.content for each in messages]


def skips(conversation: ImportedConversation) -> dict[str, str]:
    """The reasons, by the message's key."""
    return {each.where.rpartition("message ")[2]: each.why for each in conversation.skipped}

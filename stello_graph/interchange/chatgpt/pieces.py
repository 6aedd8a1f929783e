"""What one message of the export is in a transcript."""

import json
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

import orjson

from stello_graph.interchange.chatgpt.content import text_and_rest
from stello_graph.interchange.conversations import MAX_MESSAGE, Malformed
from stello_graph.interchange.text import Cleaner, Unfit
from stello_graph.interchange.times import micros

__all__ = ["Kind", "Piece", "piece_of"]

_Json = dict[str, Any]

_INSTRUCTIONS = ("user_editable_context", "model_editable_context")
_ROLES = {
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}
_CUT_STATUS = ("in_progress", "finished_partial_completion")
_CUT_FINISH = ("interrupted", "max_tokens")
_PEOPLE = ("", "all", "user", "assistant")
_KEPT_METADATA = ("attachments", "citations", "content_references")


class Kind(Enum):
    """HIDDEN is no part of the transcript; CALL and OUTPUT are the two sides of a tool."""

    HIDDEN = auto()
    USER = auto()
    REPLY = auto()
    CALL = auto()
    OUTPUT = auto()


@dataclass(frozen=True, slots=True)
class Piece:
    """A message, understood.

    Attributes:
        tool: of a call the tool that it goes to, of an output the one that it comes from.
        is_cut: a reply or a call that was interrupted.
        is_hidden: of an output: it has a place only after a call.
        counts: of a hidden one: whether there was a message at all.
    """

    kind: Kind
    text: str = ""
    parts: Any = None
    tool: str = ""
    arguments: Any = None
    is_cut: bool = False
    is_error: bool = False
    model: str | None = None
    created_at: int | None = None
    is_hidden: bool = False
    counts: bool = True


def piece_of(message: Any, default_model: str | None, cleaner: Cleaner) -> Piece:
    """Understands a message.

    Raises:
        Malformed: it is none.
    """
    if message is None:
        return Piece(Kind.HIDDEN, counts=False)
    role, name = _author(message)
    metadata = message.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    is_hidden = _is_hidden(message, metadata)
    if is_hidden and role != "tool":
        return Piece(Kind.HIDDEN)
    try:
        piece = _read(message, role, name, metadata, cleaner)
    except (TypeError, Unfit) as error:
        raise Malformed(str(error)) from error
    if _size(piece) > MAX_MESSAGE:
        raise Malformed("longer than 16 MiB")
    if piece.kind is Kind.OUTPUT:
        return replace(piece, is_hidden=is_hidden or not piece.text.strip())
    if piece.kind is not Kind.CALL and not piece.text.strip():
        return Piece(Kind.HIDDEN)
    if role == "system":
        raise Malformed("a system message, which a transcript has no place for")
    if role == "user":
        return piece
    model = metadata.get("model_slug") or default_model
    return replace(
        piece,
        is_cut=_is_cut(message, metadata),
        model=cleaner.text(model) if isinstance(model, str) else None,
    )


def _read(message: _Json, role: str, name: str, metadata: _Json, cleaner: Cleaner) -> Piece:
    content, created_at = message.get("content"), micros(message.get("create_time"))
    text, rest = text_and_rest(content)
    text = cleaner.text(text)
    recipient = message.get("recipient")
    if role == "assistant" and isinstance(recipient, str) and recipient not in _PEOPLE:
        if isinstance(rest, dict) and rest.get("content_type") in ("code", "text"):
            rest = None
        arguments = cleaner.value(_arguments(text, content))
        tool, parts = cleaner.text(recipient), cleaner.value(_blocks(rest, metadata))
        return Piece(Kind.CALL, "", parts, tool=tool, arguments=arguments, created_at=created_at)
    kind = {"tool": Kind.OUTPUT, "user": Kind.USER}.get(role, Kind.REPLY)
    if kind is Kind.USER and not text.strip():
        text = cleaner.text(_file_names(metadata))
    is_error = isinstance(content, dict) and content.get("content_type") == "system_error"
    parts = cleaner.value(_blocks(rest, metadata))
    return Piece(kind, text, parts, tool=cleaner.text(name), is_error=is_error, created_at=created_at)


def _author(message: Any) -> tuple[str, str]:
    if not isinstance(message, dict):
        raise Malformed("its message is no object")
    author = message.get("author")
    role = author.get("role") if isinstance(author, dict) else None
    if not isinstance(author, dict) or not isinstance(role, str):
        raise Malformed("it has no author")
    if role not in _ROLES:
        raise Malformed("its author is none that is known")
    name = author.get("name")
    return _ROLES[role], name if isinstance(name, str) else ""


def _is_hidden(message: _Json, metadata: _Json) -> bool:
    content, weight = message.get("content"), message.get("weight")
    kind = content.get("content_type") if isinstance(content, dict) else None
    return (
        kind in _INSTRUCTIONS
        or metadata.get("is_visually_hidden_from_conversation") is True
        or (isinstance(weight, int | float) and weight == 0)
    )


def _is_cut(message: _Json, metadata: _Json) -> bool:
    finish = metadata.get("finish_details")
    how = finish.get("type") if isinstance(finish, dict) else None
    return message.get("status") in _CUT_STATUS or how in _CUT_FINISH or metadata.get("is_complete") is False


def _arguments(text: str, content: Any) -> _Json:
    """The object that a call's text is, else the text as `input`."""
    try:
        arguments = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        arguments = None
    if isinstance(arguments, dict):
        return arguments
    language = content.get("language") if isinstance(content, dict) else None
    known = {"language": language} if isinstance(language, str) and language not in ("", "unknown") else {}
    return ({"input": text} | known) if text.strip() else {}


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _blocks(rest: Any, metadata: _Json) -> list[_Json] | None:
    kept = {key: metadata[key] for key in _KEPT_METADATA if metadata.get(key)}
    block = ({} if rest is None else {"content": rest}) | kept
    return [{"type": "chatgpt"} | block] if block else None


def _file_names(metadata: _Json) -> str:
    files = metadata.get("attachments")
    names = [file.get("name") for file in files if isinstance(file, dict)] if isinstance(files, list) else []
    return "\n".join(f"[file: {name}]" for name in names if isinstance(name, str) and name)


def _size(piece: Piece) -> int:
    values = orjson.dumps((piece.parts, piece.arguments)) if piece.parts or piece.arguments else b""
    return len(piece.text.encode()) + len(values)

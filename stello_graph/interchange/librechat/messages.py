"""What one message of LibreChat says."""

from typing import Any

from stello_graph.interchange.conversations import Malformed
from stello_graph.interchange.times import micros
from stello_graph.interchange.utterances import Call, Piece, Text, Thought, Utterance, arguments_of
from stello_graph.model.message import MessageRole

__all__ = ["utterance_of"]

_Json = dict[str, Any]

NO_OBJECT = "it is no object"
NO_WRITER = "it does not say who wrote it"
ERROR = "an error in place of a reply"

_KEPT = ("files", "attachments", "plugin", "plugins")
_CUT = ("length", "max_tokens", "incomplete")


def utterance_of(message: Any, default_model: str | None) -> Utterance:
    """Understands a message.

    Raises:
        Malformed: it is none.
    """
    if not isinstance(message, dict):
        raise Malformed(NO_OBJECT)
    by_user = _is_by_user(message)
    pieces, rest = _content(message, is_error=bool(message.get("error")) and not by_user)
    rest |= {key: message[key] for key in _KEPT if message.get(key)}
    created_at = micros(message.get("createdAt"))
    if by_user:
        said = [piece for piece in pieces if isinstance(piece, Text)]
        names = [] if any(piece.text.strip() for piece in said) else [Text(_file_names(message.get("files")))]
        return Utterance(MessageRole.USER, (*said, *names), rest, created_at=created_at)
    if (message.get("error") or "errors" in rest) and not pieces:
        raise Malformed(ERROR)
    model = message.get("model") or default_model
    return Utterance(
        MessageRole.ASSISTANT,
        pieces,
        rest,
        is_cut=_is_cut(message, rest),
        model=model if isinstance(model, str) else None,
        created_at=created_at,
    )


def _is_by_user(message: _Json) -> bool:
    """Old messages have only the sender's name, which for people is always the same."""
    by_user, sender = message.get("isCreatedByUser"), message.get("sender")
    if isinstance(by_user, bool):
        return by_user
    if not isinstance(sender, str) or not sender:
        raise Malformed(NO_WRITER)
    return sender.lower() == "user"


def _is_cut(message: _Json, rest: _Json) -> bool:
    ended = message.get("finish_reason")
    return (
        message.get("unfinished") is True
        or bool(message.get("error"))
        or "errors" in rest
        or (isinstance(ended, str) and ended in _CUT)
    )


def _content(message: _Json, is_error: bool) -> tuple[tuple[Piece, ...], _Json]:
    """The pieces of `content`, with `text` where that has no words, and what they leave out.

    The text of a failed message is the error.
    """
    content, text = message.get("content"), message.get("text")
    pieces: list[Piece] = []
    others, errors = [], []
    has_words = False
    for part in content if isinstance(content, list) else []:
        if not part:
            continue
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "error":
            errors.append(part)
            continue
        piece = _piece(part)
        has_words = has_words or (isinstance(piece, Text) and piece.text.strip() != "")
        if piece is None:
            others.append(part)
            piece = Text(f"[{_medium(kind)}]")
        pieces.append(piece)
    if isinstance(text, str) and not (has_words or errors or is_error):
        pieces.append(Text(text))
    kept = {"content": others, "errors": errors}
    return tuple(pieces), {key: value for key, value in kept.items() if value}


def _piece(part: Any) -> Piece | None:
    if isinstance(part, str):
        return Text(part)
    if not isinstance(part, dict):
        return None
    kind = part.get("type")
    if kind in ("text", "think"):
        said = part.get(kind)
        said = said.get("value") if isinstance(said, dict) else said
        if isinstance(said, str):
            return Text(said) if kind == "text" else Thought(said)
    if kind == "tool_call" and isinstance(part.get("tool_call"), dict):
        return _call(part["tool_call"])
    return None


def _call(call: _Json) -> Call:
    """Plain, or as OpenAI's assistants have it, in `function`."""
    function = call.get("function")
    told = function if isinstance(function, dict) else call
    name, output = told.get("name"), told.get("output")
    arguments = told.get("args") if "args" in told else told.get("arguments")
    # An interrupted call has an empty output and its progress.
    is_open = not isinstance(output, str) or (not output and call.get("progress") != 1)
    return Call(
        name if isinstance(name, str) and name else "tool",
        arguments_of(arguments),
        None if is_open else output,
    )


def _medium(kind: Any) -> str:
    if not isinstance(kind, str):
        return "attachment"
    return next((medium for medium in ("image", "audio", "video") if medium in kind), kind)


def _file_names(files: Any) -> str:
    """What a message of files alone says."""
    named = [file for file in files if isinstance(file, dict)] if isinstance(files, list) else []
    return "\n".join(f"[file: {file.get('filename') or 'unnamed'}]" for file in named)

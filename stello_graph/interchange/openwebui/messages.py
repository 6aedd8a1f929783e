"""What one message of Open WebUI says."""

from typing import Any

from stello_graph.interchange.conversations import Malformed
from stello_graph.interchange.openwebui.details import pieces_of_content
from stello_graph.interchange.openwebui.output import pieces_of_output
from stello_graph.interchange.times import micros
from stello_graph.interchange.utterances import Piece, Text, Utterance
from stello_graph.model.message import MessageRole

__all__ = ["utterance_of"]

_Json = dict[str, Any]

NO_OBJECT = "it is no object"
NO_ROLE = "it has no role"
SYSTEM = "a system message, which a transcript has no place for"
UNKNOWN_ROLE = "its role is none that is known"
ERROR = "an error in place of a reply"

_KEPT = ("files", "sources", "citations", "code_executions", "embeds", "merged", "error")


def utterance_of(message: Any) -> Utterance:
    """Understands a message.

    Raises:
        Malformed: it is none.
    """
    if not isinstance(message, dict):
        raise Malformed(NO_OBJECT)
    role = message.get("role")
    if not isinstance(role, str) or not role:
        raise Malformed(NO_ROLE)
    if role not in ("user", "assistant"):
        raise Malformed(SYSTEM if role == "system" else UNKNOWN_ROLE)
    text, rest = _content(message)
    rest |= {key: message[key] for key in _KEPT if message.get(key)}
    return _asked(message, text, rest) if role == "user" else _replied(message, text, rest)


def _asked(message: _Json, text: str, rest: _Json) -> Utterance:
    said = (Text(text if text.strip() else _file_names(message.get("files"))),)
    return Utterance(MessageRole.USER, said, rest, created_at=micros(message.get("timestamp")))


def _replied(message: _Json, text: str, rest: _Json) -> Utterance:
    told, (output, unknown) = pieces_of_content(text), pieces_of_output(message.get("output"))
    model = message.get("model")
    utterance = Utterance(
        MessageRole.ASSISTANT,
        _truth(told, output),
        rest | ({"output": unknown} if unknown else {}),
        is_cut=message.get("done") is False or bool(message.get("error")),
        model=model if isinstance(model, str) and model else None,
        created_at=micros(message.get("timestamp")),
    )
    if utterance.is_empty and message.get("error"):
        raise Malformed(ERROR)
    return utterance


def _truth(told: tuple[Piece, ...], output: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """The output, unless the content says something else: then it was edited, or is all that was said."""
    if not output:
        return told
    if _words(told) in ("", _words(output)):
        return output
    if any(not isinstance(piece, Text) for piece in told):
        return told
    return (*(piece for piece in output if not isinstance(piece, Text)), *told)


def _words(pieces: tuple[Piece, ...]) -> str:
    """All that is said, without the space between."""
    return "".join(word for piece in pieces if isinstance(piece, Text) for word in piece.text.split())


def _content(message: _Json) -> tuple[str, _Json]:
    """The text of the content, and the content itself where it is not text alone."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or "", {}
    if not isinstance(content, list):
        raise Malformed("its content is neither text nor a list")
    return "\n".join(text for part in content if (text := _part(part))), {"content": content}


def _part(part: Any) -> str:
    if not isinstance(part, dict):
        return part if isinstance(part, str) else ""
    if isinstance(part.get("text"), str):
        return str(part["text"])
    kind = str(part.get("type") or "attachment")
    return "[image]" if "image" in kind else f"[{kind}]"


def _file_names(files: Any) -> str:
    """What a message of files alone says."""
    named = [file for file in files if isinstance(file, dict)] if isinstance(files, list) else []
    return "\n".join(_file_name(file) for file in named)


def _file_name(file: _Json) -> str:
    name = file.get("name")
    kind = "image" if file.get("type") == "image" else "file"
    return f"[{kind}: {name}]" if isinstance(name, str) and name else f"[{kind}]"

"""What a reply's `output` says: items as in OpenAI's Responses API."""

from typing import Any

from stello_graph.interchange.utterances import Call, Piece, Text, Thought, arguments_of

__all__ = ["pieces_of_output"]

_Json = dict[str, Any]

_RESULT = "function_call_output"


def pieces_of_output(output: Any) -> tuple[tuple[Piece, ...], list[Any]]:
    """The pieces in their order, each result in its call, and the items of other types."""
    items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    results = {_id(item): item for item in reversed(items) if item.get("type") == _RESULT and _id(item)}
    pieces: list[Piece] = []
    unknown: list[Any] = []
    for item in items:
        kind = item.get("type")
        if kind == "message":
            pieces.append(Text(_text(item.get("content"))))
        elif kind == "reasoning":
            pieces.append(Thought(_text(item.get("content")) or _text(item.get("summary"))))
        elif kind == "function_call":
            # A second call of that id has no result of its own.
            pieces.append(_call(item, results.pop(_id(item), None)))
        elif kind == "open_webui:code_interpreter":
            pieces.append(_code(item))
        elif kind != _RESULT:
            unknown.append(item)
    strays = list(results.values())
    return tuple(pieces), unknown + strays


def _id(item: _Json) -> str:
    id = item.get("call_id") or item.get("id")
    return id if isinstance(id, str) else ""


def _call(item: _Json, result: _Json | None) -> Call:
    name = item.get("name")
    return Call(
        name if isinstance(name, str) and name else "tool",
        arguments_of(item.get("arguments")),
        None if result is None else _text(result.get("output")),
        is_error=result is not None and result.get("status") in ("failed", "incomplete"),
    )


def _code(item: _Json) -> Call:
    result = item.get("output")
    if isinstance(result, dict):
        result = "\n".join(value for value in result.values() if isinstance(value, str) and value)
    code = item.get("code")
    return Call("code_interpreter", {"code": code}, result if isinstance(result, str) else None)


def _text(content: Any) -> str:
    """The text of a list of parts, or of text alone."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part if isinstance(part, str) else _of_part(part) for part in parts]
    return "\n".join(text for text in texts if text)


def _of_part(part: Any) -> str:
    text = part.get("text") if isinstance(part, dict) else None
    if isinstance(text, str):
        return text
    kind = part.get("type") if isinstance(part, dict) else None
    return f"[{kind}]" if isinstance(kind, str) else ""

"""Thoughts and tool calls that stand as HTML in the content of a reply."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import orjson

from stello_graph.interchange.utterances import Call, Piece, Text, Thought, arguments_of

__all__ = ["pieces_of_content"]

_BEGIN = re.compile(r'<details\s++type="(reasoning|tool_calls|code_interpreter)"')
_END = "</details>"
_ATTRIBUTE = re.compile(r'(?<![\w-])([\w-]++)="([^"]*+)"')
_QUOTED = re.compile(r"^> ?", re.MULTILINE)


def pieces_of_content(content: str) -> tuple[Piece, ...]:
    """What is said, thought and called, in its order. Other HTML is text; so is what has no end."""
    return tuple(piece for piece in _pieces(content) if isinstance(piece, Call) or piece.text.strip())


def _pieces(content: str) -> Iterator[Piece]:
    """In linear time: each search begins where the last one ended, and none is made twice in vain."""
    at = 0
    while begin := _BEGIN.search(content, at):
        body = content.find(">", begin.end()) + 1
        end = content.find(_END, body) if body else -1
        if end < 0:
            break
        yield Text(content[at : begin.start()].strip("\n"))
        yield _piece(begin[1], content[begin.end() : body - 1], content[body:end])
        at = end + len(_END)
    yield Text(content[at:].strip("\n") if at else content)


def _piece(kind: str, tag: str, body: str) -> Piece:
    # The values are escaped: a quote or a bracket in them does not end them.
    told = {name: unescape(value) for name, value in _ATTRIBUTE.findall(tag)}
    inner = _without_summary(body)
    if kind == "reasoning":
        return Thought(_QUOTED.sub("", unescape(inner)))
    result = told.get("result") or told.get("output") or unescape(inner)
    if kind == "code_interpreter":
        return Call(kind, {"code": unescape(inner)}, _result(told.get("output")))
    return Call(told.get("name") or "tool", arguments_of(told.get("arguments")), _result(result))


def _without_summary(body: str) -> str:
    begin, end = body.find("<summary>"), body.find("</summary>")
    if 0 <= begin < end:
        body = body[:begin] + body[end + len("</summary>") :]
    return body.strip()


def _result(text: str | None) -> str | None:
    """A result is written as JSON, mostly of a text."""
    if not text:
        return None
    try:
        value: Any = orjson.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str) else text

"""What the content blocks of a message say, as text and as parts."""

from collections.abc import Iterator
from typing import Any

from stello_graph.interchange.conversations import Malformed

__all__ = [
    "Block",
    "blocks_of",
    "is_call",
    "is_result",
    "is_thinking",
    "parts_of",
    "result_parts",
    "result_text",
    "text_of",
]

Block = dict[str, Any]

_UNSUPPORTED = "```\nThis block is not supported on your current device yet.\n```"
_THINKING = ("thinking", "redacted_thinking")
_SILENT = (*_THINKING, "files", "token_budget")
_MEDIA = ("image", "document")


def is_call(block: Block) -> bool:
    """Whether a tool is called."""
    return str(block.get("type")).endswith("tool_use")


def is_thinking(block: Block) -> bool:
    """Whether the model thinks to itself."""
    return block.get("type") in _THINKING


def is_result(block: Block) -> bool:
    """Whether a tool answers."""
    return str(block.get("type")).endswith("tool_result")


def blocks_of(message: dict[str, Any]) -> list[Block]:
    """The blocks of a message, also of one that has text alone; its files come last.

    Raises:
        Malformed: its content or its text is of no known form.
    """
    content, text = message.get("content"), message.get("text")
    if text is not None and not isinstance(text, str):
        raise Malformed("its text is no string")
    blocks = _blocks(content)
    if not any(block.get("type") == "text" and text_of(block).strip() for block in blocks):
        blocks.append({"type": "text", "text": (text or "").replace(_UNSUPPORTED, "")})
    blocks.extend({"type": "text", "text": file} for file in _files(message))
    if about := _about_files(message):
        blocks.append({"type": "files"} | about)
    return blocks


def _blocks(content: Any) -> list[Block]:
    if content is None:
        return []
    if isinstance(content, str | dict):
        content = [content]
    if not isinstance(content, list):
        raise Malformed("its content is no list")
    return [_block(each) for each in content if each is not None]


def _block(each: Any) -> Block:
    if isinstance(each, dict):
        return each
    return {"type": "text", "text": each} if isinstance(each, str) else {"type": "unknown", "value": each}


def text_of(block: Block) -> str:
    """What is to be read of a block, a placeholder for what cannot be said."""
    kind, text = block.get("type"), block.get("text")
    if kind in _SILENT:
        return ""
    if kind == "text" or (isinstance(text, str) and text.strip()):
        return text if isinstance(text, str) else ""
    told = [block[key] for key in ("title", "url") if isinstance(block.get(key), str)]
    return "\n".join(told) or f"[{kind if isinstance(kind, str) and kind else 'block'}]"


def parts_of(blocks: list[Block]) -> Iterator[Block]:
    """What the text leaves out."""
    for block in blocks:
        kind = block.get("type")
        kept = {key: value for key, value in block.items() if value not in (None, "", [], {})}
        if kind == "files":
            yield kept | {"type": "claude"}
        elif kind in _THINKING or (kind in _MEDIA and isinstance(block.get("source"), dict)):
            if len(kept) > 1:
                yield kept
        elif kind != "text":
            yield {"type": "claude", "content": kept}
        elif citations := kept.get("citations"):
            yield {"type": "claude", "citations": citations}


def result_text(block: Block) -> str:
    """What a tool answered."""
    texts = [text_of(each) for each in _result_blocks(block)]
    return "\n".join(text for text in texts if text)


def result_parts(block: Block) -> Iterator[Block]:
    """What the text of an answer leaves out."""
    yield from parts_of(_result_blocks(block))
    shown = {key: block[key] for key in ("display_content", "structured_content") if block.get(key)}
    if shown:
        yield {"type": "claude"} | shown


def _result_blocks(block: Block) -> list[Block]:
    content = block.get("content")
    return _blocks(content if isinstance(content, str | dict | list | None) else [content])


def _files(message: dict[str, Any]) -> Iterator[str]:
    names: set[str] = set()
    for each in _listed(message, "attachments"):
        name, text = _name(each), each.get("extracted_content")
        names.add(name)
        yield f"{_label(name)}\n{text}" if isinstance(text, str) and text.strip() else _label(name)
    for each in _listed(message, "files"):
        name = _name(each)
        if not name or name not in names:
            names.add(name)
            yield _label(name)


def _about_files(message: dict[str, Any]) -> dict[str, Any]:
    about = {
        "attachments": [
            {key: value for key, value in each.items() if key != "extracted_content"}
            for each in _listed(message, "attachments")
        ],
        "files": _listed(message, "files"),
    }
    return {key: value for key, value in about.items() if any(value)}


def _listed(message: dict[str, Any], key: str) -> list[dict[str, Any]]:
    files = message.get(key)
    return [each for each in files if isinstance(each, dict)] if isinstance(files, list) else []


def _name(file: dict[str, Any]) -> str:
    name = file.get("file_name")
    return name.strip() if isinstance(name, str) else ""


def _label(name: str) -> str:
    return f"[file: {name}]" if name else "[file]"

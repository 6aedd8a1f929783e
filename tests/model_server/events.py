"""An Answer as the API gives it: one message, or a stream of events."""

import json
from collections.abc import Iterator
from typing import Any

from tests.model_server.answers import Answer, Block
from tests.model_server.tokens import count_text

__all__ = ["deltas_of", "frame", "message_of", "opening", "output_tokens"]

Event = tuple[str, dict[str, Any]]


def message_of(answer: Answer, id: str, model: str, usage: dict[str, int]) -> dict[str, Any]:
    """The whole message of a request without streaming."""
    return {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": answer.blocks,
        "stop_reason": answer.stop_reason,
        "stop_sequence": None,
        "usage": usage,
    }


def opening(id: str, model: str, usage: dict[str, int]) -> Event:
    """The first event."""
    message = message_of(Answer(), id, model, {**usage, "output_tokens": 1})
    return "message_start", {"type": "message_start", "message": {**message, "stop_reason": None}}


def deltas_of(answer: Answer) -> Iterator[Event]:
    """The events of the blocks: start, deltas and stop of each."""
    for index, block in enumerate(answer.blocks):
        last = index == len(answer.blocks) - 1
        empty, deltas = _deltas(block, answer.chunk, answer.cut_json if last else None)
        start = {"type": "content_block_start", "index": index, "content_block": empty}
        yield "content_block_start", start
        for delta in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}


def output_tokens(answer: Answer) -> int:
    """What the reply costs."""
    return max(1, sum(count_text(json.dumps(block, ensure_ascii=False)) for block in answer.blocks))


def frame(event: tuple[str, Any]) -> bytes:
    """One server-sent event; data that is a string goes out raw."""
    name, data = event
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"event: {name}\ndata: {text}\n\n".encode()


def _deltas(block: Block, size: int, cut: int | None) -> tuple[Block, list[dict[str, Any]]]:
    match block["type"]:
        case "text":
            texts = _pieces(block["text"], size)
            return {**block, "text": ""}, [{"type": "text_delta", "text": text} for text in texts]
        case "thinking":
            thoughts = _pieces(block["thinking"], size)
            deltas = [{"type": "thinking_delta", "thinking": text} for text in thoughts]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
            return {"type": "thinking", "thinking": "", "signature": ""}, deltas
        case "tool_use":
            whole = json.dumps(block["input"], ensure_ascii=False)
            pieces = ["", *_pieces(whole[:cut], size)]
            return {**block, "input": {}}, [
                {"type": "input_json_delta", "partial_json": piece} for piece in pieces
            ]
    return block, []


def _pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]

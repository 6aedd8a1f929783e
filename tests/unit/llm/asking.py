"""Requests in the neutral form, and how to read a model's whole answer."""

from typing import Any

from stello_graph.model.context import ContextMessage, ContextOrigin, ModelRequest, Reply, TextChunk, ToolSpec
from stello_graph.model.message import ToolCall
from stello_graph.ports import LLM

MODEL = "claude-test"

SEARCH = ToolSpec(
    name="search",
    description="finds things",
    input_schema={"properties": {"query": {"type": "string"}}, "required": ["query"]},
)


def system(text: str, origin: ContextOrigin = ContextOrigin.SYSTEM_PROMPT) -> ContextMessage:
    return ContextMessage(role="system", content=text, origin=origin)


def user(text: str, parts: Any = None) -> ContextMessage:
    return ContextMessage(role="user", content=text, origin=ContextOrigin.TRANSCRIPT, parts=parts)


def assistant(text: str, *calls: ToolCall, parts: Any = None, model: str | None = MODEL) -> ContextMessage:
    return ContextMessage(
        role="assistant",
        content=text,
        origin=ContextOrigin.TRANSCRIPT,
        parts=parts,
        tool_calls=calls,
        model=model,
    )


def result(id: str, text: str, *, parts: Any = None, is_error: bool = False) -> ContextMessage:
    return ContextMessage(
        role="tool",
        content=text,
        origin=ContextOrigin.TRANSCRIPT,
        parts=parts,
        tool_call_id=id,
        tool_name="search",
        is_error=is_error,
    )


def request(*messages: ContextMessage, **fields: Any) -> ModelRequest:
    return ModelRequest(**{"model": MODEL, "messages": messages, "max_output_tokens": 100, **fields})


def replied(reply: Reply) -> ContextMessage:
    """What a turn makes of a reply in the next round."""
    return assistant(reply.text, *reply.tool_calls, parts=reply.parts, model=reply.model)


async def listen(llm: LLM, request: ModelRequest) -> tuple[list[str], Reply]:
    """The chunks and the reply of one call."""
    *chunks, last = [item async for item in llm.stream(request)]
    assert isinstance(last, Reply)
    return [chunk.text for chunk in chunks if isinstance(chunk, TextChunk)], last

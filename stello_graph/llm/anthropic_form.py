"""A ModelRequest in the form of Anthropic's Messages API. Pure.

A compiled request is legal already in what all providers share: its tool groups are whole and nothing is
blank. What is left to do here is this provider's own: neighbours of one role merged, a user at both ends,
ids in its alphabet, and thinking replayed only where it may be, since a block that was changed, moved or
made by another model is refused.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from stello_graph.llm.anthropic_blocks import media_blocks, result_content, text_block
from stello_graph.llm.anthropic_cache import mark_prefixes
from stello_graph.llm.call_ids import CallIds
from stello_graph.llm.stored_parts import THINKING, dicts_of, text_of
from stello_graph.model.context import ContextMessage, ModelRequest, ToolSpec
from stello_graph.model.message import ToolCall

__all__ = ["to_params", "window_of", "without_thinking"]

_OPENING = "(The assistant opens the conversation.)"
_CONTINUE = "(Please go on.)"

_SNAPSHOT = re.compile(r"-(\d{8}|latest)$")

_WINDOWS = {
    "claude-fable-5": 1_000_000,
    "claude-mythos-5": 1_000_000,
    "claude-opus-5": 1_000_000,
    "claude-sonnet-5": 1_000_000,
    "claude-haiku-5-5": 1_000_000,
    "claude-opus-4-8": 1_000_000,
    "claude-opus-4-7": 1_000_000,
    "claude-opus-4-6": 1_000_000,
    "claude-sonnet-4-6": 1_000_000,
    "claude-opus-4-5": 200_000,
    "claude-opus-4-1": 200_000,
    "claude-sonnet-4-5": 200_000,
    "claude-haiku-4-5": 200_000,
}


def window_of(model: str) -> int | None:
    """The context window of `model` in tokens, as documented in autumn 2026; None where it is not known."""
    for name, tokens in _WINDOWS.items():
        if model == name or model.startswith(f"{name}-"):
            return tokens
    return None


def to_params(request: ModelRequest) -> dict[str, Any]:
    """The parameters of `messages.create`, all but `stream`."""
    system = [m.content for m in request.messages if m.role == "system" and m.content.strip()]
    turns, anchor = _turns(request)
    params: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_output_tokens,
        "messages": [{"role": turn.role, "content": turn.content} for turn in turns],
    }
    if system:
        params["system"] = _system_blocks(system)
    if request.tools:
        params["tools"] = [_tool(tool) for tool in request.tools]
        if request.tool_choice == "none":
            params["tool_choice"] = {"type": "none"}
    mark_prefixes(params, anchor)
    return params


def without_thinking(params: dict[str, Any]) -> dict[str, Any]:
    """The same parameters without any thinking block: the same object where there is none."""
    if not any(block["type"] in THINKING for turn in params["messages"] for block in turn["content"]):
        return params
    messages = [
        {**turn, "content": [block for block in turn["content"] if block["type"] not in THINKING]}
        for turn in params["messages"]
    ]
    return {**params, "messages": messages}


@dataclass
class _Turn:
    role: Literal["user", "assistant"]
    content: list[dict[str, Any]] = field(default_factory=list)


def _turns(request: ModelRequest) -> tuple[list[_Turn], dict[str, Any] | None]:
    """The merged messages, and the last block before the newest user input."""
    conversation = [message for message in request.messages if message.role != "system"]
    newest = max((i for i, message in enumerate(conversation) if message.role == "user"), default=-1)
    turns: list[_Turn] = []
    anchor: dict[str, Any] | None = None
    ids = CallIds(64)
    for index, message in enumerate(conversation):
        if index == newest and turns:
            anchor = turns[-1].content[-1]
        match message.role:
            case "assistant":
                in_loop = index > newest and _is_same(message.model, request.model)
                _add(turns, "assistant", _assistant_blocks(message, ids, keep_thinking=in_loop))
            case "tool":
                _add(turns, "user", [_result_block(message, ids)])
            case _:
                _add(turns, "user", _user_blocks(message))
    if turns and turns[0].role == "assistant":
        turns.insert(0, _Turn("user", [text_block(_OPENING)]))
    if not turns or turns[-1].role == "assistant":
        turns.append(_Turn("user", [text_block(_CONTINUE)]))
    return turns, anchor


def _is_same(wrote: str | None, asked: str) -> bool:
    """Whether both names are of one model: asked by its alias, a model answers with its dated name."""
    return wrote is not None and _SNAPSHOT.sub("", wrote) == _SNAPSHOT.sub("", asked)


def _add(turns: list[_Turn], role: Literal["user", "assistant"], blocks: list[dict[str, Any]]) -> None:
    if not blocks:
        return
    if not turns or turns[-1].role != role:
        turns.append(_Turn(role))
    turns[-1].content.extend(blocks)


def _user_blocks(message: ContextMessage) -> list[dict[str, Any]]:
    text = message.content if message.content.strip() else text_of(message.parts)
    return media_blocks(message.parts) + ([text_block(text)] if text.strip() else [])


def _assistant_blocks(message: ContextMessage, ids: CallIds, *, keep_thinking: bool) -> list[dict[str, Any]]:
    blocks = _replayed(message) if keep_thinking else []
    if not blocks and message.content.strip():
        blocks = [text_block(message.content)]
    blocks.extend(_call_block(call, ids) for call in message.tool_calls)
    if blocks and blocks[-1]["type"] in THINKING:
        return []
    return blocks


def _replayed(message: ContextMessage) -> list[dict[str, Any]]:
    """Thinking and text in the model's own order; nothing where the parts do not say what `content` says."""
    blocks = [
        dict(part)
        for part in dicts_of(message.parts)
        if part.get("type") in THINKING
        or (part.get("type") == "text" and str(part.get("text") or "").strip())
    ]
    said = "".join(block["text"] for block in blocks if block["type"] == "text")
    if said.split() != message.content.split() or not any(block["type"] in THINKING for block in blocks):
        return []
    return blocks


def _call_block(call: ToolCall, ids: CallIds) -> dict[str, Any]:
    arguments = call.arguments if isinstance(call.arguments, dict) else {"arguments": call.arguments}
    return {"type": "tool_use", "id": ids.new(call.id), "name": call.name, "input": arguments}


def _result_block(result: ContextMessage, ids: CallIds) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": ids.current(result.tool_call_id or "")}
    content = result_content(result)
    if content:
        block["content"] = content
    if result.is_error:
        block["is_error"] = True
    return block


def _tool(tool: ToolSpec) -> dict[str, Any]:
    param: dict[str, Any] = {"name": tool.name, "input_schema": {"type": "object", **tool.input_schema}}
    if tool.description.strip():
        param["description"] = tool.description
    return param


def _system_blocks(parts: list[str]) -> list[dict[str, Any]]:
    """One block for the prompt, which many requests share, and one for the rest, which changes."""
    first, *rest = parts
    blocks = [text_block(first)]
    if rest:
        blocks.append(text_block("\n\n" + "\n\n".join(rest)))
    return blocks

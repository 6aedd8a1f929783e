"""A ModelRequest in the form of the Chat Completions API. Pure.

A compiled request is legal already in what all providers share: its tool groups are whole and nothing is
blank. What is left to do here is what this API and the chat templates of local servers want: one system
message, neighbours of one role merged, a user at both ends, results of tools as text directly after their
calls, and ids that are short and used once.
"""

import json
from typing import Any

from stello_graph.llm.call_ids import CallIds
from stello_graph.llm.openai_dialect import Dialect
from stello_graph.llm.openai_parts import media_parts, result_text, text_part
from stello_graph.llm.stored_parts import clean, dicts_of, text_of
from stello_graph.model.context import ContextMessage, ModelRequest, ToolSpec
from stello_graph.model.message import ToolCall

__all__ = ["REASONING", "to_params"]

REASONING = ("reasoning_content", "reasoning")
"""The fields in which servers send what a model thought, and want it back."""

_OPENING = "(The assistant opens the conversation.)"
_CONTINUE = "(Please go on.)"
_SHOWN = "(What the tools returned beside their text.)"
_LONGEST_ID = 40

Parts = list[dict[str, Any]]


def to_params(request: ModelRequest, dialect: Dialect) -> dict[str, Any]:
    """The parameters of `chat.completions.create`, all but `stream`."""
    params: dict[str, Any] = {
        "model": request.model,
        dialect.limit: request.max_output_tokens,
        "messages": [*_system(request), *_conversation(request, dialect)],
    }
    if dialect.counts:
        params["stream_options"] = {"include_usage": True}
    if request.tools:
        params["tools"] = [_tool(tool) for tool in request.tools]
        if request.tool_choice == "none":
            params["tool_choice"] = "none"
        if dialect.effort is not None:
            params["reasoning_effort"] = dialect.effort
    return params


def _system(request: ModelRequest) -> list[dict[str, Any]]:
    parts = [clean(m.content) for m in request.messages if m.role == "system" and m.content.strip()]
    return [{"role": "system", "content": "\n\n".join(parts)}] if parts else []


def _conversation(request: ModelRequest, dialect: Dialect) -> list[dict[str, Any]]:
    messages = [message for message in request.messages if message.role != "system"]
    newest = max((i for i, message in enumerate(messages) if message.role == "user"), default=-1)
    said = _Conversation()
    for index, message in enumerate(messages):
        match message.role:
            case "assistant":
                in_loop = index > newest and dialect.thoughts
                said.assistant(message, _thoughts(message) if in_loop else {})
            case "tool":
                said.result(message)
            case _:
                said.user(_user_parts(message))
    return said.finish()


class _Conversation:
    """The messages so far. Neighbours of one role become one message."""

    def __init__(self) -> None:
        self._messages: list[dict[str, Any]] = []
        self._ids = CallIds(_LONGEST_ID)
        self._shown: Parts = []

    def user(self, parts: Parts) -> None:
        """What the user said; images that tools returned go before it."""
        parts = [*self._shown, *parts]
        self._shown = []
        if not parts:
            return
        if self._role() != "user":
            self._messages.append({"role": "user", "content": []})
        self._messages[-1]["content"].extend(parts)

    def assistant(self, message: ContextMessage, thoughts: dict[str, str]) -> None:
        """A reply with its calls. One that says and calls nothing is left out."""
        self._show()
        text = clean(message.content) if message.content.strip() else ""
        calls = [_call(call, self._ids) for call in message.tool_calls]
        if not text and not calls:
            return
        if not self._messages:
            self._messages.append({"role": "user", "content": [text_part(_OPENING)]})
        if self._role() != "assistant":
            self._messages.append({"role": "assistant", "content": None})
        last = self._messages[-1]
        last["content"] = "\n\n".join(filter(None, (last["content"], text))) or None
        last.update(thoughts)
        if calls:
            last.setdefault("tool_calls", []).extend(calls)

    def result(self, message: ContextMessage) -> None:
        """The answer to a call. A tool message holds text alone, so images wait for the group's end."""
        id = self._ids.current(message.tool_call_id or "")
        media = [] if message.is_error else media_parts(message.parts)
        told = [result_text(message), *(part["text"] for part in media if part["type"] == "text")]
        shown = [part for part in media if part["type"] != "text"]
        self._messages.append({"role": "tool", "tool_call_id": id, "content": "\n\n".join(told)})
        if shown:
            self._shown += [*([] if self._shown else [text_part(_SHOWN)]), *shown]

    def finish(self) -> list[dict[str, Any]]:
        """The messages; text alone is a string, as some servers know no parts."""
        self._show()
        if self._role() in (None, "assistant"):
            self.user([text_part(_CONTINUE)])
        return [{**message, "content": _flat(message["content"])} for message in self._messages]

    def _role(self) -> str | None:
        return self._messages[-1]["role"] if self._messages else None

    def _show(self) -> None:
        if self._shown:
            self.user([])


def _user_parts(message: ContextMessage) -> Parts:
    text = message.content if message.content.strip() else text_of(message.parts)
    return media_parts(message.parts) + ([text_part(text)] if text.strip() else [])


def _thoughts(message: ContextMessage) -> dict[str, str]:
    """What the model thought, in the field in which its server sent it: some refuse a tool loop without."""
    for part in dicts_of(message.parts):
        if part.get("field") in REASONING and isinstance(part.get("thinking"), str):
            return {part["field"]: clean(part["thinking"])}
    return {}


def _call(call: ToolCall, ids: CallIds) -> dict[str, Any]:
    arguments = call.arguments if isinstance(call.arguments, dict) else {"arguments": call.arguments}
    written = clean(json.dumps(arguments, ensure_ascii=False))
    return {
        "id": ids.new(call.id),
        "type": "function",
        "function": {"name": call.name, "arguments": written},
    }


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function: dict[str, Any] = {
        "name": tool.name,
        "parameters": {"type": "object", "properties": {}, **tool.input_schema},
    }
    if tool.description.strip():
        function["description"] = tool.description
    return {"type": "function", "function": function}


def _flat(content: Any) -> Any:
    if isinstance(content, list) and all(part["type"] == "text" for part in content):
        return "\n\n".join(part["text"] for part in content)
    return content

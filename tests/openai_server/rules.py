"""What a legal request is."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from tests.model_server.tokens import count_text
from tests.openai_server.messages import check_messages
from tests.openai_server.refusal import Refusal, illegal
from tests.openai_server.tools import check_tool_choice, check_tools

__all__ = ["Refusal", "Rules", "check", "count"]

_FIELDS = (
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "model",
    "reasoning_effort",
    "stream",
    "stream_options",
    "tool_choice",
    "tools",
)


@dataclass
class Rules:
    """What differs from test to test.

    Attributes:
        models: those that exist; None lets every name pass.
        window: the longest prompt in tokens, by this server's own count.
        limits: the names that it knows for the most tokens of a reply.
        counts: it knows `stream_options`.
        effort_with_tools: the only effort with which it takes tools; None takes any.
        alternates: its chat template wants user and assistant by turns, as that of many local models.
        wants_thoughts: it refuses a tool loop whose thoughts are missing.
        takes_thoughts: the fields of thoughts that it knows in a request.
    """

    models: Collection[str] | None = None
    window: int = 128_000
    limits: Collection[str] = ("max_tokens", "max_completion_tokens")
    counts: bool = True
    effort_with_tools: str | None = None
    alternates: bool = True
    wants_thoughts: str | None = None
    takes_thoughts: Collection[str] = ("reasoning_content", "reasoning")


def check(body: Any, rules: Rules | None = None) -> int:
    """Returns the tokens of the prompt, or raises Refusal."""
    rules = rules or Rules()
    if not isinstance(body, dict):
        raise illegal("We could not parse the JSON body of your request.")
    _check_fields(body, rules)
    check_messages(
        body["messages"],
        alternates=rules.alternates,
        takes_thoughts=rules.takes_thoughts,
        wants_thoughts=rules.wants_thoughts,
    )
    check_tools(body.get("tools"))
    check_tool_choice(body)
    if body.get("tools") and rules.effort_with_tools not in (None, body.get("reasoning_effort")):
        raise illegal(
            f"Function tools with reasoning_effort are not supported for {body['model']} in"
            " /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to"
            " 'none'.",
            "reasoning_effort",
        )
    tokens = count(body)
    if tokens > rules.window:
        raise illegal(
            f"This model's maximum context length is {rules.window} tokens. However, your messages resulted"
            f" in {tokens} tokens. Please reduce the length of the messages.",
            "messages",
            "context_length_exceeded",
        )
    return tokens


def count(body: dict[str, Any]) -> int:
    """The tokens of a whole prompt, by script, not by any tokenizer."""
    texts = [json.dumps(part, ensure_ascii=False) for part in (*body["messages"], *body.get("tools", ()))]
    return sum(map(count_text, texts))


def _check_fields(body: dict[str, Any], rules: Rules) -> None:
    for name in body:
        if name not in _FIELDS:
            raise illegal(f"Unrecognized request argument supplied: {name}")
    for name in ("model", "messages"):
        if not body.get(name):
            raise illegal(f"Missing required parameter: '{name}'.", name, "missing_required_parameter")
    if not isinstance(body["model"], str):
        raise illegal("Invalid type for 'model': expected a string.", "model", "invalid_type")
    if rules.models is not None and body["model"] not in rules.models:
        message = f"The model `{body['model']}` does not exist or you do not have access to it."
        raise Refusal(404, message, code="model_not_found")
    if "stream_options" in body and not rules.counts:
        raise illegal("Unrecognized request argument supplied: stream_options")
    if "stream_options" in body and not body.get("stream"):
        raise illegal("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
    _check_limits(body, rules)


def _check_limits(body: dict[str, Any], rules: Rules) -> None:
    given = [name for name in ("max_tokens", "max_completion_tokens") if name in body]
    if len(given) > 1:
        raise illegal("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
    for name in given:
        if name not in rules.limits:
            other = "max_tokens" if name == "max_completion_tokens" else "max_completion_tokens"
            raise illegal(
                f"Unsupported parameter: '{name}' is not supported with this model. Use '{other}' instead.",
                name,
                "unsupported_parameter",
            )
        if not isinstance(body[name], int) or isinstance(body[name], bool) or body[name] < 1:
            raise illegal(f"Invalid '{name}': expected an integer of 1 at least.", name)

"""What the Messages API accepts. Pure: `check` raises Refusal, or returns the request's tokens."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from tests.model_server.cache import check_marks
from tests.model_server.refusal import Refusal, illegal
from tests.model_server.shape import check_messages, check_system
from tests.model_server.thinking import Issued, check_thinking
from tests.model_server.tokens import count
from tests.model_server.tools import check_pairs, check_tool_choice, check_tools

__all__ = ["Refusal", "Rules", "check"]

_REQUIRED = ("model", "max_tokens", "messages")
_OPTIONAL = (
    "cache_control",
    "metadata",
    "output_config",
    "service_tier",
    "stop_sequences",
    "stream",
    "system",
    "thinking",
    "tool_choice",
    "tools",
)


@dataclass
class Rules:
    """What differs from test to test.

    Attributes:
        models: those that exist; None lets every name pass.
        window: the longest prompt in tokens, by this server's own count.
        max_output: the most that `max_tokens` may ask for.
        snapshot: what a reply adds to the model's name, as an alias is answered with a dated name.
    """

    models: Collection[str] | None = None
    window: int = 200_000
    max_output: int = 128_000
    snapshot: str = ""


def check(body: Any, rules: Rules | None = None, issued: Issued | None = None) -> int:
    """Returns the tokens of the prompt, or raises Refusal."""
    rules = rules or Rules()
    if not isinstance(body, dict):
        raise illegal("Input should be a valid dictionary")
    _check_fields(body, rules)
    check_system(body.get("system"))
    check_messages(body["messages"])
    check_tools(body.get("tools"))
    check_tool_choice(body.get("tool_choice"), body.get("tools"))
    check_pairs(body["messages"], body.get("tools"))
    check_marks(body)
    check_thinking(body, Issued() if issued is None else issued)
    tokens = count(body)
    if tokens > rules.window:
        raise illegal(f"prompt is too long: {tokens} tokens > {rules.window} maximum")
    return tokens


def _check_fields(body: dict[str, Any], rules: Rules) -> None:
    for name in _REQUIRED:
        if name not in body:
            raise illegal(f"{name}: Field required")
    for name in body:
        if name not in (*_REQUIRED, *_OPTIONAL):
            raise illegal(f"{name}: Extra inputs are not permitted")
    if not isinstance(body["model"], str) or not body["model"]:
        raise illegal("model: String should have at least 1 character")
    if rules.models is not None and body["model"] not in rules.models:
        raise Refusal(404, "not_found_error", f"model: {body['model']}")
    tokens = body["max_tokens"]
    if not isinstance(tokens, int) or isinstance(tokens, bool):
        raise illegal("max_tokens: Input should be a valid integer")
    if tokens < 1:
        raise illegal("max_tokens: Input should be greater than or equal to 1")
    if tokens > rules.max_output:
        raise illegal(
            f"max_tokens: {tokens} > {rules.max_output}, which is the maximum allowed number of output tokens"
            f" for {body['model']}"
        )
    if not isinstance(body.get("stream", False), bool):
        raise illegal("stream: Input should be a valid boolean")

"""What failures of a Chat Completions server mean here. It knows statuses and words, not the SDK."""

import re

from stello_graph.errors import ContextTooLong, ModelError, ModelRateLimited, ModelRefused, ModelUnavailable
from stello_graph.llm.failures import reason

__all__ = ["model_error"]

_STATUS_OF_WORD = {
    "invalid_request_error": 400,
    "content_filter": 400,
    "context_length_exceeded": 400,
    "exceed_context_size_error": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "permission_error": 403,
    "model_not_found": 404,
    "insufficient_quota": 429,
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "server_error": 500,
}

_TOO_LONG_WORDS = ("context_length_exceeded", "exceed_context_size_error", "string_above_max_length")

# The sentences of OpenAI, vLLM, llama.cpp and gateways.
_TOO_LONG = re.compile(
    r"maximum context length|context length exceeded|context window|available context size"
    r"|maximum model length|prompt is too long|input (is )?too long"
    r"|exceeds? (the )?(maximum|max) (input|context)"
)

_SPENT_WORDS = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")


def model_error(
    status: int,
    type: str | None = None,
    said: str | None = None,
    *,
    model: str,
    code: str | None = None,
    wait: float | None = None,
    secret: str = "",
) -> ModelError:
    """The error of ours for a failed request.

    Args:
        status: HTTP status; 200 for an error inside a stream, where `code` and `type` decide.
        type: the provider's word for the kind of error.
        said: the provider's sentence, which never gets out with `secret` in it.
        code: the provider's word for the cause; some servers put a status there.
        wait: seconds after which the provider wants to be asked again.
    """
    words = (code or "", type or "")
    if status < 400:
        status = _status_inside(words)
    details = {} if wait is None else {"retryAfter": wait}
    because = reason(said, secret)
    if any(word in _SPENT_WORDS for word in words):
        return ModelRefused(f"the provider's quota is used up{because}")
    if status == 429:
        return ModelRateLimited("the model provider asks to slow down", **details)
    # llama.cpp and Ollama give 500 for a prompt beyond the window as well.
    if status == 413 or _is_too_long(words, said):
        return ContextTooLong(f"the request is longer than the window of {model}{because}")
    if status >= 500 or status in (408, 409, 425, 499):
        return ModelUnavailable(f"the model provider is overloaded or down ({status})", **details)
    return ModelRefused(_refusal(status, model, because))


def _status_inside(words: tuple[str, str]) -> int:
    code = words[0]
    if code.isdigit() and 400 <= int(code) < 600:
        return int(code)
    return next((_STATUS_OF_WORD[word] for word in words if word in _STATUS_OF_WORD), 500)


def _refusal(status: int, model: str, because: str) -> str:
    match status:
        case 401:
            return "the model provider does not accept the key; check OPENAI_API_KEY"
        case 403:
            return f"the key may not use {model}; check its permissions at the provider"
        case 402:
            return f"the provider refuses for want of payment{because}"
        case 404:
            return f'the provider knows no model "{model}", or the base URL is wrong'
        case 400 | 422:
            return f"the provider calls the request illegal{because}"
    return f"the provider answered with status {status}; check the base URL"


def _is_too_long(words: tuple[str, str], said: str | None) -> bool:
    return any(word in _TOO_LONG_WORDS for word in words) or bool(_TOO_LONG.search((said or "").lower()))

"""What Anthropic's failures mean here. The only place that decides it; it knows statuses, not the SDK."""

from stello_graph.errors import ContextTooLong, ModelError, ModelRateLimited, ModelRefused, ModelUnavailable
from stello_graph.llm.failures import reason

__all__ = ["is_about_thinking", "model_error"]

_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


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
        status: HTTP status; 200 for an error inside a stream, where `type` decides.
        type: the provider's word for the kind of error.
        said: the provider's sentence, which never gets out with `secret` in it.
        code: the provider's stable code of the cause, where it gives one.
        wait: seconds after which the provider wants to be asked again.
    """
    if status < 400:
        status = _STATUS_OF_TYPE.get(type or "", 500)
    details = {} if wait is None else {"retryAfter": wait}
    because = reason(said, secret)
    if status == 429 and code and code.endswith("spend_limit_reached"):
        return ModelRefused(f"the provider's spend limit is reached{because}")
    if status == 429:
        return ModelRateLimited("the model provider asks to slow down", **details)
    if status >= 500 or status in (408, 409, 499):
        return ModelUnavailable(f"the model provider is overloaded or down ({status})", **details)
    if status == 413 or (status == 400 and _is_too_long(said)):
        return ContextTooLong(f"the request is longer than the window of {model}{because}")
    return ModelRefused(_refusal(status, model, because))


def is_about_thinking(status: int, said: str | None) -> bool:
    """Whether the provider refuses the thinking blocks that were replayed.

    It does so where anything before them has changed since (a summary, a label, the tools).
    """
    return (
        status == 400 and said is not None and "thinking" in said and ("block" in said or "signature" in said)
    )


def _refusal(status: int, model: str, reason: str) -> str:
    match status:
        case 401:
            return "the model provider does not accept the key; check ANTHROPIC_API_KEY"
        case 403:
            return f"the key may not use {model}; check its permissions at the provider"
        case 402:
            return f"the provider refuses for want of payment{reason}"
        case 404:
            return f'the provider knows no model "{model}", or the base URL is wrong'
        case 400 | 422:
            return f"the provider calls the request illegal{reason}"
    return f"the provider answered with status {status}; check the base URL"


def _is_too_long(said: str | None) -> bool:
    text = (said or "").lower()
    return "prompt is too long" in text or "exceed context limit" in text

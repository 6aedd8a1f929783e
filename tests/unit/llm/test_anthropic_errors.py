import pytest

from stello_graph.errors import ModelRateLimited, ModelRefused, ModelUnavailable
from stello_graph.llm.anthropic_errors import is_about_thinking, model_error


def test_a_spend_limit_does_not_get_better_by_waiting() -> None:
    error = model_error(429, "rate_limit_error", model="m", code="contract_spend_limit_reached")

    assert type(error) is ModelRefused


def test_details() -> None:
    assert model_error(429, model="m", wait=3.0).details == {"retryAfter": 3.0}
    assert model_error(529, model="m", wait=3.0).details == {"retryAfter": 3.0}
    assert model_error(429, model="m").details == {}


@pytest.mark.parametrize("status", [200, 500, 502, 503, 504, 524, 529, 409, 499])
def test_what_may_get_better(status: int) -> None:
    assert type(model_error(status, model="m")) is ModelUnavailable


def test_inside_a_stream_the_type_decides() -> None:
    assert type(model_error(200, "rate_limit_error", model="m")) is ModelRateLimited
    assert type(model_error(200, "authentication_error", model="m")) is ModelRefused


@pytest.mark.covers("W43")
@pytest.mark.parametrize(
    "said", ["key my-secret-1 is wrong", "got sk-ant-abc123_DEF", "header was 'Bearer abc.def'"]
)
def test_secrets_stay_inside(said: str) -> None:
    for status in (400, 401, 402, 403, 404, 413, 422, 429, 500):
        text = str(model_error(status, None, said, model="m", secret="my-secret-1"))
        assert not any(secret in text for secret in ("my-secret-1", "abc123", "abc.def"))


def test_a_long_sentence_is_cut() -> None:
    assert len(str(model_error(400, None, "x" * 5000, model="m"))) < 400


@pytest.mark.parametrize(
    ("status", "said", "expected"),
    [
        (400, "messages.1.content.0: Invalid `signature` in `thinking` block", True),
        (
            400,
            "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
            True,
        ),
        (400, "prompt is too long", False),
        (400, None, False),
        (401, "Invalid `signature` in `thinking` block", False),
    ],
)
def test_is_about_thinking(status: int, said: str | None, expected: bool) -> None:
    assert is_about_thinking(status, said) is expected

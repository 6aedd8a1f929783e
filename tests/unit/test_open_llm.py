"""Which model the settings choose, and the sentence where they cannot."""

from typing import Any

import pytest

from stello_graph.bootstrap import open_llm
from stello_graph.errors import InvalidInput
from stello_graph.settings import Settings

KEY = {"OPENAI_API_KEY": "sk-openai"}
ANTHROPIC = {"ANTHROPIC_API_KEY": "sk-ant"}
LOCAL = {"OPENAI_BASE_URL": "http://localhost:8000/v1"}
OPENAI = {"STELLO_MODEL_PROVIDER": "openai"}


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> Any:
    def choose(environment: dict[str, str]) -> Any:
        for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return open_llm(Settings())

    return choose


@pytest.mark.parametrize(
    ("environment", "kind", "model"),
    [
        ({}, "OfflineLLM", "offline"),
        (KEY, "OfflineLLM", "offline"),
        ({**KEY, **ANTHROPIC}, "AnthropicLLM", "claude-sonnet-5-5"),
        ({**ANTHROPIC, "STELLO_MODEL_PROVIDER": "offline"}, "OfflineLLM", "offline"),
        ({**ANTHROPIC, "STELLO_MODEL": "claude-x"}, "AnthropicLLM", "claude-x"),
        ({**OPENAI, **KEY, **ANTHROPIC}, "OpenAILLM", "gpt-6-sol"),
        ({**OPENAI, **KEY, **LOCAL}, "OpenAILLM", "gpt-6-sol"),
        ({**OPENAI, **LOCAL, "STELLO_MODEL": "qwen3"}, "OpenAILLM", "qwen3"),
    ],
)
def test_the_provider(chosen: Any, environment: dict[str, str], kind: str, model: str) -> None:
    llm = chosen(environment)

    assert (type(llm).__name__, llm.default_model) == (kind, model)


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"STELLO_MODEL_PROVIDER": "anthropic"}, "needs ANTHROPIC_API_KEY"),
        (OPENAI, "needs OPENAI_API_KEY, or OPENAI_BASE_URL"),
        ({**OPENAI, **LOCAL}, "Name it by STELLO_MODEL"),
        ({**OPENAI, "OPENAI_API_KEY": "schlüssel"}, "the OpenAI key"),
    ],
)
def test_what_is_missing(chosen: Any, environment: dict[str, str], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        chosen(environment)

"""Fixtures: a plugin, `pytest_plugins = ["tests.model_server.fixtures"]`. The last one is autouse."""

from collections.abc import Iterator

import pytest

from tests.model_server.server import ModelServer

__all__ = ["model_server", "no_live_models", "running_model_server"]

_NOWHERE = "http://127.0.0.1:9"
"""The discard port, where nothing listens: whatever forgets its base URL is refused at once."""


@pytest.fixture(scope="session")
def running_model_server() -> Iterator[ModelServer]:
    """One server for the whole run."""
    with ModelServer() as server:
        yield server


@pytest.fixture
def model_server(running_model_server: ModelServer) -> Iterator[ModelServer]:
    """The strict Messages API, as new."""
    running_model_server.reset()
    yield running_model_server
    running_model_server.reset()


@pytest.fixture(autouse=True)
def no_live_models(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test, and no process that one starts, reaches a real model or uses a real key."""
    # It clears the environment, so it must not come after this.
    if "_clean_environment" in request.fixturenames:
        request.getfixturevalue("_clean_environment")
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, _NOWHERE)

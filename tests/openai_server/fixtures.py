"""Fixtures: a plugin, `pytest_plugins = ["tests.openai_server.fixtures"]`."""

from collections.abc import Iterator

import pytest

from tests.openai_server.server import OpenAIServer

__all__ = ["openai_server", "running_openai_server"]


@pytest.fixture(scope="session")
def running_openai_server() -> Iterator[OpenAIServer]:
    """One server for the whole run."""
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def openai_server(running_openai_server: OpenAIServer) -> Iterator[OpenAIServer]:
    """The strict Chat Completions API, as new."""
    running_openai_server.reset()
    yield running_openai_server
    running_openai_server.reset()

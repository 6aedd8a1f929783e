"""The server that the star map's tests look at."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from tests.e2e.processes import Server

__all__ = ["Ask", "MapServer"]


@dataclass(frozen=True)
class Ask:
    """A GraphQL client without asyncio, which playwright's own loop shuts out."""

    http: httpx.Client

    def __call__(self, document: str, **variables: Any) -> Any:
        """The data; errors fail the test."""
        answer = self.http.post("/graphql", json={"query": document, "variables": variables}).json()
        assert "errors" not in answer, answer
        return answer["data"]

    def session(self, label: str, **fields: Any) -> str:
        """A new session's id."""
        made = self(
            "mutation($input: CreateSessionInput!) { createSession(input: $input) { id } }",
            input={"label": label, **fields},
        )
        return str(made["createSession"]["id"])

    def say(self, session: str, *texts: str) -> None:
        """Takes turns in a session."""
        for text in texts:
            self(
                "mutation($input: SendInput!) { send(input: $input) { status } }",
                input={"sessionId": session, "content": text},
            )

    def fork(self, source: str, label: str, **fields: Any) -> str:
        """The id of a new fork."""
        made = self(
            "mutation($input: ForkInput!) { fork(input: $input) { id } }",
            input={"sourceSessionId": source, "label": label, **fields},
        )
        return str(made["fork"]["id"])


@dataclass(frozen=True)
class MapServer:
    """A running server."""

    process: Server

    @property
    def url(self) -> str:
        """Its address, without a slash at the end."""
        return self.process.url

    @contextmanager
    def client(self, key: str | None = None) -> Iterator[Ask]:
        """Somebody who asks it, with a key where one is given."""
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        with httpx.Client(base_url=self.url, headers=headers, timeout=60) as http:
            yield Ask(http)

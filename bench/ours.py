"""The service, asked over HTTP."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import orjson

from bench.beside import same_answers
from bench.drive import Measured, drive
from bench.forest import TURN_SESSIONS, Forest
from bench.http_client import Client, request
from bench.items import Item

__all__ = ["Ours"]

_TOLD = request("/bench")


class Ours:
    """The contestant that the budget is about."""

    def __init__(self, client: Client, forest: Forest) -> None:
        self._client = client
        self._forest = forest

    async def measure(self, item: Item, concurrency: int, seconds: float) -> Measured:
        """One run. Every answer to a read equals the first byte for byte, which is checked in whole."""
        ask = self._writer(item) if item.writes else await self._reader(item)
        before = await self._told()
        measured = await drive(ask, concurrency, seconds)
        return replace(measured, cpu=(await self._told())["cpu"] - before["cpu"])

    async def statements(self, document: str, variables: dict[str, Any]) -> dict[str, int]:
        """What one request asks of the database: how often which query."""
        await self._told()
        body = await self._client.fetch(_graphql(document, variables))
        if b'"errors"' in body:
            raise RuntimeError(body.decode())
        counts: dict[str, int] = (await self._told())["statements"]
        return counts

    async def _reader(self, item: Item) -> Callable[[int], Awaitable[None]]:
        asked = _graphql(item.document, item.variables(0))
        return await same_answers(self._client, asked, lambda body: self._check(item, body))

    def _writer(self, item: Item) -> Callable[[int], Awaitable[None]]:
        requests = [_graphql(item.document, item.variables(number)) for number in range(TURN_SESSIONS)]

        async def ask(number: int) -> None:
            self._check(item, await self._client.fetch(requests[number % TURN_SESSIONS]))

        return ask

    def _check(self, item: Item, body: bytes) -> None:
        answer = orjson.loads(body)
        if "errors" in answer or item.rows(answer["data"]) != item.expected(self._forest):
            raise RuntimeError(f"{item.title}: the service answers with something else: {body[:500]!r}")

    async def _told(self) -> Any:
        return orjson.loads(await self._client.fetch(_TOLD))


def _graphql(document: str, variables: dict[str, Any]) -> bytes:
    return request("/graphql", {"query": document, "variables": variables})

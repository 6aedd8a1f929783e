"""Who is asked for the same beside ours, over HTTP, by the same client."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import orjson

from bench.drive import Measured, drive
from bench.forest import Forest
from bench.http_client import Client, request
from bench.items import ITEMS, Rows

__all__ = ["Beside", "Endpoint", "same_answers"]

_TOLD = request("/bench")


async def same_answers(
    client: Client, asked: bytes, check: Callable[[bytes], None]
) -> Callable[[int], Awaitable[None]]:
    """What asks again and again; every answer has to equal the first, which is checked."""
    first = await client.fetch(asked)
    check(first)

    async def ask(_number: int) -> None:
        if await client.fetch(asked) != first:
            raise RuntimeError(f"not always the same is answered to {asked[-500:]!r}")

    return ask


class Beside(ABC):
    """A contestant that only reads."""

    def __init__(self, client: Client, forest: Forest) -> None:
        self._client = client
        self._forest = forest

    async def measure(self, letter: str, concurrency: int, seconds: float) -> Measured:
        """One run. Every answer equals the first byte for byte, which is checked in whole."""
        ask = await same_answers(self._client, self._asked(letter), lambda body: self._check(letter, body))
        before = await self._cpu()
        measured = await drive(ask, concurrency, seconds)
        return replace(measured, cpu=await self._cpu() - before)

    @abstractmethod
    def _asked(self, letter: str) -> bytes:
        """The request."""

    @abstractmethod
    def _rows(self, letter: str, answer: Any) -> Rows | None:
        """What was answered, in the form of all contestants; None where it was refused."""

    def _check(self, letter: str, body: bytes) -> None:
        if self._rows(letter, orjson.loads(body)) != ITEMS[letter].expected(self._forest):
            raise RuntimeError(
                f"{ITEMS[letter].title}: {type(self).__name__} answers with something else: {body[:500]!r}"
            )

    async def _cpu(self) -> float:
        told: dict[str, float] = orjson.loads(await self._client.fetch(_TOLD))
        return told["cpu"]


class Endpoint(Beside):
    """The floor over HTTP, which `endpoint.py` serves."""

    def _asked(self, letter: str) -> bytes:
        return request(f"/{letter}")

    def _rows(self, letter: str, answer: Any) -> Rows:
        return ITEMS[letter].raw_rows(answer)

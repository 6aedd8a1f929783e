"""The library that a user would take instead, on Node, with the best documents for `peer/schema.graphql`."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import orjson

from bench.drive import Measured, drive
from bench.forest import Forest
from bench.http_client import Client, request
from bench.items import ITEMS
from bench.ours import same_answers

__all__ = ["PEER_ITEMS", "Peer"]

_STAR = "id label status childCount turnCount"
_BY_INDEX = "sort: [{index: ASC}]"
_TOLD = request("/bench")


@dataclass(frozen=True)
class PeerItem:
    """How the peer is asked, and what of its data is as the driver's."""

    document: str
    found: Callable[[Any], Any]


PEER_ITEMS = {
    "a": PeerItem(
        "query($key: String!) { topologyNodes(where: {parentKey: {eq: $key}}, "
        f"{_BY_INDEX}, limit: 100) {{ {_STAR} }} }}",
        lambda data: data["topologyNodes"],
    ),
    "b": PeerItem(
        "query($key: String!) { topologyNodes(where: {parentKey: {eq: $key}}, "
        f"{_BY_INDEX}, limit: 8) {{ {_STAR} children({_BY_INDEX}, limit: 8) {{ {_STAR} "
        f"children({_BY_INDEX}, limit: 8) {{ {_STAR} }} }} }} }}",
        lambda data: data["topologyNodes"],
    ),
    "c": PeerItem(
        "query($prefix: String!) { sessions(where: {key: {startsWith: $prefix}}, sort: [{key: ASC}], "
        "limit: 500) { id label status memory updatedAt } }",
        lambda data: data["sessions"],
    ),
    "d": PeerItem(
        "query($key: String!) { newest(key: $key, count: 50) { id seq role content createdAt } }",
        lambda data: data["newest"],
    ),
    "e": PeerItem(
        "query($space: String!) { map(space: $space) { id parentId label status role depth index childCount "
        "turnCount lastActiveAt refFrom refTo } }",
        lambda data: data["map"],
    ),
    "h": PeerItem(
        "query($key: String!) { topologyNodes(where: {key: {eq: $key}}) { ancestors { id label } } }",
        lambda data: data["topologyNodes"][0]["ancestors"],
    ),
}


class Peer:
    """The contestant beside ours over HTTP."""

    def __init__(self, client: Client, forest: Forest, space: str) -> None:
        self._client = client
        self._forest = forest
        self._space = space

    async def measure(self, letter: str, concurrency: int, seconds: float) -> Measured:
        """One run. Every answer equals the first byte for byte, which is checked in whole."""
        ask = await same_answers(self._client, self._asked(letter), lambda body: self._check(letter, body))
        before = await self._cpu()
        measured = await drive(ask, concurrency, seconds)
        return replace(measured, cpu=await self._cpu() - before)

    def _asked(self, letter: str) -> bytes:
        variables = {
            "space": self._space,
            "prefix": f"{self._space}/",
            "key": f"{self._space}/{ITEMS[letter].id}",
        }
        return request("/graphql", {"query": PEER_ITEMS[letter].document, "variables": variables})

    def _check(self, letter: str, body: bytes) -> None:
        answer, item = orjson.loads(body), ITEMS[letter]
        if "errors" not in answer:
            rows = item.raw_rows(PEER_ITEMS[letter].found(answer["data"]))
            if rows == item.expected(self._forest):
                return
        raise RuntimeError(f"{item.title}: the peer answers with something else: {body[:500]!r}")

    async def _cpu(self) -> float:
        told: dict[str, float] = orjson.loads(await self._client.fetch(_TOLD))
        return told["cpu"]

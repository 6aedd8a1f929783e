"""The library that a user would take instead, on Node, with the best documents for `peer/schema.graphql`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench.beside import Beside
from bench.forest import Forest
from bench.http_client import Client, request
from bench.items import ITEMS, Rows

__all__ = ["PEER_ITEMS", "Peer"]

_STAR = "id label status childCount turnCount"
_BY_INDEX = "sort: [{index: ASC}]"


@dataclass(frozen=True)
class PeerItem:
    """How the peer is asked, and what of its data is as the driver's."""

    document: str
    found: Callable[[Any], Any]


PEER_ITEMS = {
    "a": PeerItem(
        "query($key: String!) { topologyNodes(where: {key: {eq: $key}}) { "
        f"children({_BY_INDEX}, limit: 100) {{ {_STAR} }} }} }}",
        lambda data: data["topologyNodes"][0]["children"],
    ),
    "b": PeerItem(
        "query($key: String!) { topologyNodes(where: {key: {eq: $key}}) { "
        f"children({_BY_INDEX}, limit: 8) {{ {_STAR} children({_BY_INDEX}, limit: 8) {{ {_STAR} "
        f"children({_BY_INDEX}, limit: 8) {{ {_STAR} }} }} }} }} }}",
        lambda data: data["topologyNodes"][0]["children"],
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


class Peer(Beside):
    """The library."""

    def __init__(self, client: Client, forest: Forest, space: str) -> None:
        super().__init__(client, forest)
        self._space = space

    def _asked(self, letter: str) -> bytes:
        variables = {
            "space": self._space,
            "prefix": f"{self._space}/",
            "key": f"{self._space}/{ITEMS[letter].id}",
        }
        return request("/graphql", {"query": PEER_ITEMS[letter].document, "variables": variables})

    def _rows(self, letter: str, answer: Any) -> Rows | None:
        if "errors" in answer:
            return None
        return ITEMS[letter].raw_rows(PEER_ITEMS[letter].found(answer["data"]))

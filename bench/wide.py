"""One tree as large as is asked for, whose rows are made while they are planted."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bench.forest import STARTED, said
from stello_graph.store.indexing import label_terms, message_terms

__all__ = ["FAN_OUT", "Wide", "node_id"]

FAN_OUT = 8
_LABELS = ("Harbour", "Mooring", "Lantern", "Compass", "Tide", "Reef", "Anchor", "Sextant")


@dataclass(frozen=True)
class Wide:
    """The tree of one Space: each node has eight children as long as there are nodes.

    Attributes:
        talks: how many messages which session has, by its number.
    """

    space: str
    nodes: int
    talks: dict[int, int] = field(default_factory=dict)

    def node_rows(self) -> Iterator[dict[str, Any]]:
        """Parents before children, by index."""
        depth, level_ends = 0, 1
        for number in range(self.nodes):
            if number == level_ends:
                depth, level_ends = depth + 1, level_ends * FAN_OUT + 1
            parent = None if number == 0 else node_id((number - 1) // FAN_OUT)
            quoted = "null" if parent is None else f'"{parent}"'
            label = f"{_LABELS[number % FAN_OUT]} {number}"
            yield {
                "key": self.key(node_id(number)),
                "space": self.space,
                "id": node_id(number),
                "parentId": parent,
                "parentKey": self.space if parent is None else self.key(parent),
                "rootId": node_id(0),
                "label": label,
                "terms": label_terms(self.space, label),
                "memory": None,
                "depth": depth,
                "index": 0 if number == 0 else (number - 1) % FAN_OUT,
                "childCount": max(0, min(FAN_OUT, self.nodes - 1 - FAN_OUT * number)),
                "turnCount": number % 7,
                "eventSeq": number + 1,
                "eventKey": self.key(f"event-{number:07}"),
                "data": f'{{"parentId":{quoted},"label":"{label}"}}',
                "at": STARTED,
            }

    def said_rows(self, number: int) -> Iterator[dict[str, Any]]:
        """The messages of a session."""
        session_id = node_id(number)
        for one in said(self.talks[number], f"{session_id}-said"):
            yield {
                "key": self.key(one.id),
                "id": one.id,
                "sessionId": session_id,
                "sessionKey": self.key(session_id),
                "seq": one.seq,
                "role": one.role,
                "content": one.content,
                "terms": message_terms(self.space, one.role, one.content),
                "at": STARTED + one.seq,
            }

    def key(self, id: str) -> str:
        return f"{self.space}/{id}"


def node_id(number: int) -> str:
    return f"wide-{number:07}"

"""Which output answers which tool call. The export has no ids for that: it goes by tool and order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stello_graph.interchange.chatgpt.pieces import Kind, Piece
from stello_graph.interchange.nodes import Node

__all__ = ["Group", "groups_of", "units_of"]


@dataclass(eq=False, slots=True)
class Group:
    """What belongs together: a call and its outputs, outputs without a call, or one message of text.

    Attributes:
        batch: the calls that follow each other without a pause have the same number.
    """

    tool: str = ""
    call: Node | None = None
    outputs: list[Node] = field(default_factory=list)
    said: Node | None = None
    batch: int = 0


def groups_of(nodes: Sequence[Node], pieces: Mapping[Node, Piece]) -> list[Group]:
    """Groups the nodes of one path, in the order of the groups' first nodes.

    An output answers the first open call of its tool in the latest batch. Else, right after another
    output of its tool, it goes on with that one. Else it answers the first open call of its tool, else
    the first one of the latest batch, else the first one; where none is open, it stands alone.
    What an output belongs to depends on what comes before it alone, so that it stays when a path grows.
    """
    groups: list[Group] = []
    open_calls: list[Group] = []
    latest: Group | None = None
    before, batch = Kind.HIDDEN, 0
    for node in nodes:
        piece = pieces[node]
        if piece.kind is Kind.CALL:
            batch += before is not Kind.CALL
            open_calls.append(Group(piece.tool, call=node, batch=batch))
            groups.append(open_calls[-1])
        elif piece.kind is Kind.OUTPUT:
            latest = _answered(open_calls, piece.tool, batch, latest if before is Kind.OUTPUT else None)
            if latest is None:
                latest = Group(piece.tool or "tool")
                groups.append(latest)
            latest.outputs.append(node)
            open_calls = [group for group in open_calls if group is not latest]
        else:
            groups.append(Group(said=node))
        before = piece.kind
    return groups


def _answered(open_calls: list[Group], tool: str, batch: int, latest: Group | None) -> Group | None:
    same = [group for group in open_calls if _is_same(group.tool, tool)]
    near = [group for group in same if group.batch == batch]
    goes_on = [latest] if latest and _is_same(latest.tool, tool) else []
    any_near = [group for group in open_calls if group.batch == batch]
    return next(iter(near or goes_on or same or any_near or open_calls), None)


def _is_same(tool: str, other: str) -> bool:
    """Whether both mean one tool: `web` and `web.run` do, and no name is any."""
    return not tool or not other or tool.partition(".")[0] == other.partition(".")[0]


def units_of(nodes: tuple[Node, ...], pieces: Mapping[Node, Piece]) -> list[tuple[Node, ...]]:
    """Cuts `nodes` wherever no group is cut. Each unit alone falls into the same groups as here."""
    places = {node: place for place, node in enumerate(nodes)}
    last_of: dict[Node, int] = {}
    for group in groups_of(nodes, pieces):
        members = [node for node in (group.call, group.said, *group.outputs) if node]
        last = max(places[node] for node in members)
        last_of.update(dict.fromkeys(members, last))
    units, start, reach = [], 0, 0
    for place, node in enumerate(nodes):
        reach = max(reach, last_of[node])
        if place == reach:
            units.append(nodes[start : place + 1])
            start = reach = place + 1
    return units

"""Makes the tree of steps: of what can be seen, with tool calls and their outputs joined.

A run is a call and what follows it along one path until it is answered. Where paths part within a run,
each makes its own steps of what it has of it, and shares those that come out the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stello_graph.interchange.branches import Step
from stello_graph.interchange.chatgpt.drafts import Drafts
from stello_graph.interchange.chatgpt.groups import units_of
from stello_graph.interchange.chatgpt.pieces import Kind, Piece
from stello_graph.interchange.names import derived
from stello_graph.interchange.nodes import Node

__all__ = ["StepTree"]

# A run that is left at each of its messages is copied as often: without a bound, quadratic.
MAX_RUN = 50


@dataclass(eq=False, slots=True)
class _Run:
    """A run that may go on.

    Attributes:
        balance: calls less outputs.
        end: the last of its steps, once a path has left it here.
        longer: the runs that go on from here.
    """

    above: Step | None
    nodes: tuple[Node, ...]
    balance: int
    end: Step | None = None
    longer: list["_Run"] = field(default_factory=list)

    def takes(self, kind: Kind) -> bool:
        """Whether it goes on with a message of that kind."""
        if kind is Kind.USER or len(self.nodes) == MAX_RUN:
            return False
        return kind is Kind.OUTPUT or self.balance > 0


_BALANCE = {Kind.CALL: 1, Kind.OUTPUT: -1}


class StepTree:
    """The steps of one conversation.

    Attributes:
        steps: in their order.
        left_out: how many hidden or empty outputs answer no call.
    """

    def __init__(
        self, conversation_id: str, nodes: Sequence[Node], pieces: Mapping[Node, Piece], began_at: int | None
    ) -> None:
        self.left_out = 0
        self._id = conversation_id
        self._pieces = pieces
        self._places: dict[Node, Step | _Run | None] = {}
        self._steps: dict[tuple[Step | None, tuple[Node, ...]], Step] = {}
        self._make(nodes)
        self.steps = sorted(self._steps.values(), key=lambda step: step.order)
        self._write(began_at)

    def is_visible(self, node: Node) -> bool:
        """Whether `node` itself is in a step."""
        return self._places[node] is not (self._places[node.parent] if node.parent else None)

    def step_of(self, node: Node) -> Step | None:
        """The step where the path to `node` ends, which is before it where it is hidden."""
        place = self._places[node]
        while isinstance(place, _Run):
            place = place.end or place.longer[0]
        return place

    def _make(self, nodes: Sequence[Node]) -> None:
        runs = []
        for number, node in enumerate(nodes):
            above = self._places[node.parent] if node.parent else None
            place = self._places[node] = self._next(above, node, 2 * number)
            if isinstance(place, _Run) and place is not above:
                runs.append((2 * number + 1, place))
        for order, run in runs:
            if not run.longer:
                self._leave(run, order)

    def _next(self, place: "Step | _Run | None", node: Node, order: int) -> "Step | _Run | None":
        """Where the path stands after `node`. Whoever leaves a run before it has the place `order`."""
        piece = self._pieces[node]
        if piece.kind is Kind.HIDDEN:
            return place
        change = _BALANCE.get(piece.kind, 0)
        if isinstance(place, _Run):
            if place.takes(piece.kind):
                place.longer.append(_Run(place.above, (*place.nodes, node), place.balance + change))
                return place.longer[-1]
            place = self._leave(place, order)
        elif piece.is_hidden:
            self.left_out += 1
            return place
        return _Run(place, (node,), change) if change else self._step(place, (node,), order + 1)

    def _leave(self, run: _Run, order: int) -> Step | None:
        if run.end is None:
            run.end = run.above
            for unit in units_of(run.nodes, self._pieces):
                run.end = self._step(run.end, unit, order)
        return run.end

    def _step(self, parent: Step | None, nodes: tuple[Node, ...], order: int) -> Step:
        step = self._steps.get((parent, nodes))
        if step is None:
            step = Step(parent, order, derived(self._id, nodes[-1].name), detached=nodes[-1].detached)
            self._steps[parent, nodes] = step
        step.order = min(step.order, order)
        return step

    def _write(self, began_at: int | None) -> None:
        drafts = Drafts(self._id, self._pieces)
        nodes_of = {step: nodes for (_, nodes), step in self._steps.items()}
        for step in self.steps:
            step.messages = drafts.of(
                nodes_of[step], step.parent.last.created_at if step.parent else began_at
            )

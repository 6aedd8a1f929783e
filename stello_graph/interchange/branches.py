"""A conversation as a tree of messages, and the paths through it."""

from dataclasses import dataclass
from typing import Any

from stello_graph.model.message import Draft

__all__ = ["MessageTree", "Step", "latest_leaf"]


@dataclass(eq=False, slots=True)
class Step:
    """Messages that no branch may part: one message, or a tool call with its result.

    Attributes:
        parent: the step before, None at the beginning of the conversation.
        order: parents before children, first children first.
        session_id: the id of a session that ends here, unless it is the conversation's first one.
        detached: whether the file does not say what came before the first message of its path.
        through: how many messages there are from the beginning to the end of this step.
    """

    parent: "Step | None"
    order: int
    session_id: str
    messages: tuple[Draft, ...] = ()
    detached: bool = False
    through: int = 0

    @property
    def last(self) -> Draft:
        """The message that a branch from here shares last."""
        return self.messages[-1]

    def path(self) -> list["Step"]:
        """The steps from the beginning to this one."""
        steps = []
        step: Step | None = self
        while step is not None:
            steps.append(step)
            step = step.parent
        return steps[::-1]


@dataclass(frozen=True, slots=True)
class MessageTree:
    """All messages of a conversation. There may be several first ones.

    Attributes:
        id: of the session that follows the current path.
        steps: in their order.
        current: where the current path ends, which may be before a leaf.
        created_at, updated_at: UTC microseconds, None where the file does not say.
    """

    id: str
    label: str
    steps: tuple[Step, ...]
    current: Step
    created_at: int | None = None
    updated_at: int | None = None
    archived: bool = False
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        for step in self.steps:
            before = step.parent.through if step.parent else 0
            step.through = before + len(step.messages)


def latest_leaf(steps: list[Step]) -> Step:
    """The leaf whose last message is the youngest; of equals, and where no times are known, the last one."""
    inner = {step.parent for step in steps}
    leaves = [step for step in steps if step not in inner]
    return max(leaves, key=lambda step: (step.last.created_at or 0, step.order))

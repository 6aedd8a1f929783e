"""Memory across sessions: insights in number, integrations, and the background tasks that make them."""

from enum import StrEnum

from stello_graph.model.session import Session, SessionDigest
from stello_graph.model.space import SpaceConfig
from stello_graph.model.values import SessionStatus, Usage, Value

__all__ = [
    "ClaimedTask",
    "DueTask",
    "InsightDraft",
    "Integrated",
    "Integration",
    "IntegrationDraft",
    "TaskKind",
    "ToIntegrate",
    "TreeNode",
]


class TaskKind(StrEnum):
    """What a background task does."""

    CONSOLIDATE = "CONSOLIDATE"
    INTEGRATE = "INTEGRATE"


class DueTask(Value):
    """A task that waits for somebody to take it. `session_id` of an INTEGRATE is the MAIN session."""

    space_id: str
    kind: TaskKind
    session_id: str


class ClaimedTask(DueTask):
    """A task that is held here.

    Attributes:
        holder: who holds it; nobody else has this name.
        requested: the trigger that it is run for; another one meanwhile keeps it due.
        failures: how often it failed since it last was done.
    """

    holder: str
    requested: str
    failures: int = 0


class InsightDraft(Value):
    """An insight for a session. `source_session_id` None: from the application."""

    session_id: str
    content: str
    source_session_id: str | None = None


class Integrated(Value):
    """What integrating the digests of a tree gave."""

    synthesis: str
    insights: tuple[InsightDraft, ...] = ()


class IntegrationDraft(Integrated):
    """An integration to store.

    Attributes:
        through_seq: the event number up to which it knows all digests.
        revision: of the synthesis that it was made from.
        usage: what it took.
    """

    through_seq: int
    revision: int
    usage: Usage = Usage()


class Integration(Value):
    """What came of integrating.

    Attributes:
        called: False where there was nothing new, so that nothing was asked or changed.
        synthesis: the one that stands now.
        insights: those that were put.
        dropped: the ids that insights were meant for and could not be put to.
    """

    called: bool
    synthesis: str | None = None
    insights: tuple[InsightDraft, ...] = ()
    dropped: tuple[str, ...] = ()


class ToIntegrate(Value):
    """A MAIN session with the digests of its active descendants, newest changed first.

    Attributes:
        through_seq: the number of the Space's last event, read before the digests.
    """

    through_seq: int
    session: Session
    config: SpaceConfig
    digests: tuple[SessionDigest, ...]


class TreeNode(Value):
    """A session's place in its tree, and the event numbers at which what others see of it changed.

    Attributes:
        memory_seq: of its digest, None where it has none.
        rollup_seq: the one up to which its rollup knows all below, None where it has none.
    """

    id: str
    parent_id: str | None = None
    depth: int
    status: SessionStatus
    memory_seq: int | None = None
    rollup_seq: int | None = None

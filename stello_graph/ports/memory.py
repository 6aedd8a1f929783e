"""Storage of memory: of one session, and of what goes across sessions with its background tasks."""

from collections.abc import Sequence
from typing import Protocol

from stello_graph.errors import ErrorCode
from stello_graph.model.context import Conversation
from stello_graph.model.memory import (
    ClaimedTask,
    DueTask,
    InsightDraft,
    IntegrationDraft,
    ToIntegrate,
    TreeNode,
)
from stello_graph.model.session import Session
from stello_graph.model.values import Usage

__all__ = ["MemoryStore", "OwnMemoryStore"]


class OwnMemoryStore(Protocol):
    """What a single session remembers: its digest and its pending insight."""

    async def undigested(self, session_id: str, first: int) -> Conversation:
        """As `conversation`, with the newest `first` messages that the session's digest does not cover."""
        ...

    async def put_memory(self, session_id: str, content: str) -> Session:
        """Writes L2."""
        ...

    async def store_digest(
        self,
        session_id: str,
        content: str,
        *,
        revision: int,
        through_seq: int,
        usage: Usage,
        even_archived: bool = False,
    ) -> Session:
        """Writes what consolidating up to message `through_seq` gave.

        Raises:
            Conflict: L2 has another revision by now.
            SessionArchived: unless `even_archived`.
        """
        ...

    async def report_failure(self, session_id: str, task: str, code: ErrorCode, message: str) -> None:
        """Tells as TASK_FAILED that a task of the session failed which nobody asked for."""
        ...

    async def put_insight(self, session_id: str, content: str, source_session_id: str | None) -> Session:
        """Replaces the pending insight."""
        ...

    async def clear_insight(self, session_id: str) -> Session:
        """Clears the pending insight."""
        ...


class MemoryStore(Protocol):
    """One Space, seen from above its sessions: what is integrated, and the tasks that do it."""

    async def put_insights(self, insights: Sequence[InsightDraft]) -> list[Session]:
        """Replaces the pending insights of several sessions, each named once, or of none.

        Raises:
            NotFound: a session is unknown. SessionArchived: one is archived.
        """
        ...

    async def to_integrate(self, session_id: str, first: int) -> ToIntegrate:
        """A MAIN session with the `first` newest changed digests of its active descendants."""
        ...

    async def tree(self, root_id: str, first: int) -> list[TreeNode]:
        """The shape of a tree with what changed when; `first` of its sessions at most, by id."""
        ...

    async def store_rollup(self, session_id: str, rollup: str, *, through_seq: int, usage: Usage) -> bool:
        """Writes how a subtree looks from above; False where it is archived or has a newer one."""
        ...

    async def store_integration(self, session_id: str, draft: IntegrationDraft) -> list[str]:
        """Writes a synthesis with its insights; answers the ids of the sessions that got one.

        Sessions that are gone, archived, or not below `session_id` are left out.

        Raises:
            Conflict: the synthesis has another revision by now.
        """
        ...

    async def claim_task(self, task: DueTask, lease: float) -> ClaimedTask | None:
        """Takes a task that is due for `lease` seconds; None where another did."""
        ...

    async def renew_task(self, task: ClaimedTask, lease: float) -> bool:
        """Prolongs the lease; False where it is lost."""
        ...

    async def finish_task(self, task: ClaimedTask) -> bool:
        """Done, unless it was asked for again meanwhile: then it is due. False where the lease is lost."""
        ...

    async def release_task(self, task: ClaimedTask) -> bool:
        """Gives a task back undone: it is due at once. False where the lease is lost."""
        ...

    async def fail_task(self, task: ClaimedTask, code: ErrorCode, message: str, *, delay: float) -> bool:
        """Counts a failure, tells it as TASK_FAILED, and makes the task due in `delay` seconds."""
        ...

"""Background tasks: claimed, renewed and given back."""

from collections.abc import Callable
from typing import Any

from stello_graph.errors import ErrorCode
from stello_graph.ids import new_id
from stello_graph.model.memory import ClaimedTask, DueTask
from stello_graph.store import rows
from stello_graph.store.engine import Engine, Row, WrappedEngine
from stello_graph.store.queries import Query, named
from stello_graph.store.repository import Repository

__all__ = ["RingingEngine", "TaskRepository"]

CLAIM = named("tasks/claim")
RENEW = named("tasks/renew")
FINISH = named("tasks/finish")
FAIL = named("tasks/fail")


class RingingEngine(WrappedEngine):
    """An engine that tells what its writes may have left to do for others.

    Attributes:
        rings: called after each write that made a task due: its row says so in `due`.
        wakes: called with the Space's id after each write that may leave an event of the map.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.rings: list[Callable[[], None]] = []
        self.wakes: list[Callable[[str], None]] = []

    async def write(self, query: Query, **params: Any) -> list[Row]:
        """See Engine."""
        found = await super().write(query, **params)
        if found and found[0].get("due"):
            for ring in self.rings:
                ring()
        if "eventKey" in params:
            for wake in self.wakes:
                wake(params["space"])
        return found


class TaskRepository(Repository):
    """See SpaceStore."""

    async def claim_task(self, task: DueTask, lease: float) -> ClaimedTask | None:
        """See SpaceStore."""
        holder = new_id()
        found = await self._engine.write(
            CLAIM, key=self._task_key(task), op=holder, lease=_microseconds(lease)
        )
        if not found:
            return None
        return ClaimedTask.model_validate(task.model_dump() | found[0] | {"holder": holder})

    async def renew_task(self, task: ClaimedTask, lease: float) -> bool:
        """See SpaceStore."""
        key = self._task_key(task)
        return bool(await self._engine.write(RENEW, key=key, holder=task.holder, lease=_microseconds(lease)))

    async def finish_task(self, task: ClaimedTask) -> bool:
        """See SpaceStore."""
        return await self._give_back(task, task.requested)

    async def release_task(self, task: ClaimedTask) -> bool:
        """See SpaceStore."""
        return await self._give_back(task, None)

    async def fail_task(self, task: ClaimedTask, code: ErrorCode, message: str, *, delay: float) -> bool:
        """See SpaceStore."""
        found = await self._engine.write(
            FAIL,
            **self._event(),
            key=self._task_key(task),
            id=task.session_id,
            data=rows.to_json({"task": task.kind, "code": code, "message": message}),
            holder=task.holder,
            delay=_microseconds(delay),
        )
        return bool(found)

    async def _give_back(self, task: ClaimedTask, requested: str | None) -> bool:
        key = self._task_key(task)
        return bool(await self._engine.write(FINISH, key=key, holder=task.holder, requested=requested))

    def _task_key(self, task: DueTask) -> str:
        return self._key(f"{task.kind}:{task.session_id}")


def _microseconds(seconds: float) -> int:
    return int(seconds * 1_000_000)

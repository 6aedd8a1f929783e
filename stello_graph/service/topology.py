"""Where sessions stand on the map, who is in them, and whether they take writes."""

from stello_graph.demo.load import load_demo
from stello_graph.forest.hook_runner import HookRunner
from stello_graph.forest.hooks import ArchiveEvent, EnterEvent, LeaveEvent
from stello_graph.ids import check_id
from stello_graph.model.session import Session
from stello_graph.model.topology import TopologyNode
from stello_graph.model.values import SessionStatus
from stello_graph.ports import SpaceStore

__all__ = ["TopologyService"]


class TopologyService:
    """The part of a SpaceService that needs the store and tells the hooks."""

    store: SpaceStore
    _hooks: HookRunner

    async def load_demo(self) -> int:
        """Fills a Space without sessions with the demo; answers how many. Raises Conflict in others."""
        return await load_demo(self.store)

    async def archive(self, session_id: str) -> Session:
        """No more turns, forks, setters; children stay active."""
        session, changed = await self.store.set_status(check_id(session_id), SessionStatus.ARCHIVED)
        if changed:
            self._hooks.fire("on_session_archive", ArchiveEvent(self.store.space_id, session_id))
        return session

    async def unarchive(self, session_id: str) -> Session:
        """Undoes `archive`."""
        return (await self.store.set_status(check_id(session_id), SessionStatus.ACTIVE))[0]

    async def enter(self, session_id: str, holder: str) -> Session:
        """The holder (a tab, a device) enters a session and leaves the one before."""
        session, left = await self.store.enter(check_id(session_id), check_id(holder, "holder"))
        if left is not None:
            self._hooks.fire("on_session_leave", LeaveEvent(self.store.space_id, left, holder, session_id))
        self._hooks.fire("on_session_enter", EnterEvent(self.store.space_id, session_id, holder))
        return session

    async def leave(self, session_id: str, holder: str) -> Session:
        """The holder leaves a session."""
        session, was_inside = await self.store.leave(check_id(session_id), check_id(holder, "holder"))
        if was_inside:
            self._hooks.fire("on_session_leave", LeaveEvent(self.store.space_id, session_id, holder))
        return session

    async def add_ref(self, from_id: str, to_id: str) -> TopologyNode:
        """A cross-link; twice is once."""
        return await self.store.add_ref(check_id(from_id, "fromId"), check_id(to_id, "toId"))

    async def remove_ref(self, from_id: str, to_id: str) -> TopologyNode:
        """Removes a cross-link."""
        return await self.store.remove_ref(check_id(from_id, "fromId"), check_id(to_id, "toId"))

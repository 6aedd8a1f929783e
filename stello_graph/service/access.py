"""Spaces and the keys to them: what is not done inside one Space."""

import asyncio
import contextlib
from typing import TYPE_CHECKING

from stello_graph.errors import Conflict, Forbidden, NotFound, StoreUnavailable
from stello_graph.forest.agent import Agent
from stello_graph.forest.agents import AgentPool
from stello_graph.forest.deletion import Sweeper
from stello_graph.forest.keys import MOST_LISTED, Keyring, new_key
from stello_graph.forest.turns import Turns
from stello_graph.ids import DEFAULT_SPACE, check_id, check_space_id
from stello_graph.model.checks import check_label, check_range
from stello_graph.model.keys import ApiKey, NewApiKey
from stello_graph.model.space import Space, default_name
from stello_graph.model.turn import TurnStatus
from stello_graph.model.values import KeyScope
from stello_graph.ports import Store
from stello_graph.settings import Settings

if TYPE_CHECKING:
    from stello_graph.service.graph import StelloGraph

__all__ = ["AccessService", "KeyService"]

_OPEN_TURNS = 10_000


class AccessService:
    """What an operator can do."""

    store: Store
    settings: Settings
    keyring: Keyring
    sweeper: Sweeper
    turns: Turns
    agents: AgentPool[Agent]

    async def create_space(self, space_id: str, name: str) -> Space:
        """Makes a Space. Raises Conflict where the id is taken, or is still being deleted."""
        return await self.store.create_space(check_space_id(space_id), check_label(name))

    async def spaces(self, *, after: str = "", first: int = 100) -> list[Space]:
        """A page of the Spaces, by id, from after id `after`."""
        return await self.store.spaces(after=after and check_space_id(after), first=first)

    async def delete_space(self, space_id: str, expected_count: int) -> None:
        """Deletes a Space with all that is in it; running turns are cancelled first.

        From then on it is not there for anybody, its keys neither; a Space of the same id can be made
        as soon as all of it is swept, which takes about ten seconds at least.

        Raises:
            Conflict: it has another number of sessions: `details["count"]`.
        """
        check_range(expected_count, "expectedCount", 0)
        space = self.store.in_space(check_space_id(space_id))
        if (await space.space()).session_count == expected_count:
            for status in (TurnStatus.RUNNING, TurnStatus.AWAITING_CONFIRMATION):
                turns = await space.turns_by_status(status, first=_OPEN_TURNS)
                await asyncio.gather(*(self._cancelled(space_id, turn.id) for turn in turns))
        await self.store.delete_space(space_id, expected_count)
        self.keyring.forget()
        self.agents.refresh(space_id)

    async def create_key(self, space_id: str | None, name: str, scope: KeyScope) -> NewApiKey:
        """Makes a key of a Space, or, without one, of an operator; its secret is told this once.

        Raises:
            Forbidden: an operator's key that would belong to a Space, or another that belongs to none.
        """
        if space_id is not None:
            check_space_id(space_id)
        made = await new_key(self.store, space_id, name, scope)
        self.keyring.forget()
        return made

    async def keys(self, space_id: str | None) -> list[ApiKey]:
        """The newest 1,000 keys of a Space or of operators, newest first, the revoked ones too."""
        return await self.store.keys_of(space_id, first=MOST_LISTED)

    async def revoke_key(self, space_id: str | None, key_id: str) -> ApiKey:
        """Ends a key: here at once, in other processes within seconds. A second time changes nothing."""
        revoked = await self.store.revoke_key(space_id, check_id(key_id))
        self.keyring.forget()
        return revoked

    def _set_up_access(self, store: Store, settings: Settings) -> None:
        key, seconds = settings.bootstrap_key, settings.key_seconds
        self.keyring = Keyring(store, None if key is None else key.get_secret_value(), seconds)
        self.sweeper = Sweeper(store, delay=2 * seconds, interval=settings.janitor_seconds)

    async def _prepare_store(self) -> None:
        """The schema, the Space `default`, and whether keys are in use."""
        if self.settings.migrate:
            await self.store.migrate()
        elif await self.store.pending_migrations():
            raise StoreUnavailable("the store's schema is not up to date: run stello-graph migrate")
        try:
            await self.store.ensure_space(DEFAULT_SPACE, default_name(DEFAULT_SPACE))
        except Conflict:
            await self.sweeper.finish(DEFAULT_SPACE)
            await self.store.ensure_space(DEFAULT_SPACE, default_name(DEFAULT_SPACE))
        if self.settings.bootstrap_key is not None:
            await self.store.use_keys()
        await self.keyring.in_use()

    async def _cancelled(self, space_id: str, turn_id: str) -> None:
        with contextlib.suppress(NotFound):
            await self.turns.cancel(self.store.in_space(space_id), turn_id)


class KeyService:
    """The keys of one Space."""

    graph: "StelloGraph"
    _space_id: str

    async def create_api_key(self, name: str, scope: KeyScope) -> NewApiKey:
        """Makes a key of this Space. Raises Forbidden for an operator's: the command line makes those."""
        if scope is KeyScope.OPERATOR:
            raise Forbidden("a key with the scope OPERATOR is made on the command line alone")
        return await self.graph.create_key(self._space_id, name, scope)

    async def api_keys(self) -> list[ApiKey]:
        """The newest 1,000 keys, newest first, the revoked ones too."""
        return await self.graph.keys(self._space_id)

    async def revoke_api_key(self, key_id: str) -> ApiKey:
        """Ends a key of this Space."""
        return await self.graph.revoke_key(self._space_id, key_id)

"""What all repositories share: one engine, one Space, and how an outcome becomes an error."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from stello_graph.errors import Conflict, NotFound, SessionArchived, SessionBusy, StoreUnavailable
from stello_graph.ids import key_of, new_id
from stello_graph.model.message import Draft
from stello_graph.model.session import Session
from stello_graph.model.writes import Idempotency
from stello_graph.store import rows
from stello_graph.store.engine import Engine, Row
from stello_graph.store.queries import Query

__all__ = ["Repository"]

# With the pauses between them, about a second.
_TRIES = 7

# To find the words of so many messages takes so long that others would notice.
_MANY = 200


class Repository:
    """Queries of one Space. Every key is made here, so a query that forgets the tenant cannot be asked."""

    def __init__(self, engine: Engine, space_id: str) -> None:
        self._engine = engine
        self._space_id = space_id

    @property
    def space_id(self) -> str:
        """The tenant that every query names."""
        return self._space_id

    async def _write(self, query: Query, **params: Any) -> list[Row]:
        """The rows of a write that holds what an index shows against what the locked session says."""
        return await self._agreed(lambda: self._engine.write(query, **params), _is_no_race)

    async def _write_or_race(self, query: Query, **params: Any) -> list[Row]:
        """As `_write`; where what the write names never shows, since it is gone, that is its outcome."""
        return await self._settled(lambda: self._engine.write(query, **params), _is_no_race)

    async def _agreed(
        self, ask: Callable[[], Awaitable[list[Row]]], agrees: Callable[[list[Row]], bool]
    ) -> list[Row]:
        """What is answered once it agrees with itself; raises StoreUnavailable where it never does."""
        if agrees(found := await self._settled(ask, agrees)):
            return found
        raise StoreUnavailable("the store does not show all that was written yet; try again in a moment")

    async def _settled(
        self, ask: Callable[[], Awaitable[list[Row]]], agrees: Callable[[list[Row]], bool]
    ) -> list[Row]:
        """What is answered once it agrees with itself, or in the end."""
        for number in range(_TRIES - 1):
            if agrees(found := await ask()):
                return found
            await asyncio.sleep(0.01 * 2**number * random.uniform(0.5, 1.0))
        return await ask()

    def _key(self, id: str) -> str:
        return key_of(self._space_id, id)

    def _id(self, key: str) -> str:
        return key[len(self._space_id) + 1 :]

    def _event(self, op: str | None = None) -> dict[str, str]:
        """A write's receipt: its operation, else a new one, and the key of the event that it leaves."""
        op = op or new_id()
        return {"space": self._space_id, "op": op, "eventKey": self._key(op)}

    def _target(self, session_id: str) -> dict[str, str]:
        return {"key": self._key(session_id), "id": session_id}

    def _idempotency(self, given: Idempotency | None) -> dict[str, str | None]:
        return {
            "idempotencyKey": None if given is None else self._key(given.key),
            "inputHash": None if given is None else given.input_hash,
        }

    async def _message_rows(self, session_id: str, drafts: Sequence[Draft]) -> list[Row]:
        """The messages as they are stored; of many they are made in a thread."""

        def made() -> list[Row]:
            return [rows.draft_properties(self._space_id, session_id, one) for one in drafts]

        return made() if len(drafts) <= _MANY else await asyncio.to_thread(made)

    def _checked(self, found: list[Row], session_id: str) -> Row:
        """The single row of a write to one session; raises what its outcome means."""
        if not found:
            raise NotFound.of("session", session_id)
        row = found[0]
        match row["outcome"]:
            case "ARCHIVED":
                raise SessionArchived.of(session_id)
            case "BUSY":
                raise SessionBusy.of(session_id, row["turnId"])
            case "REUSED_KEY":
                raise Conflict("this idempotency key was used for another input")
        return row

    def _session(self, found: list[Row], session_id: str) -> Session:
        return rows.session(self._checked(found, session_id))


def _is_no_race(found: list[Row]) -> bool:
    return not found or found[0]["outcome"] != "RACE"

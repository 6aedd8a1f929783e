"""Another process: does whatever it likes to the sessions of a Space that others do the same to.

Asked on the command line: the store's URL, the Space, a session, how often, a seed (see test_fighting.py).
"""

import asyncio
import random
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from stello_graph.bootstrap import open_engine
from stello_graph.errors import ErrorCode, StelloError
from stello_graph.model.values import SessionStatus
from stello_graph.ports import SpaceStore
from stello_graph.settings import Settings
from stello_graph.store.store import GraphStore
from tests.conformance.drafts import begin, child, end_of, fork_of, many, told

# What a caller may be told who loses a race; anything else ends this process with a stack trace.
LOST = {
    ErrorCode.NOT_FOUND,
    ErrorCode.CONFLICT,
    ErrorCode.INVALID_INPUT,
    ErrorCode.SESSION_ARCHIVED,
    ErrorCode.SESSION_BUSY,
    ErrorCode.TURN_ENDED,
}
FEW, MANY = 12, 40


class Fighter:
    """Takes random sessions of one tree, and does random things to them."""

    def __init__(self, space: SpaceStore, root: str, seed: int) -> None:
        self._space = space
        self._root = root
        self._chance = random.Random(seed)
        self.came_of: Counter[str] = Counter()

    async def fight(self, acts: int) -> None:
        """So many acts, whatever comes of them."""
        for _ in range(acts):
            ids = await self._ids()
            choice = [self._create, self._fork] if len(ids) < FEW else self._all()
            if len(ids) > MANY:
                choice = [self._delete]
            act = self._chance.choice(choice)
            try:
                await act(ids)
                self.came_of[act.__name__] += 1
            except StelloError as error:
                if error.code not in LOST:
                    raise
                self.came_of[f"{act.__name__} {error.code}"] += 1

    def _all(self) -> list[Callable[[list[str]], Awaitable[Any]]]:
        return [
            *(self._create, self._fork, self._copy, self._archive, self._unarchive, self._delete),
            *(self._append, self._turn, self._trim, self._link),
        ]

    async def _ids(self) -> list[str]:
        level, found = [self._root], [self._root]
        while level:
            children = await self._space.children(level, after=-1, first=1_000)
            level = [node.id for nodes in children.values() for node in nodes or ()]
            found += level
        return found

    async def _create(self, ids: list[str]) -> None:
        await self._space.create_session(child(self._chance.choice(ids)), None)

    async def _fork(self, ids: list[str]) -> None:
        source, parent = self._chance.choice(ids), self._chance.choice(ids)
        await self._space.fork(fork_of(source, parent_id=parent), None)

    async def _copy(self, ids: list[str]) -> None:
        source = self._chance.choice(ids)
        session = (await self._space.sessions([source])).get(source)
        if session is not None and session.message_count:
            await self._space.fork(fork_of(source, through_seq=session.next_seq - 1), None)

    async def _archive(self, ids: list[str]) -> None:
        await self._space.set_status(self._chance.choice(ids[1:]), SessionStatus.ARCHIVED)

    async def _unarchive(self, ids: list[str]) -> None:
        await self._space.set_status(self._chance.choice(ids), SessionStatus.ACTIVE)

    async def _delete(self, ids: list[str]) -> None:
        await self._space.delete_session(self._chance.choice(ids[1:]), self._chance.choice((1, 1, 2, 3)), 10)

    async def _append(self, ids: list[str]) -> None:
        await self._space.append(self._chance.choice(ids), many(4))

    async def _turn(self, ids: list[str]) -> None:
        session_id = self._chance.choice(ids)
        turn = (await begin(self._space, session_id)).turn
        if await self._space.end_turn(end_of(turn, told("Hi", turn_id=turn.id))) is None:
            assert session_id not in await self._space.sessions([session_id]), "lost, but not deleted"

    async def _trim(self, ids: list[str]) -> None:
        await self._space.trim(self._chance.choice(ids), 1)

    async def _link(self, ids: list[str]) -> None:
        await self._space.add_ref(self._chance.choice(ids), self._chance.choice(ids))


async def main(url: str, space_id: str, root: str, acts: str, seed: str) -> None:
    store = GraphStore(open_engine(Settings(store=url)))
    fighters = [Fighter(store.in_space(space_id), root, 100 * int(seed) + n) for n in range(4)]
    await asyncio.gather(*(fighter.fight(int(acts)) for fighter in fighters))
    await store.aclose()
    print(dict(sum((fighter.came_of for fighter in fighters), Counter[str]())))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

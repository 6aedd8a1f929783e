"""Another process: writes to a Space of a store, as asked on the command line (see test_processes.py)."""

import asyncio
import sys

from stello_graph.bootstrap import open_engine
from stello_graph.settings import Settings
from stello_graph.store.store import GraphStore
from tests.conformance.drafts import child, exchange, fork_of, many, root


async def main(url: str, space_id: str, parent_id: str, rounds: str) -> None:
    store = GraphStore(open_engine(Settings(store=url)))
    space = store.in_space(space_id)
    for _ in range(int(rounds)):
        made = await space.create_session(child(parent_id), None)
        await space.append(made.id, many(3))
        await exchange(space, made.id)
        forked = await space.fork(fork_of(made.id, through_seq=4), None)
        await space.add_ref(forked.id, (await space.create_session(root(), None)).id)
        await space.put_insight(parent_id, "hint", None)
        await space.delete_session(forked.id, 1, 10)
    await store.aclose()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

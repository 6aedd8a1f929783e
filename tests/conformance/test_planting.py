"""What the benchmark plants past the service is a forest as the service makes it."""

import pytest

from bench.planting import plant
from bench.wide import FAN_OUT, Wide, node_id
from stello_graph.ids import new_id
from stello_graph.model.search import SearchScope, parse_query
from stello_graph.store.store import GraphStore
from tests.conformance.databases import Database
from tests.conformance.drafts import child, exchange
from tests.conformance.invariants import check_invariants


async def test_a_wide_tree(database: Database, store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes are in their places, messages in their order, both are found, and it grows as any other."""
    for name, value in database.credentials.items():
        monkeypatch.setenv(name, value)
    wide = Wide(f"test-{new_id()}", 120, {2: 60, 3: 1})
    await plant(database.url, wide)
    space = store.in_space(wide.space)

    check_invariants(database.snapshot(wide.space))
    children = await space.children([node_id(0), node_id(14), node_id(119)], after=-1, first=100)
    assert {id: len(found or ()) for id, found in children.items()} == {
        node_id(0): FAN_OUT,
        node_id(14): 7,
        node_id(119): 0,
    }
    newest = await space.newest_messages([node_id(2)], after=0, before=1_000, first=2, roles=None)
    assert [message.seq for message in newest[node_id(2)]] == [59, 60]
    database.settle()
    found = await space.search(parse_query("harbour"), (SearchScope.LABEL,), root_id=None, first=100)
    assert len(found) == 15
    (hit,) = await space.search(parse_query("message 60"), (SearchScope.MESSAGE,), root_id=None, first=100)
    assert hit.session_id == node_id(2)

    await space.create_session(child(node_id(2)), None)
    await exchange(space, node_id(2))
    check_invariants(database.snapshot(wide.space))

"""Keys and Spaces in the store. Where a store is shared, no key and no trace of one is left behind."""

import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from stello_graph.errors import Conflict, LimitExceeded, NotFound
from stello_graph.ids import new_id
from stello_graph.model.keys import ApiKey, KeyDraft
from stello_graph.model.message import ToolCall
from stello_graph.model.values import KeyScope
from stello_graph.ports import SpaceStore
from stello_graph.store.store import GraphStore
from tests.conformance.databases import Database, Snapshot
from tests.conformance.drafts import begin, child, create, exchange, fork_of, key, many, root, told
from tests.conformance.racing import race


@pytest.fixture(autouse=True)
def _no_keys(database: Database) -> Any:
    database.forget_keys()
    yield
    database.forget_keys()


@pytest.fixture
async def id(store: GraphStore) -> AsyncIterator[str]:
    """A new Space, which the test may delete."""
    id = f"keys-{new_id()}"
    await store.ensure_space(id, "Keys")
    yield id
    while id in await store.deleted_spaces(first=1_000):
        await store.sweep_space(id, delay=0)


def draft(space_id: str | None, name: str = "key", **fields: Any) -> KeyDraft:
    given = {"id": new_id(), "space_id": space_id, "name": name, "prefix": "stello_abcdef", "hash": new_id()}
    scope = KeyScope.OPERATOR if space_id is None else KeyScope.WRITE
    return KeyDraft(**{**given, "scope": scope, **fields})


async def made(store: GraphStore, space_id: str | None, **fields: Any) -> tuple[ApiKey, str]:
    asked = draft(space_id, **fields)
    return await store.create_key(asked, limit=200), asked.hash


async def test_a_key_is_found_by_its_hash(store: GraphStore, id: str) -> None:
    """What was given is kept, but for the hash, which is only found by; the time is now."""
    asked = draft(id, "Ada", scope=KeyScope.READ)
    found = await store.create_key(asked, limit=1)

    assert (found.id, found.space_id, found.name, found.prefix, found.scope) == (
        asked.id,
        id,
        "Ada",
        "stello_abcdef",
        KeyScope.READ,
    )
    assert (found.last_used_at, found.revoked_at) == (None, None)
    assert abs(found.created_at / 1_000_000 - time.time()) < 60
    assert await store.find_keys([asked.hash, "another"]) == {asked.hash: found}
    assert await store.find_keys([]) == {}


async def test_keys_of_a_space_and_of_operators(store: GraphStore, id: str) -> None:
    """A Space lists its own, newest first; those of operators belong to none."""
    await store.ensure_space(f"{id}0", "Begins alike")
    first, second = (await made(store, id))[0], (await made(store, id))[0]
    other, operator = (await made(store, f"{id}0"))[0], (await made(store, None))[0]

    assert [one.id for one in await store.keys_of(id, first=10)] == sorted(
        [first.id, second.id], reverse=True
    )
    assert await store.keys_of(f"{id}0", first=10) == [other]
    assert await store.keys_of(None, first=10) == [operator]
    assert {one.id for one in await store.all_keys(first=10)} == {
        first.id,
        second.id,
        other.id,
        operator.id,
    }
    assert len(await store.keys_of(id, first=1)) == 1


async def test_a_revoked_key_is_not_found(store: GraphStore, id: str) -> None:
    """It stays in the list; a second time changes nothing; another Space's is not there."""
    found, digest = await made(store, id)

    revoked = await store.revoke_key(id, found.id)

    assert revoked.revoked_at is not None
    assert await store.find_keys([digest]) == {}
    assert await store.revoke_key(id, found.id) == revoked
    assert await store.keys_of(id, first=10) == [revoked]
    for space_id, key_id in ((None, found.id), ("another", found.id), (id, "nobody")):
        with pytest.raises(NotFound):
            await store.revoke_key(space_id, key_id)


async def test_keys_are_bounded(store: GraphStore, id: str) -> None:
    """So many at once; revoked ones do not count."""
    found, _ = await made(store, id)
    with pytest.raises(LimitExceeded):
        await store.create_key(draft(id), limit=1)
    await store.revoke_key(id, found.id)

    await store.create_key(draft(id), limit=1)
    assert len(await store.keys_of(id, first=10)) == 2


async def test_keys_of_no_space(store: GraphStore) -> None:
    """A key of a Space that is not there is not made, and leaves no mark."""
    with pytest.raises(NotFound):
        await store.create_key(draft("never-made"), limit=1)
    assert not await store.keys_in_use()


async def test_once_there_was_a_key(store: GraphStore, twin_store: GraphStore, id: str) -> None:
    """It is remembered for ever, whatever becomes of the key and of its Space."""
    assert not await store.keys_in_use()
    found, _ = await made(store, id)
    assert await twin_store.keys_in_use()

    await store.revoke_key(id, found.id)
    await store.delete_space(id, 0)

    assert await store.keys_of(id, first=10) == []
    assert await twin_store.keys_in_use()


async def test_a_mark_without_a_key(store: GraphStore) -> None:
    """A key that is not stored counts too, as often as it is said."""
    await store.use_keys()
    await store.use_keys()

    assert await store.keys_in_use()


async def test_the_last_use(store: GraphStore, id: str) -> None:
    """It is written by the store's clock, not more often than asked."""
    found, digest = await made(store, id)

    await store.touch_key(found, interval=60)
    first = (await store.find_keys([digest]))[digest].last_used_at
    await store.touch_key(found, interval=60)
    assert (await store.find_keys([digest]))[digest].last_used_at == first
    assert first is not None
    assert abs(first / 1_000_000 - time.time()) < 60

    await store.touch_key(found, interval=0)
    again = (await store.find_keys([digest]))[digest].last_used_at
    assert again is not None
    assert again >= first


async def test_a_space_is_created_once(store: GraphStore, twin_store: GraphStore) -> None:
    """Of many who make a Space of one id, one does; the others are told."""
    id = f"new-{new_id()}"

    won, lost = await race(one.create_space(id, "Mine") for one in [store, twin_store] * 4)

    assert [space.id for space in won] == [id]
    assert [type(error) for error in lost] == [Conflict] * 7
    assert await store.ensure_space(id, "Another name") == won[0]


async def test_spaces_by_id(store: GraphStore) -> None:
    """A page goes on after an id."""
    start = f"list-{new_id()}"
    ids = [f"{start}-{number}" for number in range(3)]
    for id in ids:
        await store.create_space(id, id)

    assert [one.id for one in await store.spaces(after=start, first=3)] == ids
    assert [one.id for one in await store.spaces(after=ids[0], first=1)] == ids[1:2]


async def fill(space: SpaceStore) -> None:
    """One at least of all that a Space can hold."""
    top = await create(space)
    await space.append(top.id, many(3), idempotency=key(new_id()))
    await exchange(space, top.id)
    below = await space.create_session(child(top.id), None)
    await space.fork(fork_of(top.id, through_seq=2), None)
    await space.add_ref(top.id, (await create(space)).id)
    await space.enter(below.id, "tab")
    await space.put_record("k", 1, None)
    await space.put_shared_memory("m", "s", "b", limit=9)
    call = ToolCall(id="c", name="look", arguments={})
    begun = await begin(space, below.id)
    await space.store_messages(
        begun.turn,
        [told("", tool_calls=(call,))],
        lease=60,
        usage=begun.turn.usage,
        tool_rounds=0,
    )


def held(stored: Snapshot) -> dict[str, int]:
    return {name: len(rows) for name, rows in stored.items() if rows}


async def swept(store: GraphStore, id: str) -> None:
    for _ in range(50):
        await store.sweep_space(id, delay=0)
        if id not in await store.deleted_spaces(first=1_000):
            return
    raise AssertionError("never swept")


async def test_deleting_a_space(store: GraphStore, database: Database, id: str) -> None:
    """All that was in it goes, and nothing of a Space whose id begins alike."""
    other = f"{id}0"
    await store.ensure_space(other, "Stays")
    for one in (id, other):
        await fill(store.in_space(one))
        await made(store, one)
    before = database.snapshot(other)
    assert held(database.snapshot(id)).keys() == held(before).keys()

    await store.delete_space(id, (await store.in_space(id).space()).session_count)

    assert await store.keys_of(id, first=10) == []
    assert id not in [one.id for one in await store.spaces(after=id[:-1], first=10)]
    with pytest.raises(NotFound):
        await store.in_space(id).space()
    with pytest.raises(NotFound):
        await store.in_space(id).create_session(root(), None)
    await swept(store, id)
    assert held(database.snapshot(id)) == {}
    assert database.snapshot(other) == before
    assert len(await store.keys_of(other, first=10)) == 1


async def test_a_space_of_another_size(store: GraphStore, database: Database, id: str) -> None:
    """Nothing goes where another number of sessions is expected; the number is told."""
    await fill(store.in_space(id))
    before = database.snapshot(id)

    with pytest.raises(Conflict) as refused:
        await store.delete_space(id, 1)

    assert refused.value.details["count"] == 4
    assert database.snapshot(id) == before
    with pytest.raises(NotFound):
        await store.delete_space("never-made", 0)


async def test_an_id_is_free_again_when_all_is_swept(store: GraphStore, id: str) -> None:
    """Before that nobody makes it anew: who still trusts an old key would be let in."""
    await store.delete_space(id, 0)

    assert not await store.sweep_space(id, delay=3_600)
    assert id in await store.deleted_spaces(first=1_000)
    with pytest.raises(Conflict):
        await store.ensure_space(id, "Again")
    with pytest.raises(Conflict):
        await store.create_space(id, "Again")
    with pytest.raises(NotFound):
        await store.delete_space(id, 0)
    await swept(store, id)

    again = await store.create_space(id, "Again")
    assert (again.session_count, again.event_seq) == (0, 0)
    assert await store.in_space(id).children([None], after=-1, first=9) == {None: []}


async def test_sweeping_in_parts(
    store: GraphStore, database: Database, id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few of each kind at a time, by whoever comes, and again where nothing is left."""
    monkeypatch.setattr("stello_graph.store.spaces._BATCH", 2)
    await fill(store.in_space(id))
    await store.delete_space(id, 4)

    await race(store.sweep_space(id, delay=0) for _ in range(3))
    await swept(store, id)

    assert held(database.snapshot(id)) == {}
    assert await store.sweep_space(id, delay=0)

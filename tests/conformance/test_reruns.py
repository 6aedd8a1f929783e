"""Every write can be run again with the same parameters: an unknown commit is answered by doing so."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from stello_graph.errors import ErrorCode, StelloError
from stello_graph.ids import new_id
from stello_graph.model.copies import Place, RefDraft, RestoreDraft
from stello_graph.model.keys import KeyDraft
from stello_graph.model.knowledge import Record, SharedMemory, Skill
from stello_graph.model.memory import InsightDraft, IntegrationDraft, TaskKind
from stello_graph.model.profile import ForkProfile
from stello_graph.model.space import SplitGuard, Trigger
from stello_graph.model.values import KeyScope, SessionRole, SessionStatus, Usage
from stello_graph.model.writes import ImportDraft, PlacedDraft
from stello_graph.ports import SpaceStore
from stello_graph.store.engine import RECORD, Engine, Row, WrappedEngine
from stello_graph.store.queries import Query, load
from stello_graph.store.search import index_backlog
from stello_graph.store.store import GraphStore, SpaceRepository
from tests.conformance.conftest import OpenEngine
from tests.conformance.databases import Database, Snapshot
from tests.conformance.drafts import (
    LEASE,
    begin,
    child,
    create,
    end_of,
    exchange,
    failure_of,
    fork_of,
    key,
    many,
    root,
    said,
    summary_of,
    told,
    tool_group,
    transcript,
    usage,
)

ALWAYS = (Trigger.ON_SWITCH, Trigger.ON_LEAVE, Trigger.EVERY_N_TURNS, Trigger.ON_ARCHIVE)
NOTHING_MORE = {"DONE_BEFORE": "DONE", "SAME": "DONE"}


class Twice(WrappedEngine):
    """An engine that runs each write twice, and holds the second to change nothing and to answer the same."""

    def __init__(self, engine: Engine, database: Database, space_id: str) -> None:
        super().__init__(engine)
        self._database = database
        self._space_id = space_id
        self.written: set[str] = set()

    async def write(self, query: Query, **params: Any) -> list[Row]:
        first = await self._engine.write(query, **params)
        before = self._stored(query)
        second = await self._engine.write(query, **params)
        assert self._stored(query) == before, query.name
        assert _settled(second) == _settled(first), query.name
        self.written.add(query.name)
        return second

    def _stored(self, query: Query) -> Snapshot:
        stored = self._database.snapshot(self._space_id)
        if query.name == "turns/renew":
            for row in stored["turn"]:
                row.pop("leaseUntil", None)
        if query.name == "tasks/renew":
            for row in stored["task"]:
                row.pop("dueAt", None)
        return stored


def _settled(rows: list[Row]) -> list[Row]:
    told = [{name: value for name, value in row.items() if name not in ("lock", "due")} for row in rows]
    for row in told:
        if "outcome" in row:
            row["outcome"] = NOTHING_MORE.get(row["outcome"], row["outcome"])
        if isinstance(row.get("turn"), dict):
            row["turn"] = {name: value for name, value in row["turn"].items() if name != "lock"}
    return told


@pytest.fixture
def engine_twice(open_engine: OpenEngine, database: Database, space: SpaceStore) -> Twice:
    return Twice(open_engine(), database, space.space_id)


async def tool_round(twice: SpaceStore, session_id: str) -> None:
    """A turn with a round of tools, of which both wait for a confirmation."""
    begun = await begin(twice, session_id)
    reply, *results = tool_group(2)
    stored = await twice.store_messages(
        begun.turn, [reply], lease=LEASE, usage=usage(1), tool_rounds=0, asks=reply.tool_calls
    )
    assert stored is not None
    waiting = await twice.wait_turn(stored[0], results[:1])
    assert waiting is not None
    assert waiting.held_results == tuple(results[:1])
    await twice.confirm_call(waiting.id, "call-0", approve=True, reason="", lease=LEASE)
    going, resumed = await twice.confirm_call(waiting.id, "call-1", approve=False, reason="no", lease=LEASE)
    assert (resumed, going.fence, going.refusals) == (True, 2, ("no",))
    done = await twice.store_messages(going, results, lease=LEASE, usage=usage(1), tool_rounds=1)
    assert done is not None
    assert await twice.end_turn(end_of(done[0], told())) is not None


async def refused(call: Any) -> None:
    with pytest.raises(StelloError):
        await call


async def hold(twice: SpaceStore) -> None:
    """What a Space holds beside its sessions, written, refused and deleted."""
    assert (await twice.put_record("k", 1, 0)).revision == 1
    assert (await twice.put_record("k", 2, None)).revision == 2
    assert (await twice.put_record("k", 3, 2)).revision == 3
    await refused(twice.put_record("k", 4, 2))
    assert await twice.delete_record("k")
    assert not await twice.delete_record("k")

    assert (await twice.put_shared_memory("m", "s", "b", limit=1)).slug == "m"
    assert (await twice.put_shared_memory("m", "t", "b", limit=1)).summary == "t"
    await refused(twice.put_shared_memory("n", "", "", limit=1))
    assert await twice.delete_shared_memory("m")
    assert not await twice.delete_shared_memory("m")

    skill = Skill(name="s", description="d", content="c")
    assert await twice.put_skill(skill, limit=1) == skill
    await refused(twice.put_skill(skill.model_copy(update={"name": "t"}), limit=1))
    assert await twice.delete_skill("s")
    assert not await twice.delete_skill("s")

    assert (await twice.put_profile(ForkProfile(name="p"), limit=1)).name == "p"
    await refused(twice.put_profile(ForkProfile(name="q"), limit=1))
    assert await twice.delete_profile("p")
    assert not await twice.delete_profile("p")


class Late:
    """An engine whose answers are lost once: each write runs again after somebody else's."""

    def __init__(self, engine: Engine, between: Callable[[], Awaitable[Any]]) -> None:
        self._engine = engine
        self._between = between

    async def write(self, query: Query, **params: Any) -> list[Row]:
        await self._engine.write(query, **params)
        await self._between()
        return await self._engine.write(query, **params)


async def test_what_others_wrote_meanwhile_stays(open_engine: OpenEngine, space: SpaceStore) -> None:
    """A write that runs again since its answer was lost undoes nothing that was written in between."""

    def late(between: Callable[[], Awaitable[Any]]) -> SpaceStore:
        engine: Any = Late(open_engine(), between)
        return SpaceRepository(engine, space.space_id)

    theirs = await late(lambda: space.put_record("k", "theirs", 1)).put_record("k", "mine", None)
    assert (theirs.value, theirs.revision) == ("theirs", 2)
    assert await late(lambda: space.put_record("k", "again", 0)).delete_record("k")
    found = await space.record("k")
    assert found is not None
    assert (found.value, found.revision) == ("again", 1)

    async def others() -> None:
        for n in range(7):
            await space.put_record("other", n, None)

    assert (await late(others).put_record("k", "once", 1)).revision == 2


async def every_write_to_memory(twice: SpaceStore) -> None:
    main = await twice.create_session(root(role=SessionRole.MAIN), None)
    spokes = [(await twice.create_session(child(main.id), None)).id for _ in range(2)]
    insights = [InsightDraft(session_id=id, content="i") for id in spokes]
    assert [one.id for one in await twice.put_insights(insights)] == spokes
    await refused(twice.put_insights([*insights, InsightDraft(session_id="nobody", content="i")]))
    await twice.store_digest(spokes[0], "d", revision=0, through_seq=0, usage=usage(1))
    assert await twice.store_rollup(spokes[0], "r", through_seq=1, usage=usage(1))
    assert not await twice.store_rollup(spokes[0], "r", through_seq=1, usage=usage(1))
    draft = IntegrationDraft(
        synthesis="s", insights=tuple(insights), through_seq=1, revision=0, usage=usage(1)
    )
    assert await twice.store_integration(main.id, draft) == sorted(spokes)
    await refused(twice.store_integration(main.id, draft))
    await exchange(twice, main.id)


async def every_write_to_tasks(store: GraphStore, twice: SpaceStore) -> None:
    due = [task for task in await store.due_tasks(10_000) if task.space_id == twice.space_id]
    assert {task.kind for task in due} == set(TaskKind)
    done, failed, left = [await twice.claim_task(task, LEASE) for task in (due[0], due[1], due[1])]
    assert done is not None
    assert failed is not None
    assert left is None
    assert await twice.renew_task(done, LEASE)
    assert await twice.finish_task(done)
    assert await twice.fail_task(failed, ErrorCode.LLM_UNAVAILABLE, "away", delay=0.0)
    await asyncio.sleep(0.01)
    again = await twice.claim_task(due[1], LEASE)
    assert again is not None
    assert await twice.release_task(again)
    assert not await twice.renew_task(again, LEASE)


async def every_write_to_keys_and_spaces(store: GraphStore, space_id: str) -> None:
    digest = new_id()
    draft = KeyDraft(id=new_id(), space_id=space_id, name="k", prefix="p", hash=digest, scope=KeyScope.READ)
    made = await store.create_key(draft, limit=1)
    await refused(store.create_key(draft.model_copy(update={"id": new_id(), "hash": new_id()}), limit=1))
    await refused(store.create_key(draft.model_copy(update={"space_id": "never-made"}), limit=1))
    await store.touch_key(made, interval=60)
    assert (await store.revoke_key(space_id, made.id)).revoked_at is not None
    await refused(store.revoke_key(None, made.id))
    await store.use_keys()

    await store.create_space(f"{space_id}-2", "Second")
    await refused(store.create_space(f"{space_id}-2", "Again"))
    await create(store.in_space(f"{space_id}-2"))
    await refused(store.delete_space(f"{space_id}-2", 2))
    await store.delete_space(f"{space_id}-2", 1)
    await refused(store.create_space(f"{space_id}-2", "Again"))
    assert not await store.sweep_space(f"{space_id}-2", delay=3_600)
    assert await store.sweep_space(f"{space_id}-2", delay=0)
    assert f"{space_id}-2" not in await store.deleted_spaces(first=1_000)


async def restored(twice: SpaceStore) -> None:
    """What an export holds, stored and refused."""
    assert not await twice.restore_space(await twice.space())
    (copy,) = await twice.session_copies(["d"])
    begun = await begin(twice, "d")
    ended = await twice.end_turn(end_of(begun.turn, told()))
    assert ended is not None
    turn = ended[0].model_copy(update={"id": "turn", "session_id": "e", "number": 1})
    places = [Place(seq=one.seq, message_id=one.id) for one in await transcript(twice, "d")]
    changes = {"id": "e", "index": 7, "message_count": 4, "next_seq": 5, "last_turn_number": 1}
    draft = RestoreDraft(session=copy.model_copy(update=changes), places=tuple(places), turns=(turn,))
    ref = RefDraft(from_id="e", to_id="d", at=1, order=-1)
    assert await twice.restore_sessions([draft], [ref])
    assert not await twice.restore_sessions([draft], [ref])
    orphan = draft.session.model_copy(update={"id": "f", "parent_id": "nobody"})
    assert not await twice.restore_sessions([RestoreDraft(session=orphan)], [])
    profile = ForkProfile(name="q")
    skill, record = (
        Skill(name="q", description="", content="c"),
        Record(key="q", value=1, revision=3, updated_at=1),
    )
    memory = SharedMemory(slug="q", summary="s", body="b", updated_at=1)
    await twice.restore_beside(records=[record], shared_memories=[memory], skills=[skill], profiles=[profile])
    assert await twice.record("q") == record
    assert await twice.shared_memories() == [memory]
    for gone in (twice.delete_record, twice.delete_shared_memory, twice.delete_skill, twice.delete_profile):
        assert await gone("q")


async def test_every_write(engine_twice: Twice, space: SpaceStore, database: Database) -> None:
    """Each write query, run again, answers the same and changes nothing more, done or refused."""
    store = GraphStore(engine_twice)
    await store.ensure_space(space.space_id, "Twice")
    twice = store.in_space(space.space_id)

    now = await twice.space()
    config = now.config.model_copy(
        update={
            "consolidate_on": ALWAYS,
            "integrate_on": (*ALWAYS, Trigger.AFTER_CONSOLIDATE),
            "every_n_turns": 1,
        }
    )
    assert await twice.configure(now.model_copy(update={"name": "Once", "config": config})) is not None
    assert await twice.configure(now.model_copy(update={"name": "Late"})) is None

    top = await twice.create_session(root(), key("create"))
    assert (await twice.create_session(root(), key("create"))).id == top.id
    below = await twice.create_session(child(top.id), None)
    await refused(twice.create_session(root(id=top.id), None))
    await refused(twice.create_session(child("nobody"), None))
    await refused(twice.create_session(root(), key("create", "another")))

    assert await twice.append(top.id, [said(), *tool_group(2)], idempotency=key("append")) == (1, 4)
    assert await twice.append(top.id, many(1), idempotency=key("append")) == (1, 1)
    await refused(twice.append(top.id, many(1), expected_seq=1))

    made = await twice.fork(fork_of(top.id, through_seq=4, opening=told()), key("fork"))
    assert (made.message_count, made.next_seq) == (5, 6)
    await refused(twice.fork(fork_of(top.id, through_seq=99), None))
    summarised = fork_of(top.id, through_seq=4, inherits=False, usage=usage(2), guard=SplitGuard(min_turns=0))
    await refused(twice.fork(summarised, None))
    free = summarised.model_copy(update={"guard": SplitGuard(min_turns=0, cooldown_turns=0)})
    assert await twice.delete_session((await twice.fork(free, None)).id, 1, 10)
    assert (await twice.update_session(made.id, {"label": "Once", "tags": ["t"]})).label == "Once"
    await twice.add_ref(made.id, below.id)
    await twice.add_ref(made.id, below.id)
    await twice.remove_ref(made.id, below.id)
    await twice.remove_ref(made.id, below.id)

    assert (await twice.put_memory(made.id, "m")).memory_revision == 1
    assert (await twice.store_digest(made.id, "d", revision=1, through_seq=0, usage=usage(3))).usage == usage(
        3
    )
    await refused(twice.store_digest(made.id, "d", revision=1, through_seq=0, usage=usage(3)))
    assert (await twice.store_compression(made.id, summary_of(4), usage=Usage())).compression is not None
    await refused(twice.store_compression(made.id, summary_of(4), usage=usage(3)))
    await twice.report_failure(made.id, "COMPRESS", ErrorCode.INTERNAL, "x")
    await twice.count_usage(made.id, usage(2))
    await refused(twice.count_usage("nobody", usage(2)))
    put = await twice.put_insight(made.id, "i", None)
    assert put.insight is not None
    assert put.insight.revision == 1

    begun = await twice.begin_turn(made.id, new_id(), said(), lease=LEASE, idempotency=key("send"))
    assert begun.turn.number == 1
    await twice.begin_turn(made.id, new_id(), said(), lease=LEASE, idempotency=key("send"))
    await refused(twice.begin_turn(made.id, new_id(), said(), lease=LEASE, idempotency=None))
    await refused(twice.append(made.id, many(1)))
    assert await twice.renew_turn(begun.turn, lease=LEASE, partial="par", round=1) is False
    assert (await twice.cancel_turn(begun.turn.id)).cancel_requested
    await twice.end_turn(end_of(begun.turn, told(), told(), usage=usage(1)))
    assert await twice.end_turn(end_of(begun.turn)) is None
    after = (await twice.sessions([made.id]))[made.id]
    assert (after.turn_count, after.message_count, after.insight, after.usage) == (
        1,
        8,
        None,
        usage(3) + usage(2) + usage(1),
    )
    await tool_round(twice, made.id)
    dead = await begin(twice, made.id, lease=0.0)
    await asyncio.sleep(0.01)
    await twice.begin_turn(made.id, new_id(), said(), lease=LEASE, idempotency=None)
    assert await twice.end_turn(failure_of(dead.turn, closing=True)) is not None

    await twice.put_insight(made.id, "i", None)
    await twice.clear_insight(made.id)
    await twice.clear_insight(made.id)
    assert (await twice.trim(made.id, 2)).message_count == 2
    await twice.trim(made.id, 2)
    await twice.set_status(made.id, SessionStatus.ARCHIVED)
    await refused(twice.put_memory(made.id, "x"))
    await refused(twice.enter(made.id, "tab"))
    assert (await twice.enter(top.id, "tab"))[1] is None
    assert (await twice.enter(below.id, "tab"))[1] == top.id
    await twice.leave(below.id, "tab")

    draft = ImportDraft(id="import", label="l", turn_count=1, messages=tuple(many(3)))
    assert await twice.import_session(draft)
    assert not await twice.import_session(draft)
    assert await twice.import_session(
        draft.model_copy(update={"id": "b", "parent_id": "import", "source_id": "import", "through_seq": 2})
    )
    lot = [PlacedDraft(id=id, parent_id="import", label="l", messages=tuple(many(2))) for id in "cd"]
    assert await twice.import_sessions(lot)
    assert not await twice.import_sessions(lot)
    await refused(twice.import_sessions([lot[0].model_copy(update={"id": "e", "parent_id": "nobody"})]))
    await restored(twice)
    database.forget_terms(space.space_id)
    assert await index_backlog(engine_twice, 100_000) > 0
    assert await index_backlog(engine_twice, 100_000) == 0
    await refused(twice.delete_session(top.id, 1, 10))
    assert await twice.delete_session("import", 5, 10) == ["import", "b", "c", "d", "e"]
    assert len(await twice.delete_session(top.id, 3, 10)) == 3

    await twice.prune_events(0)
    await hold(twice)
    await every_write_to_memory(twice)
    await every_write_to_tasks(store, twice)
    try:
        await every_write_to_keys_and_spaces(store, space.space_id)
    finally:
        database.forget_keys()

    await engine_twice.write(RECORD, version=1, name="0001_initial")
    writes = {name for name, text in load("sql").items() if text.query.access == "write"}
    assert engine_twice.written == writes
    assert (await create(space)).label == "Root"

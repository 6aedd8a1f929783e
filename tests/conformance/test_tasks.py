"""Background tasks: raised with what triggers them, run once, given back."""

import asyncio
import json
from collections.abc import Sequence

import pytest

from stello_graph.errors import ErrorCode, NotFound
from stello_graph.model.memory import ClaimedTask, DueTask, TaskKind
from stello_graph.model.space import Trigger
from stello_graph.model.values import SessionRole, SessionStatus
from stello_graph.ports import SpaceStore
from stello_graph.store.store import GraphStore
from tests.conformance.databases import Database
from tests.conformance.drafts import (
    LEASE,
    begin,
    child,
    create,
    end_of,
    exchange,
    failure_of,
    many,
    said,
    told,
    usage,
)
from tests.conformance.racing import race
from tests.conformance.test_events import events

EVERY = (Trigger.ON_SWITCH, Trigger.ON_LEAVE, Trigger.EVERY_N_TURNS, Trigger.ON_ARCHIVE)


async def configured(
    space: SpaceStore, consolidate: Sequence[Trigger] = (), integrate: Sequence[Trigger] = (), turns: int = 1
) -> None:
    now = await space.space()
    changes = {
        "consolidate_on": tuple(consolidate),
        "integrate_on": tuple(integrate),
        "every_n_turns": turns,
    }
    config = now.config.model_copy(update=changes)
    assert await space.configure(now.model_copy(update={"config": config})) is not None


async def due(store: GraphStore, space: SpaceStore) -> list[DueTask]:
    return [task for task in await store.due_tasks(100_000) if task.space_id == space.space_id]


async def names(store: GraphStore, space: SpaceStore) -> set[tuple[str, str]]:
    return {(task.kind, task.session_id) for task in await due(store, space)}


async def claimed(store: GraphStore, space: SpaceStore, lease: float = LEASE) -> ClaimedTask:
    """The one task that is due, held."""
    (task,) = await due(store, space)
    held = await space.claim_task(task, lease)
    assert held is not None
    return held


@pytest.mark.covers("SCH-2", "W9")
async def test_every_n_turns(space: SpaceStore, store: GraphStore) -> None:
    """A task is due at exact multiples of N completed turns, whatever else was said."""
    await configured(space, [Trigger.EVERY_N_TURNS], turns=3)
    session = await create(space)
    counts = []
    for _ in range(7):
        await space.append(session.id, many(2))
        begun = await begin(space, session.id)
        await space.end_turn(failure_of(begun.turn))
        assert await due(store, space) == []
        await exchange(space, session.id)
        if await due(store, space):
            counts.append((await space.sessions([session.id]))[session.id].turn_count)
            await space.finish_task(await claimed(store, space))

    assert counts == [3, 6]


@pytest.mark.covers("SCH-1")
async def test_nothing_is_due_that_was_not_asked_for(space: SpaceStore, store: GraphStore) -> None:
    """Without a trigger nothing is due."""
    await configured(space, integrate=[Trigger.EVERY_N_TURNS])
    session, other = await create(space), await create(space)
    await exchange(space, session.id)
    await space.enter(session.id, "tab")
    await space.enter(other.id, "tab")
    await space.leave(other.id, "tab")
    await space.set_status(session.id, SessionStatus.ARCHIVED)
    await space.store_digest(other.id, "d", revision=0, through_seq=0, usage=usage(1))

    assert await due(store, space) == []


@pytest.mark.covers("SCH-3")
async def test_leaving_and_switching(space: SpaceStore, store: GraphStore) -> None:
    """Entering another session is a switch of the one before; leaving is not, and only of who is in it."""
    one, two = await create(space), await create(space)
    for trigger in (Trigger.ON_SWITCH, Trigger.ON_LEAVE):
        await configured(space, [trigger])
        await space.enter(one.id, "tab")
        await space.enter(one.id, "tab")
        await space.leave(two.id, "tab")
        assert await due(store, space) == []
        await space.enter(two.id, "tab")
        await space.leave(two.id, "tab")
        await space.leave(two.id, "tab")
        left = one if trigger is Trigger.ON_SWITCH else two
        assert await names(store, space) == {("CONSOLIDATE", left.id)}
        await space.finish_task(await claimed(store, space))


@pytest.mark.covers("SCH-3")
async def test_archiving(space: SpaceStore, store: GraphStore) -> None:
    """A session that is archived is due, one that comes back is not."""
    await configured(space, [Trigger.ON_ARCHIVE])
    session = await create(space)

    await space.set_status(session.id, SessionStatus.ARCHIVED)
    task = await claimed(store, space)
    stored = await space.store_digest(
        session.id, "d", revision=0, through_seq=1, usage=usage(1), even_archived=True
    )
    await space.finish_task(task)
    await space.set_status(session.id, SessionStatus.ARCHIVED)
    await space.set_status(session.id, SessionStatus.ACTIVE)

    assert (stored.memory, stored.status) == ("d", SessionStatus.ARCHIVED)
    assert await due(store, space) == []


async def test_integrating_is_for_main(space: SpaceStore, store: GraphStore) -> None:
    """What happens below a MAIN root makes its integration due; of other trees nothing is."""
    await configured(space, integrate=[*EVERY, Trigger.AFTER_CONSOLIDATE])
    main = await create(space, role=SessionRole.MAIN)
    below = await space.create_session(child(main.id), None)
    top = await create(space)
    lower = await space.create_session(child(top.id), None)

    for one, other in ((lower, top), (below, main)):
        await exchange(space, one.id)
        await space.enter(one.id, "tab")
        await space.enter(other.id, "tab")
        await space.leave(other.id, "tab")
        await space.store_digest(one.id, "d", revision=0, through_seq=0, usage=usage(1))
        await space.set_status(one.id, SessionStatus.ARCHIVED)
        assert await names(store, space) == (set() if one is lower else {("INTEGRATE", main.id)})


@pytest.mark.covers("SCH-4")
@pytest.mark.parametrize("trigger", [*EVERY, Trigger.AFTER_CONSOLIDATE])
async def test_each_trigger_of_integrating(space: SpaceStore, store: GraphStore, trigger: Trigger) -> None:
    """Each trigger by itself makes the integration of the tree due."""
    await configured(space, integrate=[trigger])
    main = await create(space, role=SessionRole.MAIN)
    below = await space.create_session(child(main.id), None)
    match trigger:
        case Trigger.EVERY_N_TURNS:
            await exchange(space, below.id)
        case Trigger.ON_SWITCH | Trigger.ON_LEAVE:
            await space.enter(below.id, "tab")
            if trigger is Trigger.ON_LEAVE:
                await space.leave(below.id, "tab")
            await space.enter(main.id, "tab")
        case Trigger.ON_ARCHIVE:
            await space.set_status(below.id, SessionStatus.ARCHIVED)
        case Trigger.AFTER_CONSOLIDATE:
            await space.store_digest(main.id, "d", revision=0, through_seq=0, usage=usage(1))
            assert await due(store, space) == [], "MAIN's own digest is none of the tree's"
            await space.store_digest(below.id, "d", revision=0, through_seq=0, usage=usage(1))

    assert await names(store, space) == {("INTEGRATE", main.id)}


@pytest.mark.covers("W34")
async def test_one_holder(space: SpaceStore, twin: SpaceStore, store: GraphStore) -> None:
    """A task that is held is not due; who lost it can neither renew it nor give it back."""
    await configured(space, [Trigger.EVERY_N_TURNS])
    await exchange(space, (await create(space)).id)
    (task,) = await due(store, space)

    lost = await space.claim_task(task, 0.0)
    assert lost is not None
    assert await space.renew_task(lost, LEASE), "a lease that nobody took since is renewed"
    assert await twin.claim_task(task, LEASE) is None
    assert await due(store, space) == []
    assert await space.renew_task(lost, 0.2)
    await asyncio.sleep(0.25)
    held = await twin.claim_task(task, LEASE)

    assert held is not None
    assert not await space.renew_task(lost, LEASE)
    assert not await space.finish_task(lost)
    assert not await space.release_task(lost)
    assert not await space.fail_task(lost, ErrorCode.INTERNAL, "late", delay=0)
    assert await twin.renew_task(held, LEASE)
    assert await twin.finish_task(held)
    assert await due(store, space) == []


async def test_claiming_at_once(
    space: SpaceStore, twin: SpaceStore, store: GraphStore, database: Database
) -> None:
    """Of many that take a task at once one has it."""
    await configured(space, [Trigger.EVERY_N_TURNS])
    for _ in range(5):
        await exchange(space, (await create(space)).id)
        (task,) = await due(store, space)

        won, lost = await race(process.claim_task(task, LEASE) for process in (space, twin) * 10)

        assert lost == []
        (held,) = [one for one in won if one is not None]
        assert await space.finish_task(held)


async def test_triggers_at_once(space: SpaceStore, twin: SpaceStore, store: GraphStore) -> None:
    """Many triggers at once, of many sessions of a tree, are one integration, and one task each."""
    await configured(space, EVERY, EVERY)
    main = await create(space, role=SessionRole.MAIN)
    ids = [(await space.create_session(child(main.id), None)).id for _ in range(10)]

    _, lost = await race(exchange(process, id) for process, id in zip((space, twin) * 5, ids, strict=True))
    assert lost == []
    _, lost = await race(space.enter(id, f"tab-{id}") for id in ids)
    assert lost == []
    _, lost = await race(
        call
        for id in ids
        for call in (twin.leave(id, f"tab-{id}"), space.set_status(id, SessionStatus.ARCHIVED))
    )

    assert lost == []
    assert await names(store, space) == {("INTEGRATE", main.id), *(("CONSOLIDATE", id) for id in ids)}


async def test_a_trigger_while_it_runs(space: SpaceStore, store: GraphStore) -> None:
    """What is asked for while a task runs is not forgotten: the task is due again when it is given back."""
    await configured(space, [Trigger.EVERY_N_TURNS])
    session = await create(space)
    await exchange(space, session.id)
    held = await claimed(store, space)

    await exchange(space, session.id)
    assert await due(store, space) == [], "not while it is held"
    await space.finish_task(held)
    await space.finish_task(await claimed(store, space))

    assert await due(store, space) == []


async def test_triggers_against_the_end(space: SpaceStore, twin: SpaceStore, store: GraphStore) -> None:
    """A trigger at the moment at which a task ends is never lost."""
    await configured(space, [Trigger.EVERY_N_TURNS])
    session = await create(space)
    await exchange(space, session.id)
    for _ in range(20):
        held = await claimed(store, space)
        await race([space.finish_task(held), exchange(twin, session.id)])
        assert len(await due(store, space)) == 1


async def test_a_failure(space: SpaceStore, store: GraphStore, database: Database) -> None:
    """A failure waits, and is told by an event; a trigger does not shorten the wait."""
    await configured(space, [Trigger.EVERY_N_TURNS])
    session = await create(space)
    await exchange(space, session.id)
    before = len(events(database, space))

    assert await space.fail_task(await claimed(store, space), ErrorCode.LLM_UNAVAILABLE, "away", delay=LEASE)
    (event,) = events(database, space)[before:]
    assert (event["type"], event["nodeId"]) == ("TASK_FAILED", session.id)
    assert json.loads(event["data"]) == {
        "task": "CONSOLIDATE",
        "code": "LLM_UNAVAILABLE",
        "message": "away",
    }
    await exchange(space, session.id)
    assert await due(store, space) == []


async def test_failures_in_a_row(space: SpaceStore, store: GraphStore) -> None:
    """Failures are counted until the task is done; given back is not done."""
    await configured(space, [Trigger.EVERY_N_TURNS])
    session = await create(space)
    await exchange(space, session.id)
    assert await space.fail_task(await claimed(store, space), ErrorCode.LLM_UNAVAILABLE, "away", delay=0.2)
    await asyncio.sleep(0.25)

    again = await claimed(store, space)
    assert again.failures == 1
    await space.release_task(again)
    again = await claimed(store, space)
    assert again.failures == 1
    await space.finish_task(again)
    await exchange(space, session.id)
    assert (await claimed(store, space)).failures == 0


async def test_failures_of_many_at_once(space: SpaceStore, twin: SpaceStore, store: GraphStore) -> None:
    """Failures of many tasks at once are numbered without gaps."""
    await configured(space, [Trigger.EVERY_N_TURNS])
    for _ in range(8):
        await exchange(space, (await create(space)).id)
    held = [await space.claim_task(task, LEASE) for task in await due(store, space)]

    won, lost = await race(
        process.fail_task(task, ErrorCode.INTERNAL, "x", delay=LEASE)
        for process, task in zip((space, twin) * 4, held, strict=True)
        if task is not None
    )

    assert (won, lost) == ([True] * 8, [])


async def test_deleting(space: SpaceStore, twin: SpaceStore, store: GraphStore) -> None:
    """The tasks of a session go with it, also of those that are raised at the same time."""
    await configured(space, EVERY, EVERY)
    main = await create(space, role=SessionRole.MAIN)
    for _ in range(10):
        one, two = [(await space.create_session(child(main.id), None)).id for _ in range(2)]
        await exchange(space, one)
        held = await space.claim_task(
            DueTask(space_id=space.space_id, kind=TaskKind.CONSOLIDATE, session_id=one), LEASE
        )
        begun = await begin(space, one)
        await space.enter(one, "tab")
        await space.enter(one, "phone")

        _, lost = await race(
            [
                space.enter(two, "tab"),
                twin.leave(one, "phone"),
                twin.end_turn(end_of(begun.turn, told())),
                space.delete_session(one, 1, 10),
            ]
        )

        assert all(isinstance(error, NotFound) for error in lost)
        assert ("CONSOLIDATE", one) not in await names(store, space)
        assert held is not None
        assert not await space.finish_task(held)


async def test_who_is_told(space: SpaceStore, twin: SpaceStore, store: GraphStore) -> None:
    """A process hears at once of what itself made due, and of nothing else."""
    heard: list[int] = []
    store.on_due(lambda: heard.append(1))
    await configured(space, [Trigger.EVERY_N_TURNS])
    session = await create(space)
    await space.append(session.id, [said()])
    await exchange(twin, session.id)
    assert heard == []

    await exchange(space, session.id)

    assert heard == [1]


async def test_watermark(space: SpaceStore) -> None:
    """What a digest covers is not read again, whatever is trimmed; without a digest all is."""
    session = await create(space)
    await space.append(session.id, many(6))

    async def unread(first: int = 100) -> list[int]:
        return [message.seq for message in (await space.undigested(session.id, first)).transcript]

    assert await unread() == [1, 2, 3, 4, 5, 6]
    assert await unread(2) == [5, 6]
    await space.store_digest(session.id, "d", revision=0, through_seq=4, usage=usage(1))
    assert await unread() == [5, 6]
    await space.trim(session.id, 3)
    await space.append(session.id, many(1))
    assert await unread() == [5, 6, 7]
    await space.put_memory(session.id, "by hand")
    assert await unread() == [5, 6, 7]
    await space.put_memory(session.id, " ")
    assert await unread() == [4, 5, 6, 7]

"""What a fork's transaction decides: the guard, a summary's cut, what counts for whom; and profiles."""

import pytest

from stello_graph.errors import Conflict, ForkRefused, LimitExceeded, SessionArchived
from stello_graph.model.profile import ForkProfile
from stello_graph.model.space import SplitGuard
from stello_graph.model.values import ForkContext, PromptMode, SessionStatus, Usage
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import create, exchange, fork_of, key, many, said, told, transcript, usage
from tests.conformance.racing import both, race

GUARD = SplitGuard(for_api=True, min_turns=2, cooldown_turns=3)
WHOLE = ForkProfile(
    name="研究员",
    system_prompt="p ${x}",
    system_prompt_mode=PromptMode.APPEND,
    skills=(),
    context=ForkContext.COMPRESS,
    prompt="Hi",
)


async def test_a_summary_in_place_of_messages(space: SpaceStore) -> None:
    """A fork that is told of the messages shares none, numbers its own from 1, and knows its cut."""
    source = await create(space)
    await space.append(source.id, many(6))

    made = await space.fork(fork_of(source.id, through_seq=4, inherits=False, opening=told("So?")), None)

    (opening,) = await transcript(space, made.id)
    assert (opening.seq, opening.content) == (1, "So?")
    assert (made.message_count, made.next_seq) == (1, 2)
    assert (await space.nodes([made.id]))[made.id].source_seq == 4
    assert (await space.append(made.id, [said()])) == (2, 2)


async def test_a_summary_of_a_cut_that_is_gone(space: SpaceStore, database: Database) -> None:
    """The cut is there when the fork is written, or nothing is."""
    source = await create(space)
    await space.append(source.id, many(6))
    await space.trim(source.id, 2)
    before = database.snapshot(space.space_id)

    with pytest.raises(Conflict):
        await space.fork(fork_of(source.id, through_seq=4, inherits=False, usage=usage(1)), None)

    assert database.snapshot(space.space_id) == before


async def test_what_a_summary_took(space: SpaceStore) -> None:
    """It counts for the source and the Space, once, and not for the fork."""
    source = await create(space)
    await space.append(source.id, many(2))
    draft = fork_of(source.id, through_seq=2, inherits=False, usage=usage(7))

    made = await space.fork(draft, key())
    await space.fork(draft, key())

    assert (await space.sessions([source.id]))[source.id].usage == usage(7)
    assert (await space.space()).usage == usage(7)
    assert made.usage == Usage()


@pytest.mark.covers("SPLIT-1", "SPLIT-2", "W10")
async def test_the_guard(space: SpaceStore, database: Database) -> None:
    """A session is forked from minTurns on, and again after cooldownTurns more; equality allows."""
    source = await create(space)
    for turn in range(7):
        if turn:
            await exchange(space, source.id)
        if turn in (2, 5):
            await space.fork(fork_of(source.id, guard=GUARD), None)
            continue
        before = database.snapshot(space.space_id)
        with pytest.raises(ForkRefused) as refused:
            await space.fork(fork_of(source.id, guard=GUARD), None)
        assert refused.value.details["missingTurns"] == (2 - turn if turn < 2 else (8 - turn) % 3)
        assert database.snapshot(space.space_id) == before


@pytest.mark.covers("SPLIT-1", "W10")
async def test_turns_of_the_source(space: SpaceStore) -> None:
    """What counts are the source's turns, not those of where the fork hangs, and each session by itself."""
    quiet, busy = await create(space), await create(space)
    for _ in range(2):
        await exchange(space, busy.id)

    with pytest.raises(ForkRefused, match=quiet.id):
        await space.fork(fork_of(quiet.id, parent_id=busy.id, guard=GUARD), None)
    made = await space.fork(fork_of(busy.id, parent_id=quiet.id, guard=GUARD), None)
    with pytest.raises(ForkRefused, match="2 more"):
        await space.fork(fork_of(made.id, guard=GUARD), None)


@pytest.mark.covers("W10")
async def test_every_fork_is_remembered(space: SpaceStore) -> None:
    """A fork without a guard starts the pause as well; what a fork finds says how many turns it was."""
    source = await create(space)
    for _ in range(2):
        await exchange(space, source.id)
    assert (await space.fork_source(source.id, None)).last_split is None

    await space.fork(fork_of(source.id), None)

    assert (await space.fork_source(source.id, None)).last_split == 2
    with pytest.raises(ForkRefused, match="3 more"):
        await space.fork(fork_of(source.id, guard=GUARD), None)


async def test_a_replay_does_not_count(space: SpaceStore, database: Database) -> None:
    """The same key answers the fork that there is, guard or not, and starts no pause."""
    source = await create(space)
    for _ in range(2):
        await exchange(space, source.id)
    first = await space.fork(fork_of(source.id, guard=GUARD), key())
    before = database.snapshot(space.space_id)

    again = await space.fork(fork_of(source.id, guard=GUARD), key())

    assert again == first
    assert database.snapshot(space.space_id) == before


async def test_forks_that_race_the_guard(space: SpaceStore, twin: SpaceStore) -> None:
    """Of many at once one passes."""
    source = await create(space)
    for _ in range(2):
        await exchange(space, source.id)

    won, lost = await race(store.fork(fork_of(source.id, guard=GUARD), None) for store in [space, twin] * 5)

    assert len(won) == 1
    assert {type(error) for error in lost} == {ForkRefused}


async def test_an_archive_that_races_a_summary(space: SpaceStore, twin: SpaceStore) -> None:
    """The fork is there, made before, or the source is archived and nothing of the fork is."""
    for _ in range(5):
        source = await create(space)
        await space.append(source.id, many(2))
        draft = fork_of(source.id, through_seq=2, inherits=False, usage=usage(1))

        made, archived = await both(
            space.fork(draft, None), twin.set_status(source.id, SessionStatus.ARCHIVED)
        )

        assert not isinstance(archived, Exception)
        if isinstance(made, Exception):
            assert isinstance(made, SessionArchived)
        found = await space.sessions([draft.id, source.id])
        assert (draft.id in found) == (not isinstance(made, Exception))
        assert found[source.id].usage == (usage(1) if draft.id in found else Usage())


async def test_what_was_made_before(space: SpaceStore) -> None:
    """Reading a source tells what came of the idempotency key, and refuses one used for something else."""
    source = await create(space)
    assert (await space.fork_source(source.id, None, idempotency=key())).made_before is None
    made = await space.fork(fork_of(source.id), key())

    assert (await space.fork_source(source.id, None, idempotency=key())).made_before == made.id
    with pytest.raises(Conflict):
        await space.fork_source(source.id, None, idempotency=key(input_hash="another"))
    await space.append(source.id, [said()], idempotency=key("append"))
    with pytest.raises(Conflict):
        await space.fork_source(source.id, None, idempotency=key("append"))


@pytest.mark.covers("FORK-7")
async def test_profiles(space: SpaceStore) -> None:
    """Profiles are kept as they were put, by name, in the order of first insertion."""
    plain = ForkProfile(name="a")
    assert await space.put_profile(WHOLE, limit=200) == WHOLE
    assert await space.put_profile(plain, limit=200) == plain
    assert await space.profiles() == [WHOLE, plain]

    changed = ForkProfile(name="研究员", skills=("s",))
    assert await space.put_profile(changed, limit=200) == changed
    assert await space.profiles() == [changed, plain]

    assert await space.delete_profile("研究员")
    assert not await space.delete_profile("研究员")
    assert await space.profiles() == [plain]


async def test_a_profile_with_the_source(space: SpaceStore) -> None:
    """A source is read with the profile that was asked for, None where there is none."""
    source = await create(space)
    await space.put_profile(WHOLE, limit=200)

    assert (await space.fork_source(source.id, None, profile="研究员")).profile == WHOLE
    assert (await space.fork_source(source.id, None, profile="nobody")).profile is None
    assert (await space.fork_source(source.id, None)).profile is None


async def test_so_many_profiles(space: SpaceStore) -> None:
    """There are so many at most, also of many put at once; one that is there can still be changed."""
    won, lost = await race(space.put_profile(ForkProfile(name=f"p{n}"), limit=3) for n in range(8))

    assert len(won) == 3
    assert {type(error) for error in lost} == {LimitExceeded}
    await space.put_profile(won[0].model_copy(update={"prompt": "Hi"}), limit=3)
    await space.delete_profile(won[1].name)
    await space.put_profile(ForkProfile(name="next"), limit=3)
    assert len(await space.profiles()) == 3

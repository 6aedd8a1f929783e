import pytest

from stello_graph.errors import Conflict, NotFound, SessionArchived
from stello_graph.model.message import MessageRole
from stello_graph.model.values import SessionRole, SessionStatus, TopologyStrategy
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import create, exchange, fork_of, many, root, said, texts, told, transcript


@pytest.mark.covers("FORK-1", "TOPO-8")
async def test_without_context(space: SpaceStore) -> None:
    """A fork without context is empty, hangs where it was asked to, and knows its source."""
    source = await create(space)
    await space.append(source.id, many(4))

    made = await space.fork(fork_of(source.id), None)

    node = (await space.nodes([made.id]))[made.id]
    assert (made.message_count, made.next_seq, made.turn_count) == (0, 1, 0)
    assert (node.parent_id, node.depth, node.index) == (source.id, 1, 0)
    assert (node.source_session_id, node.source_seq, node.turn_count) == (source.id, None, 0)
    assert await transcript(space, made.id) == []


async def test_opening_words(space: SpaceStore) -> None:
    """The opening words are the assistant's, and the first message of a fork without context."""
    source = await create(space)

    made = await space.fork(fork_of(source.id, opening=told("What about it?")), None)

    (opening,) = await transcript(space, made.id)
    assert (opening.seq, opening.role, opening.content) == (1, MessageRole.ASSISTANT, "What about it?")
    assert (opening.session_id, made.message_count, made.next_seq) == (made.id, 1, 2)


@pytest.mark.covers("FORK-2")
async def test_inherited_messages_are_the_same(space: SpaceStore, database: Database) -> None:
    """A fork sees the messages up to the cut, the same ones in the same places, and goes on from there."""
    source = await create(space)
    await space.append(source.id, many(6))
    original = await transcript(space, source.id)

    made = await space.fork(fork_of(source.id, through_seq=4, opening=told("So?")), None)

    assert (await transcript(space, made.id))[:4] == original[:4]
    assert texts(await transcript(space, made.id)) == [*texts(original[:4]), "So?"]
    assert (made.message_count, made.next_seq) == (5, 6)
    assert (await space.nodes([made.id]))[made.id].source_seq == 4
    assert len(database.snapshot(space.space_id)["message"]) == 7


@pytest.mark.covers("FORK-3")
async def test_apart_afterwards(space: SpaceStore) -> None:
    """What is said in one of them is not heard in the other."""
    source = await create(space)
    await space.append(source.id, many(2))
    made = await space.fork(fork_of(source.id, through_seq=2), None)

    await space.append(made.id, [said("in the fork")])
    await space.append(source.id, [said("in the source")])

    assert texts(await transcript(space, made.id))[2:] == ["in the fork"]
    assert texts(await transcript(space, source.id))[2:] == ["in the source"]


async def test_a_fork_of_a_fork(space: SpaceStore) -> None:
    """A fork can be forked, at a place that it inherited or at one of its own."""
    source = await create(space)
    await space.append(source.id, many(4))
    middle = await space.fork(fork_of(source.id, through_seq=4, opening=told("Own")), None)

    early = await space.fork(fork_of(middle.id, through_seq=2), None)
    late = await space.fork(fork_of(middle.id, through_seq=5), None)

    assert await transcript(space, early.id) == (await transcript(space, source.id))[:2]
    assert await transcript(space, late.id) == await transcript(space, middle.id)
    assert (await space.nodes([late.id]))[late.id].depth == 2


@pytest.mark.covers("FORK-10")
async def test_where_it_hangs(space: SpaceStore) -> None:
    """A fork may hang under another session than its source: it takes that tree's root and strategy."""
    source = await create(space)
    await space.append(source.id, many(2))
    elsewhere = await create(space, strategy=TopologyStrategy.FLAT)

    made = await space.fork(fork_of(source.id, parent_id=elsewhere.id, through_seq=2), None)

    node = (await space.nodes([made.id]))[made.id]
    assert (node.parent_id, node.source_session_id) == (elsewhere.id, source.id)
    assert (made.root_id, made.strategy) == (elsewhere.id, TopologyStrategy.FLAT)


async def test_its_own_fields(space: SpaceStore) -> None:
    """A fork is STANDARD and has the fields that it was given."""
    source = await create(space, role=SessionRole.MAIN)
    draft = fork_of(
        source.id,
        label="星",
        system_prompt="p",
        skills=(),
        tags=("t",),
        metadata={"a": 1},
        overrides={"overrideModel": "m"},
    )

    made = await space.fork(draft, None)

    assert (made.role, made.label, made.system_prompt) == (SessionRole.STANDARD, "星", "p")
    assert (made.skills, made.tags, made.metadata, made.overrides.model) == ((), ("t",), {"a": 1}, "m")


@pytest.mark.covers("FORK-1")
async def test_memory_stays_behind(space: SpaceStore) -> None:
    """Memory, insight and the count of turns are not inherited."""
    source = await create(space)
    await exchange(space, source.id)
    await space.put_memory(source.id, "what was said")
    await space.put_insight(source.id, "a hint", None)

    made = await space.fork(fork_of(source.id, through_seq=2), None)

    assert (made.memory, made.insight, made.turn_count, made.message_count) == (None, None, 0, 2)


async def test_of_a_trimmed_source(space: SpaceStore) -> None:
    """A fork keeps its source's numbers, also where the source begins later."""
    source = await create(space)
    await space.append(source.id, many(6))
    await space.trim(source.id, 3)

    made = await space.fork(fork_of(source.id, through_seq=5, opening=told("So?")), None)

    assert [message.seq for message in await transcript(space, made.id)] == [4, 5, 6]
    assert (made.message_count, made.next_seq) == (3, 7)


@pytest.mark.covers("W12")
async def test_a_cut_that_is_not_there(space: SpaceStore, database: Database) -> None:
    """Where the message to cut at was trimmed away, or never was, nothing is made."""
    source = await create(space)
    await space.append(source.id, many(6))
    await space.trim(source.id, 3)
    before = database.snapshot(space.space_id)

    for seq in (3, 7):
        with pytest.raises(Conflict):
            await space.fork(fork_of(source.id, through_seq=seq), None)

    assert database.snapshot(space.space_id) == before


@pytest.mark.covers("W12")
async def test_unknown_source_and_parent(space: SpaceStore, database: Database) -> None:
    """Source and parent must exist; else nothing is made."""
    source = await create(space)
    before = database.snapshot(space.space_id)

    with pytest.raises(NotFound, match="nobody"):
        await space.fork(fork_of("nobody", parent_id=source.id), None)
    with pytest.raises(NotFound, match="nowhere"):
        await space.fork(fork_of(source.id, parent_id="nowhere"), None)

    assert database.snapshot(space.space_id) == before


@pytest.mark.covers("W27", "W7")
async def test_archived_source_and_parent(space: SpaceStore) -> None:
    """Archived sources and parents are refused, by name."""
    source = await create(space)
    other = await create(space)
    await space.set_status(source.id, SessionStatus.ARCHIVED)

    with pytest.raises(SessionArchived, match=source.id):
        await space.fork(fork_of(source.id, parent_id=other.id), None)
    with pytest.raises(SessionArchived, match=source.id):
        await space.fork(fork_of(other.id, parent_id=source.id), None)


async def test_a_taken_id(space: SpaceStore) -> None:
    """An id is given once."""
    source = await create(space)

    with pytest.raises(Conflict, match=source.id):
        await space.fork(fork_of(source.id, id=source.id), None)


async def test_what_a_fork_knows_of_its_source(space: SpaceStore) -> None:
    """A source is read whole, with its Space and the messages at and after the cut."""
    draft = root(
        "Source", system_prompt="p", skills=("s",), overrides={"overrideModel": "m"}, metadata={"a": 1}
    )
    source = await space.create_session(draft, None)
    await exchange(space, source.id)
    await space.put_memory(source.id, "memory")
    await space.put_insight(source.id, "hint", "somebody")
    await space.append(source.id, many(4))
    messages = await transcript(space, source.id)

    newest = await space.fork_source(source.id, None)
    cut = await space.fork_source(source.id, 3)

    assert newest.session == (await space.sessions([source.id]))[source.id]
    assert newest.space == await space.space()
    assert newest.tail == (messages[-1],)
    assert cut.tail == (messages[2], messages[3])
    assert (await space.fork_source(source.id, 99)).tail == ()


async def test_an_unknown_source(space: SpaceStore) -> None:
    """A source that does not exist is not found."""
    with pytest.raises(NotFound):
        await space.fork_source("nobody", None)

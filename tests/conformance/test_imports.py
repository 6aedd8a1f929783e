import json

import pytest

from stello_graph.errors import Conflict, NotFound
from stello_graph.ids import new_id
from stello_graph.model.search import SearchScope, parse_query
from stello_graph.model.session import Insight
from stello_graph.model.values import SessionRole, SessionStatus, TopologyStrategy
from stello_graph.model.writes import ImportDraft, StoredTranscript
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import (
    begin,
    child,
    create,
    fork_of,
    many,
    placed,
    said,
    told,
    tool_group,
    transcript,
)
from tests.conformance.racing import race


def imported(**fields: object) -> ImportDraft:
    """A draft; a fork hangs below its source unless a parent is given."""
    draft = {"id": f"chatgpt:{new_id()}", "label": "星", "turn_count": 2, "messages": tuple(many(4))}
    return ImportDraft.model_validate(draft | {"parent_id": fields.get("source_id")} | fields)


async def test_a_root(space: SpaceStore) -> None:
    """An imported session is a root with its messages, times and counts."""
    draft = imported(tags=("t",), metadata={"a": 1}, created_at=5, updated_at=9)

    assert await space.import_session(draft)

    session = (await space.sessions([draft.id]))[draft.id]
    node = (await space.nodes([draft.id]))[draft.id]
    assert (session.label, session.tags, session.metadata) == ("星", ("t",), {"a": 1})
    assert (session.created_at, session.updated_at, session.last_active_at) == (5, 9, 9)
    assert (session.message_count, session.next_seq, session.turn_count) == (4, 5, 2)
    assert (node.parent_id, node.index, node.turn_count, node.source_session_id) == (None, 0, 2, None)
    messages = await transcript(space, draft.id)
    assert [(message.seq, message.id) for message in messages] == [
        (seq, one.id) for seq, one in enumerate(draft.messages, 1)
    ]
    assert [message.created_at for message in messages] == [5] * 4


async def test_without_times(space: SpaceStore) -> None:
    """What the file does not say of times is now, and a message's time is its own."""
    draft = imported(messages=(said(created_at=7), *tool_group(2), told()))
    await space.import_session(draft)

    session = (await space.sessions([draft.id]))[draft.id]
    first, *others = await transcript(space, draft.id)

    assert session.created_at == session.updated_at == session.last_active_at
    assert first.created_at == 7
    assert {message.created_at for message in others} == {session.created_at}
    assert [message.tool_calls for message in (first, *others)] == [one.tool_calls for one in draft.messages]


async def test_a_branch(space: SpaceStore, database: Database) -> None:
    """A branch is a fork that shares messages up to a place and adds its own."""
    source = imported()
    await space.import_session(source)
    branch = imported(source_id=source.id, through_seq=2, messages=tuple(many(3)))

    assert await space.import_session(branch)

    node = (await space.nodes([branch.id]))[branch.id]
    assert (node.parent_id, node.depth, node.index) == (source.id, 1, 0)
    assert (node.source_session_id, node.source_seq) == (source.id, 2)
    messages = await transcript(space, branch.id)
    assert [message.seq for message in messages] == [1, 2, 3, 4, 5]
    assert messages[:2] == (await transcript(space, source.id))[:2]
    session = (await space.sessions([branch.id]))[branch.id]
    assert (session.message_count, session.next_seq, session.root_id) == (5, 6, source.id)
    assert len(database.snapshot(space.space_id)["message"]) == 7


async def test_a_branch_from_the_start(space: SpaceStore) -> None:
    """A branch may share nothing."""
    source = imported()
    await space.import_session(source)
    branch = imported(source_id=source.id, messages=())

    assert await space.import_session(branch)

    node = (await space.nodes([branch.id]))[branch.id]
    assert (node.source_session_id, node.source_seq) == (source.id, None)
    assert await transcript(space, branch.id) == []


async def test_all_that_a_session_remembers(space: SpaceStore) -> None:
    """Its role, prompt and skills, digest, insight and synthesis, all with its one event; where it hangs and
    where it was forked from are two things.
    """
    main = imported(role=SessionRole.MAIN, synthesis="so far", system_prompt="Be kind.", skills=())
    await space.import_session(main)
    source = imported(parent_id=main.id, memory="the harbour of whales", insight="ask", updated_at=9)
    await space.import_session(source)
    fork = imported(parent_id=main.id, source_id=source.id, status=SessionStatus.ARCHIVED, last_active_at=7)
    await space.import_session(fork)

    sessions = await space.sessions([main.id, source.id, fork.id])
    root, told, last = (sessions[one.id] for one in (main, source, fork))
    assert (root.role, root.strategy, root.synthesis, root.synthesis_revision) == (
        SessionRole.MAIN,
        TopologyStrategy.FLAT,
        "so far",
        1,
    )
    assert (root.system_prompt, root.skills, root.memory, root.insight) == ("Be kind.", (), None, None)
    assert (told.memory, told.memory_revision, told.root_id) == ("the harbour of whales", 1, main.id)
    assert told.insight == Insight(content="ask", put_at=9, revision=1)
    assert (last.status, last.last_active_at) == (SessionStatus.ARCHIVED, 7)
    nodes = await space.nodes([main.id, fork.id])
    assert (nodes[main.id].role, nodes[fork.id].role) == (SessionRole.MAIN, SessionRole.STANDARD)
    assert (nodes[fork.id].parent_id, nodes[fork.id].source_session_id, nodes[fork.id].source_seq) == (
        main.id,
        source.id,
        None,
    )
    (digest,) = (await space.to_integrate(main.id, 10)).digests
    assert (digest.id, digest.memory_seq) == (source.id, told.event_seq)
    found = await space.search(parse_query("whales"), [SearchScope.MEMORY], root_id=None, first=5)
    assert [each.session_id for each in found] == [source.id]


async def test_events(space: SpaceStore, database: Database) -> None:
    """An imported session is an event of the map: created, or forked from its source."""
    source = imported()
    await space.import_session(source)
    await space.import_session(imported(source_id=source.id, through_seq=1, messages=()))

    found = sorted(database.snapshot(space.space_id)["event"], key=lambda row: row["seq"])

    root = {"parentId": None, "label": "星", "imported": True}
    assert [(row["seq"], row["type"]) for row in found] == [(1, "SESSION_CREATED"), (2, "SESSION_FORKED")]
    assert [json.loads(row["data"]) for row in found] == [
        root,
        root | {"parentId": source.id, "sourceSessionId": source.id, "sourceSeq": 1},
    ]


async def test_a_taken_id(space: SpaceStore, database: Database) -> None:
    """What is there already is left as it is."""
    draft = imported()
    await space.import_session(draft)
    before = database.snapshot(space.space_id)

    assert not await space.import_session(imported(id=draft.id, label="Another"))
    assert database.snapshot(space.space_id) == before


async def test_refusals(space: SpaceStore, database: Database) -> None:
    """A branch needs its source, and the message that it leaves it at."""
    source = imported()
    await space.import_session(source)
    before = database.snapshot(space.space_id)

    with pytest.raises(NotFound, match="nobody"):
        await space.import_session(imported(source_id="nobody", through_seq=1))
    with pytest.raises(Conflict):
        await space.import_session(imported(source_id=source.id, through_seq=9))

    assert database.snapshot(space.space_id) == before


async def test_archived(space: SpaceStore) -> None:
    """Archived sessions are imported as such, and may have branches."""
    source = imported(status=SessionStatus.ARCHIVED)
    await space.import_session(source)

    await space.import_session(imported(source_id=source.id, through_seq=4, messages=()))

    assert (await space.nodes([source.id]))[source.id].status == SessionStatus.ARCHIVED


async def test_the_tree_of_an_import(space: SpaceStore) -> None:
    """An imported root is a TREE; a branch takes its tree's strategy."""
    flat = await create(space, strategy=TopologyStrategy.FLAT)
    await space.append(flat.id, many(2))
    root, branch = imported(), imported(source_id=flat.id, through_seq=1)
    await space.import_session(root)
    await space.import_session(branch)

    sessions = await space.sessions([root.id, branch.id])
    assert sessions[root.id].strategy == TopologyStrategy.TREE
    assert (sessions[branch.id].strategy, sessions[branch.id].root_id) == (TopologyStrategy.FLAT, flat.id)


async def test_what_is_stored(space: SpaceStore) -> None:
    """An import learns which messages of a conversation are there already, and where its sessions end."""
    draft = imported()
    branch = imported(id=f"{draft.id}:leaf", source_id=draft.id, through_seq=2, messages=())
    longer = imported(id=f"{draft.id}0")
    for one in (draft, branch, imported(id=f"{draft.id}-"), longer):
        await space.import_session(one)
    await space.append(draft.id, [said(id="own")])
    ids = tuple(one.id for one in draft.messages)

    theirs = tuple(one.id for one in longer.messages)
    assert await space.stored_transcripts([longer.id, "nobody", draft.id]) == {
        draft.id: {
            draft.id: StoredTranscript(id=draft.id, next_seq=6, message_ids=(*ids, "own")),
            branch.id: StoredTranscript(id=branch.id, next_seq=3, message_ids=ids[:2]),
        },
        longer.id: {longer.id: StoredTranscript(id=longer.id, next_seq=5, message_ids=theirs)},
        "nobody": {},
    }
    assert await space.stored_transcripts([]) == {}


async def test_going_on(space: SpaceStore) -> None:
    """An imported session goes on like any other."""
    draft = imported()
    await space.import_session(draft)

    begun = await begin(space, draft.id, "More")

    assert (begun.turn.number, begun.user_message.seq) == (1, 5)
    assert len(begun.conversation.transcript) == 4


async def test_importing_again_what_lives_on_elsewhere(space: SpaceStore) -> None:
    """Where an imported session was deleted but a fork kept its messages, it can be imported again."""
    draft = imported()
    await space.import_session(draft)
    elsewhere = await create(space)
    kept = await space.fork(fork_of(draft.id, parent_id=elsewhere.id, through_seq=3), None)
    await space.delete_session(draft.id, 1, 10)

    assert await space.import_session(draft)

    again = await transcript(space, draft.id)
    assert [message.id for message in again] == [one.id for one in draft.messages]
    assert again[:3] == await transcript(space, kept.id)


async def test_importing_at_once(space: SpaceStore, twin: SpaceStore, database: Database) -> None:
    """Of many who import one session one does; none of its messages is there twice."""
    source = imported()
    branch = imported(source_id=source.id, through_seq=2)
    for draft in (source, branch):
        won, lost = await race(store.import_session(draft) for store in [space, twin] * 4)

        assert (sorted(won), lost) == ([False] * 7 + [True], [])
    assert len(database.snapshot(space.space_id)["message"]) == 8


async def test_a_big_import(space: SpaceStore) -> None:
    """Some thousands of messages come in at once."""
    draft = imported(messages=tuple(many(5_000)))

    await space.import_session(draft)

    assert (await space.sessions([draft.id]))[draft.id].message_count == 5_000
    assert (await space.stored_transcripts([draft.id]))[draft.id][draft.id].message_ids[-1] == draft.messages[
        -1
    ].id


async def test_many_at_once(space: SpaceStore, database: Database) -> None:
    """Many sessions come in one transaction, each in its place, as if they had come one after the other."""
    before = (await create(space)).id
    roots = [
        placed("a", created_at=5, last_active_at=9, tags=("t",), strategy="FLAT", metadata={"m": [1]}),
        placed("b", status="ARCHIVED", updated_at=7),
    ]
    await space.create_session(child(before), None)
    below = [placed("c", before), placed("d", "a", source_id="b"), placed("e", before, messages=())]

    assert await space.import_sessions(roots)
    assert await space.import_sessions(below)

    nodes = await space.nodes(["a", "b", "c", "d", "e", before])
    assert [(nodes[id].parent_id, nodes[id].depth, nodes[id].index) for id in "abcde"] == [
        (None, 0, 1),
        (None, 0, 2),
        (before, 1, 1),
        ("a", 1, 0),
        (before, 1, 2),
    ]
    assert (nodes[before].child_count, nodes["a"].child_count) == (3, 1)
    assert (nodes["d"].source_session_id, nodes["d"].source_seq, nodes["d"].turn_count) == ("b", None, 2)
    sessions = await space.sessions(["a", "b", "d", "e"])
    assert (sessions["a"].created_at, sessions["a"].last_active_at, sessions["a"].tags) == (5, 9, ("t",))
    assert (sessions["b"].status, sessions["d"].root_id) == (SessionStatus.ARCHIVED, "a")
    assert (sessions["a"].metadata, sessions["a"].updated_at) == ({"m": [1]}, 9)
    assert (sessions["b"].metadata, sessions["b"].updated_at, sessions["b"].last_active_at) == ({}, 7, 7)
    strategies = [sessions[id].strategy for id in "abde"]
    assert strategies == [TopologyStrategy(name) for name in ("FLAT", "TREE", "FLAT", "TREE")]
    assert (sessions["e"].message_count, sessions["e"].next_seq) == (0, 1)
    assert [(m.id, m.seq) for m in await transcript(space, "d")] == [
        (one.id, seq) for seq, one in enumerate(below[1].messages, 1)
    ]
    events = sorted(database.snapshot(space.space_id)["event"], key=lambda row: row["seq"])[-3:]
    assert [(row["type"], row["nodeId"]) for row in events] == [
        ("SESSION_CREATED", "c"),
        ("SESSION_FORKED", "d"),
        ("SESSION_CREATED", "e"),
    ]
    assert (await begin(space, "c", "More")).user_message.seq == 5


async def test_many_or_none(space: SpaceStore, database: Database) -> None:
    """Where one id is taken or one parent is missing, nothing is written."""
    assert await space.import_sessions([])
    await create(space, id="taken")
    before = database.snapshot(space.space_id)

    assert not await space.import_sessions([placed("a"), placed("taken"), placed("b", "taken")])
    with pytest.raises(NotFound, match="nobody"):
        await space.import_sessions([placed("a"), placed("b", "taken"), placed("c", "nobody")])

    assert database.snapshot(space.space_id) == before


async def test_many_beside_others(space: SpaceStore, twin: SpaceStore) -> None:
    """Those who make many sessions under one parent at the same time give each place once."""
    parent = (await create(space)).id
    lots = [[placed(f"{n}-{m}", parent if m % 2 else None) for m in range(10)] for n in range(6)]
    won, lost = await race(
        store.import_sessions(lot) for store, lot in zip([space, twin] * 3, lots, strict=True)
    )

    assert (won, lost) == ([True] * 6, [])
    assert (await space.nodes([parent]))[parent].child_count == 30
    assert (await space.space()).session_count == 61

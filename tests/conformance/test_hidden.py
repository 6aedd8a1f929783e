"""What an index does not show yet is not taken for missing: it is held against what the session counts.

On Neo4j a fork was once told that a message is missing that had been committed two statements before.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from stello_graph.errors import SessionBusy, StoreUnavailable
from stello_graph.ids import key_of, new_id
from stello_graph.model.turn import Turn
from stello_graph.model.values import Usage
from stello_graph.model.writes import ImportDraft
from stello_graph.ports import SpaceStore
from stello_graph.store.engine import Engine, Row, WrappedEngine
from stello_graph.store.queries import Query
from stello_graph.store.reading import Reading
from stello_graph.store.store import GraphStore
from tests.conformance.conftest import OpenEngine
from tests.conformance.databases import Database
from tests.conformance.drafts import (
    LEASE,
    begin,
    create,
    end_of,
    fork_of,
    many,
    summary_of,
    texts,
    told,
    transcript,
)

# A file shows each commit whole, so what the embedded engine writes is not held against anything.
graphs = pytest.mark.parametrize("engine", ["neo4j", "neo4j-calendar"], indirect=True)
ALWAYS = 99


class Late(WrappedEngine):
    """An engine that does not show one message, or turn, the first times that a query is asked."""

    def __init__(self, engine: Engine, database: Database) -> None:
        super().__init__(engine)
        self._database = database
        self._query, self._times = "", 0
        self._key = ""
        self._seq: int | None = None
        self.asked = 0

    def hide(self, query: str, key: str, seq: int | None = None, *, times: int = 1) -> None:
        self._query, self._key, self._seq, self._times = query, key, seq, times

    async def read(self, query: Query, counted: Reading | None = None, /, **params: Any) -> list[Row]:
        return await self._ask(query, lambda: super(Late, self).read(query, counted, **params))

    async def write(self, query: Query, **params: Any) -> list[Row]:
        return await self._ask(query, lambda: super(Late, self).write(query, **params))

    async def _ask(self, query: Query, ask: Callable[[], Awaitable[list[Row]]]) -> list[Row]:
        if query.name != self._query:
            return await ask()
        self.asked += 1
        if self.asked > self._times:
            return await ask()
        with self._database.hidden(self._key, self._seq):
            return await ask()


@pytest.fixture
def late(open_engine: OpenEngine, database: Database) -> Late:
    """The engine of a process to which the store shows things late."""
    return Late(open_engine(), database)


@pytest.fixture
def behind(late: Late, space: SpaceStore) -> SpaceStore:
    """The Space as that process sees it."""
    return GraphStore(late).in_space(space.space_id)


async def talker(space: SpaceStore, count: int = 6) -> str:
    session = await create(space)
    await space.append(session.id, many(count))
    return session.id


def sharing(source_id: str, through: int) -> ImportDraft:
    return ImportDraft(
        id=new_id(),
        label="Shared",
        turn_count=0,
        messages=tuple(many(1)),
        parent_id=source_id,
        source_id=source_id,
        through_seq=through,
    )


@graphs
@pytest.mark.parametrize("seq", [3, 4, 6])
async def test_a_fork_shares_all(space: SpaceStore, behind: SpaceStore, late: Late, seq: int) -> None:
    """INHERIT shares exactly what its source holds up to the cut, or is tried again."""
    source = await talker(space, 7)
    await space.trim(source, 5)
    late.hide("sessions/fork", key_of(space.space_id, source), seq)

    made = await behind.fork(fork_of(source, through_seq=6, opening=told("So?")), None)

    assert late.asked == 2
    assert (made.message_count, made.next_seq) == (5, 8)
    assert (await transcript(space, made.id))[:-1] == (await transcript(space, source))[:-1]


@graphs
@pytest.mark.parametrize("inherits", [True, False])
async def test_a_fork_of_what_never_shows(
    space: SpaceStore, behind: SpaceStore, late: Late, database: Database, inherits: bool
) -> None:
    """What stays hidden leaves nothing half done; a later call may pass. A summary shares nothing."""
    source = await talker(space)
    late.hide("sessions/fork", key_of(space.space_id, source), 6, times=ALWAYS)
    before = database.snapshot(space.space_id)

    if not inherits:
        assert (await behind.fork(fork_of(source, through_seq=6, inherits=False), None)).message_count == 0
        return
    with pytest.raises(StoreUnavailable) as refused:
        await behind.fork(fork_of(source, through_seq=6), None)

    assert refused.value.retryable
    assert database.snapshot(space.space_id) == before


@graphs
@pytest.mark.parametrize("seq", [2, 4])
async def test_an_import_shares_all(space: SpaceStore, behind: SpaceStore, late: Late, seq: int) -> None:
    """An imported fork shares exactly what its source holds up to the cut, or is tried again."""
    source = await talker(space)
    draft = sharing(source, 4)
    late.hide("imports/session", key_of(space.space_id, source), seq)

    assert await behind.import_session(draft)

    assert late.asked == 2
    assert [message.seq for message in await transcript(space, draft.id)] == [1, 2, 3, 4, 5]


@graphs
async def test_trimming_deletes_all(space: SpaceStore, behind: SpaceStore, late: Late) -> None:
    """Trimming deletes exactly what is older, or is tried again."""
    session = await talker(space)
    late.hide("messages/trim", key_of(space.space_id, session), 2)

    assert (await behind.trim(session, 3)).message_count == 3

    assert late.asked == 2
    assert [message.seq for message in await transcript(space, session)] == [4, 5, 6]


@graphs
async def test_a_hidden_turn_holds_its_session(space: SpaceStore, behind: SpaceStore, late: Late) -> None:
    """A session that a turn holds is busy, whether the turn is seen or not."""
    session = await talker(space)
    held = await begin(space, session)
    late.hide("turns/begin", key_of(space.space_id, held.turn.id))

    with pytest.raises(SessionBusy) as busy:
        await begin(behind, session)

    assert late.asked == 2
    assert busy.value.details["turnId"] == held.turn.id


async def _store(space: SpaceStore, turn: Turn) -> Any:
    answer = [told("Hi", turn_id=turn.id)]
    return await space.store_messages(turn, answer, lease=LEASE, usage=Usage(), tool_rounds=0)


async def _end(space: SpaceStore, turn: Turn) -> Any:
    return await space.end_turn(end_of(turn, told("Hi", turn_id=turn.id)))


@graphs
@pytest.mark.parametrize(("query", "call"), [("turns/store", _store), ("turns/end", _end)])
async def test_a_hidden_turn_is_not_lost(
    space: SpaceStore,
    behind: SpaceStore,
    late: Late,
    query: str,
    call: Callable[[SpaceStore, Turn], Awaitable[Any]],
) -> None:
    """What a turn says is stored while its session names it, whether the turn is seen or not."""
    session = (await create(space)).id
    held = await begin(space, session)
    late.hide(query, key_of(space.space_id, held.turn.id))

    assert await call(behind, held.turn) is not None

    assert late.asked == 2
    assert texts(await transcript(space, session)) == ["Hello", "Hi"]


@pytest.mark.parametrize("seq", [4, 5, 6])
async def test_a_turn_is_given_all(space: SpaceStore, behind: SpaceStore, late: Late, seq: int) -> None:
    """A turn begins with the whole transcript that no summary covers, once, however often it is asked."""
    session = await talker(space)
    await space.store_compression(session, summary_of(3), usage=Usage())
    late.hide("turns/begin", key_of(space.space_id, session), seq)

    begun = await begin(behind, session)

    assert late.asked == 2
    assert [message.seq for message in begun.conversation.transcript] == [4, 5, 6]
    assert begun.user_message.seq == 7
    assert begun.turn.number == 1


@pytest.mark.parametrize("seq", [1, 3, 6])
async def test_a_conversation_is_read_whole(
    space: SpaceStore, behind: SpaceStore, late: Late, seq: int
) -> None:
    """What a model is given, or summarises, has no gap, neither within nor at an end."""
    session = await talker(space)
    for query, read in (
        ("sessions/conversation", behind.conversation),
        ("sessions/whole_conversation", behind.whole_conversation),
    ):
        late.hide(query, key_of(space.space_id, session), seq)
        late.asked = 0

        assert [message.seq for message in (await read(session)).transcript] == [1, 2, 3, 4, 5, 6]

        assert late.asked == 2


@pytest.mark.parametrize("seq", [5, 6])
async def test_what_is_digested_goes_to_the_end(
    space: SpaceStore, behind: SpaceStore, late: Late, seq: int
) -> None:
    """What is to be digested has no gap and goes to the newest message."""
    session = await talker(space)
    late.hide("sessions/undigested", key_of(space.space_id, session), seq)

    found = await behind.undigested(session, 3)

    assert late.asked == 2
    assert [message.seq for message in found.transcript] == [4, 5, 6]


@pytest.mark.parametrize(("through", "hidden", "tail"), [(None, 6, [6]), (3, 3, [3, 4]), (3, 4, [3, 4])])
async def test_a_source_shows_its_cut(
    space: SpaceStore, behind: SpaceStore, late: Late, through: int | None, hidden: int, tail: list[int]
) -> None:
    """A fork is told of the message at its cut and the next one, as far as its source has them."""
    source = await talker(space)
    late.hide("sessions/fork_source", key_of(space.space_id, source), hidden)

    found = await behind.fork_source(source, through)

    assert late.asked == 2
    assert [message.seq for message in found.tail] == tail


@pytest.mark.parametrize("seq", [1, 6])
async def test_what_an_import_finds_is_whole(
    space: SpaceStore, behind: SpaceStore, late: Late, seq: int
) -> None:
    """What is stored of an imported conversation has no gap, so that nothing is added twice."""
    session = await talker(space)
    late.hide("imports/state", key_of(space.space_id, session), seq)

    found = (await behind.stored_transcripts([session]))[session][session]

    assert late.asked == 2
    assert found.message_ids == tuple(message.id for message in await transcript(space, session))


async def test_what_is_not_there_is_asked_once(space: SpaceStore, behind: SpaceStore, late: Late) -> None:
    """Where nothing is hidden nothing is asked twice: trimmed, summarised, empty or beyond the end."""
    session = await talker(space)
    await space.trim(session, 2)
    await space.put_memory(session, "all of it")
    empty = (await create(space)).id
    for id, through, tail in (
        (session, None, [6]),
        (session, 2, []),
        (session, 4, [5]),
        (session, 99, []),
        (empty, None, []),
        (empty, 1, []),
    ):
        late.hide("sessions/fork_source", "", times=0)
        late.asked = 0
        assert [message.seq for message in (await behind.fork_source(id, through)).tail] == tail
        assert late.asked == 1
    for id, count in ((session, 2), (empty, 0)):
        for query, read in (
            ("sessions/conversation", behind.conversation),
            ("sessions/whole_conversation", behind.whole_conversation),
        ):
            late.hide(query, "", times=0)
            late.asked = 0
            assert len((await read(id)).transcript) == count
            assert late.asked == 1

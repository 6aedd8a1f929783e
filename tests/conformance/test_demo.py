"""The demo on every engine: what a newcomer sees first is whole, and shows all there is."""

from collections import Counter

import pytest

from stello_graph.demo import contents
from stello_graph.demo.load import load_demo
from stello_graph.errors import Conflict, InvalidInput
from stello_graph.model.message import MessageRole, MessageState
from stello_graph.model.session import Session
from stello_graph.model.topology import Columns
from stello_graph.model.values import SessionRole, SessionStatus, TopologyStrategy
from stello_graph.model.writes import SessionFilter
from stello_graph.ports import SpaceStore
from stello_graph.session.context.groups import check_whole
from tests.conformance.drafts import ALL, begin, transcript
from tests.conformance.racing import race


async def columns(space: SpaceStore) -> Columns:
    found = await space.star_map(None, max_depth=None, max_nodes=ALL, include_archived=True)
    return found.columns


async def sessions_of(space: SpaceStore) -> dict[str, Session]:
    return {one.id: one for one in await space.list_sessions(SessionFilter(), after="", first=1_000)}


async def test_the_forest(space: SpaceStore) -> None:
    """Every feature is there to be looked at; every transcript is legal, and goes on."""
    told: list[int] = []
    made = await load_demo(space, on_made=told.append)

    found, stars = await sessions_of(space), await columns(space)
    assert made == len(found) == told[-1] == 40
    by_role = Counter((one.role, one.strategy) for one in found.values())
    assert by_role[SessionRole.MAIN, TopologyStrategy.FLAT] == 1
    assert by_role[SessionRole.MAIN, TopologyStrategy.HIERARCHICAL] == 1
    for what in ("memory", "insight", "synthesis", "rollup", "compression", "skills", "system_prompt"):
        assert any(getattr(one, what) for one in found.values()), what
    assert any("<parent_context>" in (one.system_prompt or "") for one in found.values())
    assert {one.status for one in found.values()} == set(SessionStatus)
    assert len(stars["refs"]) > 5
    kept = list(zip(stars["parent"], stars["source"], strict=True))
    assert any(source >= 0 and source != parent for parent, source in kept)
    assert max(stars["depth"]) >= 3
    assert stars["parent"].count(-1) >= 5
    assert await space.records("", after="", first=10)
    assert await space.shared_memories()
    assert await space.skills()
    assert await space.profiles()
    await check_transcripts(space, found)
    assert (await begin(space, "detector-tiny", "And now?")).user_message.seq == 5


async def check_transcripts(space: SpaceStore, found: dict[str, Session]) -> None:
    said = {id: await transcript(space, id) for id in found}
    for messages in said.values():
        check_whole(messages)
    everything = [message for messages in said.values() for message in messages]
    assert {message.role for message in everything} == set(MessageRole)
    assert any(message.state is MessageState.TRUNCATED for message in everything)
    assert any(message.is_error for message in everything)
    assert any(message.parts for message in everything)
    assert {len(messages) for messages in said.values()} >= {0, 2}
    assert max(map(len, said.values())) >= 20
    for session in contents.sessions():
        if session.through is not None:
            check_whole(said[str(session.source)][: session.through])


async def test_an_empty_space_only(space: SpaceStore) -> None:
    """A Space that has sessions is left as it is; what stands beside them is never overwritten."""
    await space.put_record("project.name", "ours", None)
    await space.put_shared_memory("units", "ours", "", limit=9)
    assert await load_demo(space, 3) == 3
    with pytest.raises(Conflict, match="not empty"):
        await load_demo(space)

    record, memory = await space.record("project.name"), await space.shared_memory("units")
    assert record is not None
    assert memory is not None
    assert (record.value, memory.summary) == ("ours", "ours")
    assert set(await sessions_of(space)) == {"whale-bay", "hydrophone", "hydrophone-diy"}


async def test_a_space_that_somebody_fills_meanwhile(space: SpaceStore, twin: SpaceStore) -> None:
    """Of two who load the demo at once one is refused."""
    won, lost = await race(load_demo(one, 5) for one in (space, twin))

    assert (won, len(lost)) == ([5], 1)
    assert isinstance(lost[0], Conflict)
    assert len(await sessions_of(space)) == 5


async def test_sizes(space: SpaceStore) -> None:
    """As many as are asked for: light ones after the demo's own."""
    for size in (0, 100_001):
        with pytest.raises(InvalidInput):
            await load_demo(space, size)

    assert await load_demo(space, 150) == 150

    stars = await columns(space)
    light = [id for id in stars["id"] if id.startswith("light-")]
    assert (len(stars["id"]), len(light)) == (150, 110)
    assert stars["source"].count(-1) < 100
    assert await transcript(space, light[-1]) != []

"""The events of the map through GraphQL."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from stello_graph.errors import NotFound
from stello_graph.graphql.schema import schema
from stello_graph.llm.offline import OfflineLLM
from stello_graph.model.requests import CreateSession, UpdateSession
from stello_graph.service import StelloGraph
from stello_graph.settings import Settings
from stello_graph.store.store import GraphStore
from tests.e2e.waiting import until
from tests.unit.graphql.conftest import Api, RecordingEngine

FOLLOW = """subscription($after: Long, $root: ID) { topologyEvents(after: $after, rootId: $root) {
  seq type nodeId node { label childCount } data at } }"""
PAST = "query($after: Long!, $first: Int) { events(after: $after, first: $first) { seq type nodeId node { label } } }"


async def follow(api: Api, **variables: Any) -> AsyncIterator[dict[str, Any]]:
    """What a subscriber is told."""
    results = await schema.subscribe(FOLLOW, variable_values=variables, context_value=api.context())
    assert isinstance(results, AsyncIterator), results
    async with aclosing(results):
        async for result in results:
            if result.errors:
                yield {**(result.errors[0].extensions or {}), "message": result.errors[0].message}
            else:
                assert result.data is not None
                yield result.data["topologyEvents"]


async def take(api: Api, count: int, **variables: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    async with aclosing(follow(api, **variables)) as events:  # type: ignore[type-var]
        async for event in events:
            found.append(event)
            if len(found) == count:
                break
    return found


async def some(api: Api) -> None:
    space = api.graph.space()
    await space.create_session(CreateSession(id="a", label="A"))
    await space.create_session(CreateSession(id="b", parent_id="a"))
    await space.create_session(CreateSession(id="c"))
    await space.delete("b", 1)


async def test_past_events(api: Api) -> None:
    """A page, the oldest first; the nodes of all of them cost one query, null once they are deleted."""
    await some(api)
    api.engine.ran.clear()
    found = (await api.ask(PAST, after=0, first=3))["events"]
    assert found == [
        {"seq": 1, "type": "SESSION_CREATED", "nodeId": "a", "node": {"label": "A"}},
        {"seq": 2, "type": "SESSION_CREATED", "nodeId": "b", "node": None},
        {"seq": 3, "type": "SESSION_CREATED", "nodeId": "c", "node": {"label": "Root"}},
    ]
    assert api.engine.ran == ["events/page", "topology/nodes"]
    assert (await api.ask(PAST, after=4))["events"] == []
    assert (await api.refused(PAST, after=5))["code"] == "INVALID_INPUT"
    assert (await api.refused(PAST, after=-1))["code"] == "INVALID_INPUT"
    assert (await api.refused(PAST, after=0, first=1001))["code"] == "LIMIT_EXCEEDED"


async def test_a_subscription(api: Api) -> None:
    """From a number on, then live, each with the node as it is by then."""
    await some(api)
    space = api.graph.space()
    async with aclosing(follow(api, after=3)) as events:  # type: ignore[type-var]
        gone = await anext(events)
        assert (gone["seq"], gone["type"], gone["node"]) == (4, "SESSION_DELETED", None)
        assert gone["data"] == {"ids": ["b"], "parentId": "a"}
        for label in ("one", "two"):
            waiting = asyncio.ensure_future(anext(events))
            await until(lambda: bool(api.graph.watch.seen("default")), "it waits")
            await space.update_session("a", UpdateSession(label=label))
            told = await asyncio.wait_for(waiting, 60)
            assert told["node"] == {"label": label, "childCount": 0}


async def test_one_tree(api: Api) -> None:
    """A root's tree alone, also what was deleted in it; another node of a tree is refused."""
    await some(api)
    assert [event["seq"] for event in await take(api, 3, after=0, root="a")] == [1, 2, 4]
    await api.graph.space().create_session(CreateSession(id="d", parent_id="c"))
    assert (await take(api, 1, after=0, root="d"))[0]["code"] == "INVALID_INPUT"
    assert (await take(api, 1, after=0, root="/"))[0]["code"] == "INVALID_INPUT"


@pytest.mark.parametrize("after", [99, -1])
async def test_numbers_that_are_not_there(api: Api, after: int) -> None:
    """A subscription that cannot start ends with its error."""
    assert (await take(api, 1, after=after))[0]["code"] == "INVALID_INPUT"
    assert api.graph.watch.seen("default") == []


async def test_subscribers_that_vanish(tmp_path: Path) -> None:
    """Ten go away: no task and no looking is left; while they are there one query asks for all of them."""
    engine = RecordingEngine(tmp_path / "stello.db")
    settings = Settings(grace=0, scheduler_seconds=3600, janitor_seconds=3600, event_seconds=0.02)
    async with StelloGraph(GraphStore(engine), OfflineLLM(delay=0), settings) as graph:
        api = Api(graph, engine)
        await some(api)
        await asyncio.sleep(0.05)
        before = len(asyncio.all_tasks())
        followers = [asyncio.create_task(take(api, 2, after=3)) for _ in range(10)]
        await until(lambda: graph.watch.seen("default") == [4] * 10, "all of them wait")
        engine.everything.clear()
        await until(lambda: len(engine.everything) > 2, "it is looked for what others wrote")
        assert set(engine.everything) == {"events/newest"}

        for each in followers:
            each.cancel()
        await asyncio.gather(*followers, return_exceptions=True)

        assert graph.watch.seen("default") == []
        await until(lambda: len(asyncio.all_tasks()) == before, "no task is left")
        engine.everything.clear()
        await asyncio.sleep(0.1)
        assert engine.everything == []


async def test_subscribers_that_are_woken_together_share_their_reads(api: Api) -> None:
    """Each hears of everything, also of what is written while a read runs, for the reads of one."""
    await some(api)
    space = api.graph.space()
    followers = [asyncio.create_task(take(api, 4, after=1)) for _ in range(50)]
    await until(lambda: api.graph.watch.seen("default") == [4] * 50, "all of them wait")
    api.engine.everything.clear()

    await space.update_session("a", UpdateSession(label="one"))

    for heard in await asyncio.gather(*followers):
        assert [event["seq"] for event in heard] == [2, 3, 4, 5]
    assert api.engine.everything.count("events/page") <= 2

    followers = [asyncio.create_task(take(api, 20, after=5)) for _ in range(50)]
    for number in range(20):
        await space.update_session("a", UpdateSession(label=f"{number}"))
    for heard in await asyncio.gather(*followers):
        assert [event["seq"] for event in heard] == list(range(6, 26))


async def test_the_store_is_pruned_by_the_service(tmp_path: Path) -> None:
    """A service removes what is older than its setting says, and never the newest event."""
    engine = RecordingEngine(tmp_path / "stello.db")
    settings = Settings(grace=0, scheduler_seconds=3600, janitor_seconds=3600, event_days=0)
    async with StelloGraph(GraphStore(engine), OfflineLLM(delay=0), settings) as graph:
        await some(Api(graph, engine))
        assert "events/old" not in engine.everything, "0 days: for ever"
    engine = RecordingEngine(tmp_path / "stello.db")
    soon = settings.model_copy(update={"event_days": 1e-9})
    async with StelloGraph(GraphStore(engine), OfflineLLM(delay=0), soon) as graph:
        api = Api(graph, engine)
        await until(lambda: "events/prune" in engine.everything, "it prunes")
        await until(lambda: engine.everything[-1] == "events/old", "it has looked again")
        refused = await api.refused(PAST, after=0)
        assert refused["code"] == "LIMIT_EXCEEDED"
        assert "fresh starMap" in refused["message"]
        assert [event["seq"] for event in (await api.ask(PAST, after=3))["events"]] == [4]


async def test_from_python(api: Api) -> None:
    """A Space's events are an asynchronous iterator."""
    await some(api)
    space = api.graph.space()
    async with aclosing(space.events(2)) as events:
        assert [(await anext(events)).node_id for _ in range(2)] == ["c", "b"]
    assert [event.seq for event in await space.past_events(1)] == [2, 3, 4]


async def test_a_space_that_is_deleted(api: Api) -> None:
    """Who follows it is told that it is not there, also where no key ends the subscription."""
    await api.graph.create_space("gone", "Gone")
    async with aclosing(api.graph.space("gone").events()) as events:
        following = asyncio.ensure_future(anext(events))
        await until(lambda: bool(api.graph.watch.seen("gone")), "it is followed")
        await api.graph.delete_space("gone", 0)

        with pytest.raises(NotFound):
            async with asyncio.timeout(30):
                await following
    assert api.graph.watch.seen("gone") == []

"""What front-ends ask of big Spaces: few statements, pages of a bounded size."""

import gc
import json

import pytest

from stello_graph.ids import new_id
from stello_graph.model.message import Draft, Message, MessageRole
from stello_graph.model.requests import CreateSession, Fork
from stello_graph.model.topology import TopologyNode
from stello_graph.model.values import ForkContext
from stello_graph.model.writes import ImportDraft
from tests.unit.graphql.conftest import Api

MAP = """{ starMap { nodeCount eventSeq columns }
  digests(first: 1000) { nodes { id memory insight } pageInfo { hasNextPage } } }"""
LIST = "{ getChildren(first: 1000) { id refs(first: 10) { id } session { memory } } }"


async def grown(api: Api, count: int) -> None:
    """Roots with memory, each with a link to the one before."""
    space = api.graph.space()
    for n in range(count):
        await space.create_session(CreateSession(id=f"s{n}"))
        if n % 10 == 1:
            await space.put_memory(f"s{n}", f"memory {n}")
            await space.add_ref(f"s{n}", f"s{n - 1}")


@pytest.mark.covers("TC25-MAP", "W35", "W36")
async def test_a_map_of_five_hundred_is_as_many_statements_as_one_of_five(api: Api) -> None:
    """Map, digests and links: one statement each."""
    await grown(api, 5)
    few = await api.cost(MAP), await api.cost(LIST)
    space = api.graph.space()
    for n in range(5, 500):
        await space.create_session(CreateSession(id=f"s{n}"))
    await space.add_ref("s400", "s10")

    assert (await api.cost(MAP), await api.cost(LIST)) == few
    assert (len(few[0]), len(few[1])) == (2, 3)
    found = await api.ask(MAP)
    assert found["starMap"]["nodeCount"] == len(found["digests"]["nodes"]) == 500
    assert len(found["starMap"]["columns"]["refs"]) == 2
    children = (await api.ask(LIST))["getChildren"]
    assert [child["id"] for child in children if child["refs"]] == ["s1", "s400"]


@pytest.mark.covers("S1")
async def test_a_long_session_with_many_branches(api: Api) -> None:
    """It opens with its newest page and a light map, whatever is before and beside that."""
    space = api.graph.space()
    text = "word " * 20
    said = [Draft(id=new_id(), role=MessageRole.USER, content=f"{n} {text}") for n in range(20_000)]
    await space.store.import_session(ImportDraft(id="s", label="S", turn_count=1, messages=tuple(said)))
    for n in range(200):
        await space.fork(
            Fork(
                source_session_id="s",
                label=f"b{n}",
                context=ForkContext.INHERIT,
                through_seq=10 + n,
                id=f"b{n}",
            )
        )

    document = """{ session(id: "s") { label messages(last: 50) {
        nodes { seq content } pageInfo { hasPreviousPage startCursor } } }
      starMap(rootId: "s") { nodeCount columns } }"""
    assert sorted(await api.cost(document)) == ["sessions/with_newest", "topology/star_map_below"]
    found = await api.ask(document)

    page = found["session"]["messages"]
    assert [node["seq"] for node in page["nodes"]] == list(range(19_951, 20_001))
    assert page["pageInfo"] == {"hasPreviousPage": True, "startCursor": "19951"}
    assert found["starMap"]["nodeCount"] == 201
    assert len(json.dumps(found)) < 60_000


async def test_what_an_answer_read_goes_with_it(api: Api) -> None:
    """Rows belong to no cycle, which would keep them until somebody looks for cycles."""
    await grown(api, 5)
    await api.ask('mutation { send(input: {sessionId: "s1", content: "hello"}) { id } }')
    for n in range(4):
        await api.graph.space().create_session(CreateSession(id=f"c{n}", parent_id=f"s{n}"))
    document = """{ getChildren(first: 9) { id children(first: 9) { id children(first: 9) { id } refs(first: 9) { id } } }
      session(id: "s1") { messages { nodes { content } } node { id } }
      topologyNode(id: "c1") { ancestors { id } siblings { id } } }"""

    def there() -> int:
        return sum(isinstance(thing, TopologyNode | Message) for thing in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = there()
        await api.ask(document)
        assert there() == before
    finally:
        gc.enable()

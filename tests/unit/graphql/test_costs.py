"""What each document costs, in named queries: N+1 cannot creep in."""

import asyncio

import pytest

from tests.unit.graphql.conftest import Api

NODE = "id label childCount depth index status role"


async def forest(api: Api) -> None:
    """Two roots with two children each, who have two children each."""
    for root in ("a", "b"):
        await make(api, root, None)
        for child in ("1", "2"):
            await make(api, root + child, root)
            for grandchild in ("x", "y"):
                await make(api, root + child + grandchild, root + child)


async def make(api: Api, id: str, parent: str | None) -> None:
    await api.ask(
        "mutation($id: ID!, $parent: ID) { createSession(input: {id: $id, parentId: $parent}) { id } }",
        id=id,
        parent=parent,
    )


async def talk(api: Api, id: str) -> str:
    data = await api.ask(
        'mutation($id: ID!) { send(input: {sessionId: $id, content: "hello"}) { id } }', id=id
    )
    turn: str = data["send"]["id"]
    return turn


async def test_get_children_is_one_query(api: Api) -> None:
    await forest(api)
    assert await api.cost("{ getChildren { " + NODE + " } }") == ["topology/children"]
    assert await api.cost('{ getChildren(parentId: "a") { ' + NODE + " } }") == ["topology/children"]


@pytest.mark.covers("W35")
async def test_a_level_of_children_is_one_query_whatever_its_width(api: Api) -> None:
    await forest(api)
    page = "children(first: 10)"
    document = f"{{ getChildren(first: 10) {{ id WHOLE {page} {{ id WHOLE {page} {{ id WHOLE {page} {{ id }} }} }} }} }}"
    parts = document.replace("WHOLE", "__typename")
    assert await api.cost(parts) == ["topology/children_nested"], "three levels that are read in part are one"
    whole = await api.cost(document.replace("WHOLE", "session { id }"))
    assert whole.count("topology/children") == 3, "leaves have no children to ask for"


async def test_deeper_levels_of_children(api: Api) -> None:
    """What is deeper than one statement reads is read level by level; so is what has no arguments that are known."""
    for depth in range(6):
        await make(api, f"d{depth}", f"d{depth - 1}" if depth else None)
    document = "{ getChildren { id C { id C { id C { id C { id C { id } } } } } } }"
    assert await api.cost(document.replace(" C ", " children(first: 1) ")) == [
        "topology/children_nested", "topology/children", "topology/children", "topology/children"
    ]  # fmt: skip
    twice = "{ getChildren { id a: children { id } b: children(first: 1) { id } } }"
    assert sorted(await api.cost(twice)) == ["topology/children"] * 3
    unsure = "query($yes: Boolean = true) { getChildren { id children @include(if: $yes) { id } } }"
    assert await api.cost(unsure) == ["topology/children"] * 2
    await api.refused("{ getChildren { id children(first: 0) { id } } }")


@pytest.mark.covers("W36")
async def test_digests_are_one_query(api: Api) -> None:
    await forest(api)
    assert await api.cost("{ digests { eventSeq nodes { id memory insight eventSeq } } }") == [
        "memory/digests"
    ]
    assert await api.cost('{ digests(rootId: "a") { nodes { id } } }') == ["memory/digests_of_root"]


async def test_star_map_is_one_query_refs_included(api: Api) -> None:
    await forest(api)
    assert await api.cost("{ starMap { nodeCount columns } }") == ["topology/star_map"]
    assert await api.cost('{ starMap(rootId: "a") { columns } }') == ["topology/star_map_below"]


async def test_context_preview_is_one_query(api: Api) -> None:
    await forest(api)
    document = '{ contextPreview(sessionId: "a", content: "and?") { messages { role content } } }'
    assert await api.cost(document) == ["sessions/conversation"]


@pytest.mark.covers("W37")
async def test_a_turn_without_tools_is_two_statements(api: Api) -> None:
    await forest(api)
    document = 'mutation { send(input: {sessionId: "a", content: "hello"}) { status } }'
    assert await api.cost(document) == ["turns/begin", "turns/end"]


async def test_a_fork_is_two_statements(api: Api) -> None:
    await forest(api)
    document = 'mutation { fork(input: {sourceSessionId: "a", label: "x"}) { id messageCount turnCount } }'
    assert await api.cost(document) == ["sessions/fork_source", "sessions/fork"]
    document = 'mutation { fork(input: {sourceSessionId: "a", label: "x", context: INHERIT}) { id } }'
    assert await api.cost(document) == ["sessions/fork_source", "sessions/fork"]
    await api.ask('mutation { putForkProfile(input: {name: "p", context: INHERIT}) { name } }')
    document = 'mutation { fork(input: {sourceSessionId: "a", label: "x", profile: "p"}) { id } }'
    assert await api.cost(document) == ["sessions/fork_source", "sessions/fork"]


async def test_a_fork_by_summary_reads_the_source_once_more(api: Api) -> None:
    await forest(api)
    await talk(api, "a")
    document = 'mutation { fork(input: {sourceSessionId: "a", label: "x", context: COMPRESS}) { id } }'
    assert await api.cost(document) == [
        "sessions/fork_source",
        "sessions/whole_conversation",
        "sessions/fork",
    ]
    assert await api.cost("{ forkProfiles { name } }") == ["profiles/list"]


async def test_compact_is_two_statements_and_one_where_nothing_is_to_do(api: Api) -> None:
    await forest(api)
    await talk(api, "a")
    document = 'mutation { compact(sessionId: "a", keepLast: 0) { compression { throughSeq } } }'
    assert await api.cost(document) == ["sessions/conversation", "memory/store_compression"]
    assert await api.cost(document) == ["sessions/conversation"]


@pytest.mark.covers("W35")
async def test_fields_of_many_nodes_are_one_query_each(api: Api) -> None:
    await forest(api)
    document = """{ getChildren(parentId: "a") {
      parent { id } ancestors { id } siblings { id } refs { id } referencedBy { id } session { id }
    } }"""
    assert sorted(await api.cost(document)) == [
        "sessions/get",
        "topology/ancestors",
        "topology/children",
        "topology/nodes",
        "topology/referenced_by",
        "topology/refs",
        "topology/siblings",
    ]


async def test_fields_of_many_sessions_are_one_query_each(api: Api) -> None:
    await forest(api)
    for id in ("a", "b"):
        await talk(api, id)
    document = """{ sessions(first: 20) { nodes {
      id node { depth } messages(last: 2) { totalCount nodes { content } } turns { id reply { content } messages { seq } }
      activeTurn { id }
    } } }"""
    assert sorted(await api.cost(document)) == [
        "messages/newest",
        "sessions/list",
        "topology/nodes",
        "turns/messages",
        "turns/of_sessions",
    ]


async def test_a_total_is_counted_only_where_it_is_asked_for(api: Api) -> None:
    await forest(api)
    assert await api.cost("{ sessions { nodes { id } } }") == ["sessions/list"]
    assert await api.cost("{ sessions { totalCount nodes { id } } }") == ["sessions/list", "sessions/count"]
    document = '{ session(id: "a") { messages(roles: [USER]) { nodes { id } } } }'
    assert await api.cost(document) == ["sessions/get", "messages/newest"]
    document = '{ session(id: "a") { messages(roles: [USER]) { totalCount } } }'
    assert await api.cost(document) == ["sessions/get", "messages/newest", "messages/count"]


async def test_one_session_and_its_newest_messages_are_one_query(api: Api) -> None:
    await forest(api)
    document = '{ session(id: "a") { label messages(last: 50) { nodes { role content createdAt } } } }'
    assert await api.cost(document) == ["sessions/with_newest"]
    document = '{ session(id: "a") { messages(first: 50, after: "10") { nodes { seq } } } }'
    assert await api.cost(document) == ["sessions/get", "messages/oldest"]


async def test_a_node_of_many_parents_at_once_is_one_query(api: Api) -> None:
    await forest(api)
    assert (
        await api.cost('{ topologyNodes(ids: ["a", "nope", "b1"]) { id parent { id } } }')
        == ["topology/nodes"] * 2
    )


async def test_nodes_by_id_are_one_query(api: Api) -> None:
    """By one field or by several, in any order; of none, no query."""
    await forest(api)
    fields = ['a: topologyNode(id: "a") { id }', 'topologyNodes(ids: ["b", "nope", "a", "b"]) { id }']
    for asked in (fields, fields[::-1]):
        assert await api.cost("{ " + " ".join(asked) + " }") == ["topology/nodes"]
    found = await api.ask("{ " + " ".join(fields) + " }")
    assert found == {"a": {"id": "a"}, "topologyNodes": [{"id": "b"}, None, {"id": "a"}, {"id": "b"}]}
    assert await api.cost("{ topologyNodes(ids: []) { id } }") == []


async def test_writes_of_one_session_are_one_statement(api: Api) -> None:
    await forest(api)
    for mutation, query in {
        'updateSession(id: "a", input: {label: "n"})': "sessions/update",
        'putMemory(sessionId: "a", content: "m")': "memory/put",
        'putInsight(sessionId: "a", content: "i")': "memory/put_insight",
        'clearInsight(sessionId: "a")': "memory/clear_insight",
        'trimMessages(sessionId: "a", keepLast: 1)': "messages/trim",
        'enterSession(id: "a", holder: "tab")': "sessions/enter",
        'leaveSession(id: "a", holder: "tab")': "sessions/leave",
        'archiveSession(id: "a")': "sessions/set_status",
        'unarchiveSession(id: "a")': "sessions/set_status",
        'addRef(fromId: "a", toId: "b")': "topology/add_ref",
        'removeRef(fromId: "a", toId: "b")': "topology/remove_ref",
    }.items():
        assert await api.cost(f"mutation {{ {mutation} {{ id }} }}") == [query], mutation


async def test_turns_by_status_are_one_query_and_one_more_for_all_messages(api: Api) -> None:
    await forest(api)
    for id in ("a", "b"):
        await talk(api, id)
    document = "{ turnsByStatus(status: COMPLETED) { id status startedAt } }"
    assert await api.cost(document) == ["turns/by_status"]
    document = "{ turnsByStatus(status: COMPLETED, first: 2) { id reply { content } messages { seq } } }"
    assert await api.cost(document) == ["turns/by_status", "turns/messages"]


async def test_a_search_is_one_query_and_one_more_for_all_sessions(api: Api) -> None:
    await forest(api)
    for id in ("a", "b"):
        await talk(api, id)
    assert await api.cost('{ search(query: "hello") { scope snippet score message { content } } }') == [
        "search/find"
    ]
    document = '{ search(query: "hello") { session { id label } message { content } } }'
    assert await api.cost(document) == ["search/find", "sessions/get"]
    assert await api.cost('{ search(query: "nothing") { session { id } } }') == ["search/find"]


async def test_memory_across_sessions_is_a_statement_for_each_step(api: Api) -> None:
    """Insights are one statement whatever their number; distilling and integrating read once and write once."""
    await api.ask('mutation { createSession(input: {id: "main", role: MAIN}) { id } }')
    for id in ("a", "b"):
        await make(api, id, "main")
        await talk(api, id)
    insights = '[{sessionId: "a", content: "x"}, {sessionId: "b", content: "y"}]'
    assert await api.cost(
        f"mutation {{ putInsights(insights: {insights}) {{ id insight {{ content }} }} }}"
    ) == ["memory/put_insights"]
    for id in ("a", "b"):
        assert await api.cost(f'mutation {{ consolidate(sessionId: "{id}") {{ memory }} }}') == [
            "sessions/undigested",
            "memory/store_digest",
        ]
        assert await api.cost(f'mutation {{ consolidate(sessionId: "{id}") {{ memory }} }}') == [
            "sessions/undigested"
        ]
    document = 'mutation { integrate(sessionId: "main") { called insights { content } } }'
    assert await api.cost(document) == ["memory/to_integrate", "memory/integrate"]
    assert await api.cost(document) == ["memory/to_integrate"]


async def test_a_trigger_costs_no_statement_of_the_turn(api: Api) -> None:
    """A turn that makes a task due is two statements; what the task does comes after it."""
    await api.ask(
        "mutation { configureSpace(input: {consolidateOn: [EVERY_N_TURNS], everyNTurns: 1}) { id } }"
    )
    await make(api, "a", None)
    document = 'mutation { send(input: {sessionId: "a", content: "hello"}) { status } }'
    api.engine.everything.clear()
    assert (await api.cost(document))[:2] == ["turns/begin", "turns/end"]
    for _ in range(500):
        if "tasks/finish" in api.engine.everything:
            break
        await asyncio.sleep(0.01)
    task = ["tasks/due", "tasks/claim", "sessions/undigested", "memory/store_digest", "tasks/finish"]
    ran = api.engine.everything[2:]
    assert [name for name in dict.fromkeys(ran) if name in task] == task, ran

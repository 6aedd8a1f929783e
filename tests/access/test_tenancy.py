"""TC05 through GraphQL: every field, asked with the ids of another Space, answers as if there were none of them."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from string import Template
from typing import Any, Final

import pytest

from stello_graph.graphql.context import Context
from stello_graph.graphql.schema import schema
from stello_graph.ids import new_id
from stello_graph.llm.offline import OfflineLLM
from stello_graph.model.knowledge import Skill
from stello_graph.model.profile import ForkProfile
from stello_graph.model.requests import CreateSession, Send
from stello_graph.model.values import KeyScope, Viewer
from stello_graph.service import StelloGraph
from stello_graph.settings import Settings
from stello_graph.store.store import GraphStore
from tests.conformance.databases import Database, Neo4jDatabase, SqliteDatabase
from tests.engines import SQLITE, OpenServer

pytestmark = pytest.mark.parametrize("engine", ["sqlite", "neo4j"], indirect=True)

PLANTED: Final = "planted"
# Whose answers nothing may change: $own is a session of who asks, all else is of another Space, or of nobody.
CASES: Final[Mapping[str, tuple[str, ...]]] = {
    "apiKeys": ("{ apiKeys { id name } }",),
    "contextPreview": ('{ contextPreview(sessionId: "$session", content: "x") { messages { content } } }',),
    "digests": (
        '{ digests(rootId: "$session") { nodes { id memory } } }',
        '{ digests(after: "$session") { nodes { id } } }',
        "{ digests(changedAfter: 0) { nodes { label memory insight } } }",
    ),
    "events": ("{ events(after: 0) { nodeId type data node { label } } }",),
    "forkProfiles": ("{ forkProfiles { name systemPrompt } }",),
    "getChildren": (
        '{ getChildren(parentId: "$session") { id } }',
        "{ getChildren { label children { id } } }",
    ),
    "me": ("{ me { spaceId keyName scope } }",),
    "record": ('{ record(key: "$record") { value } }',),
    "records": ("{ records { key value } }", '{ records(prefix: "$record") { key value } }'),
    "search": (
        '{ search(query: "planted") { snippet session { id } } }',
        '{ search(query: "planted", rootId: "$session") { snippet session { id } } }',
    ),
    "session": ('{ session(id: "$session") { label memory messages { nodes { content } } turns { id } } }',),
    "sessions": (
        "{ sessions { totalCount nodes { label node { children { id } parent { id } } } } }",
        '{ sessions(rootId: "$session") { totalCount nodes { id } } }',
        '{ sessions(tag: "planted") { totalCount nodes { id } } }',
    ),
    "sharedMemories": ("{ sharedMemories { slug summary body } }",),
    "sharedMemory": ('{ sharedMemory(slug: "$slug") { body } }',),
    "skills": ("{ skills { name content } }", '{ skills(sessionId: "$session") { name } }'),
    "space": ("{ space { sessionCount usage { llmCalls } config { systemPrompt } } }",),
    "spaces": ("{ spaces { id } }",),
    "starMap": ('{ starMap(rootId: "$session") { nodeCount } }', "{ starMap { nodeCount nodes } }"),
    "tools": ("{ tools { name } }",),
    "topologyNode": ('{ topologyNode(id: "$session") { label ancestors { id } refs { id } } }',),
    "topologyNodes": (
        '{ topologyNodes(ids: ["$session", "$own", "$other"]) { label siblings { id } referencedBy { id } } }',
    ),
    "turn": ('{ turn(id: "$turn") { status messages { role } } }',),
    "turnsByStatus": (
        "{ turnsByStatus(status: COMPLETED) { id } }",
        "{ turnsByStatus(status: RUNNING) { id } }",
    ),
    "addRef": (
        'mutation { addRef(fromId: "$own", toId: "$session") { id } }',
        'mutation { addRef(fromId: "$session", toId: "$own") { id } }',
    ),
    "appendMessages": (
        'mutation { appendMessages(sessionId: "$session", messages: [{role: USER, content: "x"}], idempotencyKey: "$idempotency") { id } }',
    ),
    "archiveSession": ('mutation { archiveSession(id: "$session") { id } }',),
    "cancelTurn": ('mutation { cancelTurn(id: "$turn") { id } }',),
    "clearInsight": ('mutation { clearInsight(sessionId: "$session") { id } }',),
    "compact": ('mutation { compact(sessionId: "$session", keepLast: 0) { id } }',),
    "configureSpace": (
        'mutation { configureSpace(input: {systemPrompt: "ours"}) { config { systemPrompt } } }',
    ),
    "confirmToolCall": (
        'mutation { confirmToolCall(turnId: "$turn", toolCallId: "call", approve: true) { id } }',
    ),
    "consolidate": ('mutation { consolidate(sessionId: "$session") { memory } }',),
    "createApiKey": ('mutation { createApiKey(name: "ours", scope: READ) { key { name } } }',),
    "createSession": (
        'mutation { createSession(input: {parentId: "$session"}) { id } }',
        'mutation { createSession(input: {label: "mine", idempotencyKey: "$idempotency"}) { label depth: turnCount } }',
        'mutation { createSession(input: {id: "$session", label: "mine"}) { id label messageCount memory } }',
        'mutation { deleteSession(id: "$session", expectedCount: 1) }',
    ),
    "createSpace": ('mutation { createSpace(id: "$space", name: "x") { id } }',),
    "deleteForkProfile": ('mutation { deleteForkProfile(name: "$profile") }',),
    "deleteRecord": ('mutation { deleteRecord(key: "$record") }',),
    "deleteSession": ('mutation { deleteSession(id: "$session", expectedCount: 2) }',),
    "deleteSharedMemory": ('mutation { deleteSharedMemory(slug: "$slug") }',),
    "deleteSkill": ('mutation { deleteSkill(name: "$skill") }',),
    "deleteSpace": ('mutation { deleteSpace(id: "$space", expectedCount: 3) }',),
    "enterSession": ('mutation { enterSession(id: "$session", holder: "$holder") { id } }',),
    "fork": (
        'mutation { fork(input: {sourceSessionId: "$session", label: "x", context: INHERIT}) { id } }',
        'mutation { fork(input: {sourceSessionId: "$own", parentId: "$session", label: "x"}) { id } }',
        'mutation { fork(input: {sourceSessionId: "$own", profile: "$profile", label: "x"}) { id } }',
        'mutation { fork(input: {sourceSessionId: "$own", label: "mine", idempotencyKey: "$idempotency.2"}) { label } }',
    ),
    "integrate": ('mutation { integrate(sessionId: "$session") { called } }',),
    "loadDemo": ("mutation { loadDemo }",),
    "leaveSession": (
        'mutation { leaveSession(id: "$session", holder: "$holder") { id } }',
        'mutation { leaveSession(id: "$own", holder: "$holder") { label } }',
    ),
    "putForkProfile": (
        'mutation { putForkProfile(input: {name: "$profile", systemPrompt: "ours"}) { name systemPrompt } }',
    ),
    "putInsight": (
        'mutation { putInsight(sessionId: "$session", content: "x") { id } }',
        'mutation { putInsight(sessionId: "$own", content: "x", sourceSessionId: "$session") { label } }',
    ),
    "putInsights": (
        'mutation { putInsights(insights: [{sessionId: "$own", content: "x"}, {sessionId: "$session", content: "x"}]) { id } }',
    ),
    "putMemory": ('mutation { putMemory(sessionId: "$session", content: "x") { id } }',),
    "putRecord": (
        'mutation { putRecord(key: "$record", value: 1, expectedRevision: 0) { key value revision } }',
    ),
    "putSharedMemory": (
        'mutation { putSharedMemory(slug: "$slug", summary: "ours", body: "ours") { slug body } }',
    ),
    "putSkill": (
        'mutation { putSkill(name: "$skill", description: "ours", content: "ours") { name content } }',
    ),
    "removeRef": (
        'mutation { removeRef(fromId: "$own", toId: "$session") { label } }',
        'mutation { removeRef(fromId: "$session", toId: "$other") { id } }',
    ),
    "revokeApiKey": ('mutation { revokeApiKey(id: "$key") { id } }',),
    "send": (
        'mutation { send(input: {sessionId: "$session", content: "x"}) { id } }',
        'mutation { send(input: {sessionId: "$own", content: "x", idempotencyKey: "$idempotency.3"}) { status messages { role } } }',
    ),
    "startTurn": (
        'mutation { startTurn(input: {sessionId: "$session", content: "x", whenBusy: INTERRUPT}) { id } }',
    ),
    "trimMessages": ('mutation { trimMessages(sessionId: "$session", keepLast: 0) { id } }',),
    "unarchiveSession": ('mutation { unarchiveSession(id: "$session") { id } }',),
    "updateSession": ('mutation { updateSession(id: "$session", input: {label: "x"}) { id } }',),
    "topologyEvents": (
        'subscription { topologyEvents(after: 0, rootId: "$session") { nodeId type data } }',
        "subscription { topologyEvents(after: 0) { nodeId type data } }",
    ),
    "turnEvents": ('subscription { turnEvents(turnId: "$turn") { __typename } }',),
}
KINDS: Final = {
    name: kind
    for kind in ("query", "mutation", "subscription")
    for name in getattr(schema._schema, f"{kind}_type").fields
}

Ids = dict[str, str]


class World:
    """Two Spaces in one store: in one there is something of all that can be, in the other a single session."""

    def __init__(self, graph: StelloGraph, database: Database) -> None:
        name = new_id()
        self.graph = graph
        self.database = database
        self.theirs, self.ours = f"theirs-{name}", f"ours-{name}"
        names = (
            "session",
            "other",
            "turn",
            "key",
            "record",
            "slug",
            "skill",
            "profile",
            "holder",
            "idempotency",
        )
        self.ids: Ids = {one: f"{one}-{name}" for one in names} | {"own": f"own-{name}", "space": self.theirs}
        self.nobody: Ids = (
            self.ids | {one: f"{one}-nobody-{name}" for one in names} | {"space": f"nobody-{name}"}
        )

    async def fill(self) -> None:
        for space_id in (self.theirs, self.ours):
            await self.graph.create_space(space_id, space_id)
        theirs, ids = self.graph.space(self.theirs), self.ids
        asked = CreateSession(
            id=ids["session"], label=PLANTED, tags=(PLANTED,), idempotency_key=ids["idempotency"]
        )
        await theirs.create_session(asked)
        await theirs.create_session(CreateSession(id=ids["other"], label=PLANTED, parent_id=ids["session"]))
        turns = [
            await theirs.send(
                Send(
                    session_id=ids["session"],
                    content=PLANTED,
                    idempotency_key=f"{ids['idempotency']}.{number}",
                )
            )
            for number in (2, 3)
        ]
        ids["turn"] = turns[-1].id
        await theirs.put_memory(ids["session"], PLANTED)
        await theirs.put_insight(ids["session"], PLANTED)
        await theirs.enter(ids["session"], ids["holder"])
        await theirs.put_record(ids["record"], PLANTED, None)
        await theirs.put_shared_memory(ids["slug"], PLANTED, PLANTED)
        await theirs.put_skill(Skill(name=ids["skill"], description=PLANTED, content=PLANTED))
        await theirs.put_profile(ForkProfile(name=ids["profile"], system_prompt=PLANTED))
        self.database.settle()
        ids["key"] = (await theirs.create_api_key(PLANTED, KeyScope.READ)).key.id
        await self.graph.space(self.ours).create_session(CreateSession(id=ids["own"], label="own"))

    async def ask(self, document: str, ids: Ids) -> str:
        """What an ADMIN of ours is answered, with a name in the place of each id of another Space."""
        context = Context(self.graph, Viewer(space_id=self.ours, scope=KeyScope.ADMIN))
        text = Template(document).substitute(ids)
        if document.startswith("subscription"):
            result = await first_of(text, context)
        else:
            result = await schema.execute(text, context_value=context)
        told = {
            "data": result.data,
            "errors": [(one.message, one.extensions, one.path) for one in result.errors or ()],
        }
        answer = json.dumps(told, default=str)
        for name, id in sorted(ids.items(), key=lambda item: -len(item[1])):
            answer = answer.replace(id, f"${name}")
        return answer


async def first_of(document: str, context: Context) -> Any:
    stream: Any = await schema.subscribe(document, context_value=context)
    try:
        async with asyncio.timeout(60):
            return await anext(stream)
    finally:
        await stream.aclose()


@pytest.fixture(scope="module")
def database(
    engine: str, neo4j_server: OpenServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    found: Database
    if engine == SQLITE:
        found = SqliteDatabase(tmp_path_factory.mktemp("tenancy") / "stello.db")
    else:
        found = Neo4jDatabase(neo4j_server(engine))
    yield found
    found.close()


@pytest.fixture
async def world(database: Database) -> AsyncIterator[World]:
    settings = Settings(grace=0, scheduler_seconds=3600)
    async with StelloGraph(GraphStore(database.open()), OfflineLLM(delay=0), settings) as graph:
        made = World(graph, database)
        await made.fill()
        yield made
    database.forget_keys()


def test_no_field_is_left_out(engine: str) -> None:
    """A new field of the schema needs a case here."""
    assert KINDS.keys() - CASES.keys() == set()


@pytest.mark.covers("TC05-KEYS")
async def test_each_field_with_ids_of_another_space(world: World) -> None:
    """The same answer as for ids that nobody has, nothing of what the other Space holds, and nothing changed there."""
    before = world.database.snapshot(world.theirs)
    for name in KINDS:
        for document in CASES[name]:
            foreign = await world.ask(document, world.ids)
            assert PLANTED not in foreign, document
            assert foreign == await world.ask(document, world.nobody), document
    assert world.database.snapshot(world.theirs) == before


async def test_the_cases_find_what_is_there(world: World) -> None:
    """Asked by who may, the same ids are there: no case is blind."""
    context = Context(world.graph, Viewer(space_id=world.theirs, scope=KeyScope.ADMIN))
    blind = []
    for name, kind in KINDS.items():
        documents = [one for one in CASES[name] if "$" in one and "$own" not in one and "$space" not in one]
        if kind != "query" or not documents:
            continue
        result = await schema.execute(Template(documents[-1]).substitute(world.ids), context_value=context)
        if result.errors or result.data in (None, {name: None}, {name: []}):
            blind.append((name, result.errors))
    assert blind == []

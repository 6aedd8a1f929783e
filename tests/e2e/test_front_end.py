"""The operations of docs/operations.graphql, all of them, in servers that a front-end would ask."""

from pathlib import Path
from typing import Any, Final

from graphql import parse, print_ast, separate_operations

from tests.e2e.client import Client
from tests.e2e.conftest import Serve, sqlite_store
from tests.e2e.processes import run
from tests.model_server import Answer, ModelServer, use

FILE: Final = Path(__file__).parents[2] / "docs" / "operations.graphql"
# Each with the fragments that it uses, as a front-end sends it.
DOCUMENTS: Final = {
    name: print_ast(document)
    for name, document in separate_operations(parse(FILE.read_text("utf-8"))).items()
}
KEY: Final = "a-key-of-thirty-two-characters-and-more"
MESSAGES: Final = [
    {"role": "USER", "content": "Which tram?"},
    {"role": "ASSISTANT", "content": "Number 28, through Lisbon."},
]


class FrontEnd:
    """Asks one server by the names of operations, and keeps which were answered."""

    def __init__(self, client: Client, answered: set[str]) -> None:
        self.client = client
        self.answered = answered

    async def ask(self, name: str, /, **variables: Any) -> Any:
        """What the only root field of an operation answers."""
        return self._only(name, await self.client.ask(DOCUMENTS[name], **variables))

    async def follow(self, name: str, until: str, /, **variables: Any) -> list[Any]:
        """What a subscription tells, up to what has this type."""
        told = []
        stream = self.client.subscribe(DOCUMENTS[name], **variables)
        async for data in stream:
            told.append(self._only(name, data))
            if until in (told[-1].get("__typename"), told[-1].get("type")):
                break
        await stream.aclose()
        return told

    def _only(self, name: str, data: dict[str, Any]) -> Any:
        (answer,) = data.values()
        assert answer is not None, name
        self.answered.add(name)
        return answer


async def test_each_operation_is_answered(
    serve: Serve, tmp_path: Path, model_server: ModelServer, model_settings: dict[str, str]
) -> None:
    """In the order in which people would come to them, on one server without keys and one with them."""
    (tmp_path / "keys").mkdir()
    keyed_store = sqlite_store(tmp_path / "keys")
    made = run(["keys", "create", "--scope", "operator", "--name", "ops", "--store", keyed_store.url])
    keyless = serve(sqlite_store(tmp_path), ready=False)
    settings = {**model_settings, "STELLO_BOOTSTRAP_KEY": KEY}
    keyed = serve(keyed_store, "--tools", "tests.e2e.machine", settings=settings, ready=False)
    keyless.wait_ready()
    keyed.wait_ready()
    answered: set[str] = set()
    async with (
        keyless.client() as client,
        keyed.client(KEY) as admin,
        keyed.client(made.stdout.strip()) as operator,
    ):
        page = FrontEnd(client, answered)
        await the_map(page)
        await a_conversation(page)
        await its_settings(page)
        await memories(page)
        await the_space(page)
        await the_end(page)
        await confirmations(FrontEnd(admin, answered), model_server)
        await keys(FrontEnd(admin, answered))
        await spaces(FrontEnd(operator, answered))
    assert sorted(answered) == sorted(DOCUMENTS)


async def the_map(page: FrontEnd) -> None:
    assert (await page.ask("Me"))["scope"] == "ADMIN"
    assert (await page.ask("Space"))["offline"] is True
    loaded = await page.ask("LoadDemo")
    assert (await page.ask("StarMap"))["nodeCount"] == loaded
    roots = await page.ask("Children")
    assert {root["parentId"] for root in roots} == {None}
    main = next(root for root in roots if root["childCount"])
    below = await page.ask("Grandchildren", parentId=main["id"])
    assert [node["parentId"] for node in below] == [main["id"]] * main["childCount"]
    assert [node and node["id"] for node in await page.ask("Nodes", ids=[main["id"], "nobody"])] == [
        main["id"],
        None,
    ]
    assert (await page.ask("Sessions", role="MAIN", first=1))["totalCount"] >= 1


async def a_conversation(page: FrontEnd) -> None:
    await page.ask("CreateSession", input={"id": "trip", "label": "A trip", "role": "MAIN"})
    await page.ask(
        "CreateSession", input={"id": "city", "label": "Lisbon", "parentId": "trip", "tags": ["eu"]}
    )
    begun = await page.ask(
        "StartTurn", input={"sessionId": "city", "content": "A week in Lisbon?", "idempotencyKey": "1"}
    )
    told = await page.follow("TurnEvents", "TurnEnded", turnId=begun["id"])
    assert [event["__typename"] for event in told][:3] == ["TurnStarted", "MessageStored", "TextDelta"]
    assert told[-1]["turn"]["status"] == "COMPLETED"
    sent = await page.ask("Send", input={"sessionId": "city", "content": "By train?"})
    assert sent["reply"]["role"] == "ASSISTANT"
    assert len((await page.ask("Turn", id=sent["id"]))["messages"]) == 2
    ended = await page.ask("TurnsByStatus", status="COMPLETED")
    assert [turn["id"] for turn in ended[:2]] == [sent["id"], begun["id"]]
    await page.ask("AppendMessages", sessionId="city", messages=MESSAGES, idempotencyKey="2")
    newest = (await page.ask("OpenSession", id="city", last=2))["messages"]
    before = newest["pageInfo"]["startCursor"]
    older = (await page.ask("OlderMessages", id="city", before=before))["messages"]
    assert [message["seq"] for message in older["nodes"] + newest["nodes"]] == [1, 2, 3, 4, 5, 6]
    forked = await page.ask(
        "Fork", input={"id": "train", "sourceSessionId": "city", "label": "By train", "context": "INHERIT"}
    )
    assert (forked["messageCount"], forked["node"]["sourceSeq"]) == (6, 6)


async def its_settings(page: FrontEnd) -> None:
    changed = await page.ask(
        "UpdateSession", id="train", input={"systemPrompt": "Be brief.", "tags": ["rail"]}
    )
    assert (changed["systemPrompt"], changed["tags"]) == ("Be brief.", ["rail"])
    assert (await page.ask("SessionSettings", id="train"))["node"]["parentId"] == "trip"
    assert len((await page.ask("SessionTurns", id="city"))["turns"]) == 2
    assert [ref["id"] for ref in (await page.ask("AddRef", fromId="train", toId="city"))["refs"]] == ["city"]
    around = await page.ask("Node", id="city")
    assert [node["id"] for node in around["referencedBy"] + around["siblings"]] == ["train", "train"]
    assert (await page.ask("RemoveRef", fromId="train", toId="city"))["refs"] == []
    await page.ask("EnterSession", id="train", holder="tab-1")
    await page.ask("LeaveSession", id="train", holder="tab-1")
    assert "stello_create_session" in [tool["name"] for tool in await page.ask("Tools")]


async def memories(page: FrontEnd) -> None:
    assert (await page.ask("Consolidate", sessionId="city"))["memory"]
    await page.ask("PutMemory", sessionId="train", content="The night train was ended.")
    known = await page.ask("Digests", rootId="trip", changedAfter=0)
    assert {"city", "train"} <= {digest["id"] for digest in known["nodes"] if digest["memory"]}
    assert (await page.ask("Integrate", sessionId="trip"))["called"] is True
    await page.ask("PutInsight", sessionId="city", content="No night train.", sourceSessionId="train")
    shown = await page.ask("ContextPreview", sessionId="city", content="And now?")
    assert "INSIGHT" in [message["origin"] for message in shown["messages"]]
    assert (await page.ask("ClearInsight", sessionId="city"))["insight"] is None
    insights = [{"sessionId": id, "content": "The budget is 900."} for id in ("city", "train")]
    assert len(await page.ask("PutInsights", insights=insights)) == 2
    assert (await page.ask("Compact", sessionId="city", keepLast=2))["compression"]["throughSeq"] == 4
    assert (await page.ask("SessionMemory", id="city"))["insight"]["content"] == "The budget is 900."
    assert (await page.ask("TrimMessages", sessionId="train", keepLast=2))["messageCount"] == 2
    hits = await page.ask("Search", query="Lisbon", rootId="trip")
    assert {hit["scope"] for hit in hits} >= {"LABEL", "MESSAGE"}


async def the_space(page: FrontEnd) -> None:
    assert (await page.ask("ConfigureSpace", input={"sharedMemory": True}))["config"]["sharedMemory"] is True
    await page.ask("PutRecord", key="goals.q3", value={"trips": 2}, expectedRevision=0)
    assert (await page.ask("Record", key="goals.q3"))["value"] == {"trips": 2}
    assert "goals.q3" in [record["key"] for record in await page.ask("Records", prefix="goals.")]
    assert await page.ask("DeleteRecord", key="goals.q3") is True
    await page.ask("PutSharedMemory", slug="deadline", summary="Moved to May", body="The 12th.")
    assert "deadline" in [memory["slug"] for memory in await page.ask("SharedMemories")]
    assert (await page.ask("SharedMemory", slug="deadline"))["body"] == "The 12th."
    assert await page.ask("DeleteSharedMemory", slug="deadline") is True
    await page.ask("PutSkill", name="tidy", description="Tidies up", content="Go through it.")
    assert "tidy" in [skill["name"] for skill in await page.ask("Skills", sessionId="city")]
    assert await page.ask("DeleteSkill", name="tidy") is True
    await page.ask("PutForkProfile", input={"name": "doubter", "systemPrompt": "You doubt ${what}."})
    assert "doubter" in [profile["name"] for profile in await page.ask("ForkProfiles")]
    assert await page.ask("DeleteForkProfile", name="doubter") is True


async def the_end(page: FrontEnd) -> None:
    last = (await page.ask("StarMap", rootId="trip"))["eventSeq"]
    assert (await page.ask("ArchiveSession", id="train"))["status"] == "ARCHIVED"
    assert (await page.ask("UnarchiveSession", id="train"))["status"] == "ACTIVE"
    assert await page.ask("DeleteSession", id="train", expectedCount=1) == ["train"]
    told = await page.follow("TopologyEvents", "SESSION_DELETED", after=last, rootId="trip")
    assert "SESSION_ARCHIVED" in [event["type"] for event in told]
    read = await page.ask("Events", after=told[0]["seq"] - 1)
    assert [event["seq"] for event in read][: len(told)] == [event["seq"] for event in told]


async def confirmations(admin: FrontEnd, model: ModelServer) -> None:
    await admin.ask("CreateSession", input={"id": "disk", "label": "A disk"})
    model.script(Answer([use("erase", id="a")]), "Erased.", Answer([use("erase", id="b")]))
    asked = await admin.ask("Send", input={"sessionId": "disk", "content": "Erase it"})
    waiting = await admin.ask("TurnsByStatus", status="AWAITING_CONFIRMATION")
    assert [(turn["id"], turn["pendingToolCalls"][0]["name"]) for turn in waiting] == [(asked["id"], "erase")]
    await admin.ask("ConfirmToolCall", turnId=asked["id"], toolCallId="a", approve=True)
    again = await admin.ask("Send", input={"sessionId": "disk", "content": "Again", "whenBusy": "QUEUE"})
    assert (await admin.ask("Turn", id=asked["id"]))["status"] == "COMPLETED"
    assert (await admin.ask("CancelTurn", id=again["id"]))["status"] == "CANCELLED"
    assert model.refused == []


async def keys(admin: FrontEnd) -> None:
    made = await admin.ask("CreateApiKey", name="a page", scope="WRITE")
    assert made["secret"].startswith(made["key"]["prefix"])
    assert made["key"]["id"] in [key["id"] for key in await admin.ask("ApiKeys")]
    assert (await admin.ask("RevokeApiKey", id=made["key"]["id"]))["revokedAt"]


async def spaces(operator: FrontEnd) -> None:
    assert (await operator.ask("CreateSpace", id="team-b", name="Team B"))["id"] == "team-b"
    assert "team-b" in [space["id"] for space in await operator.ask("Spaces")]
    assert await operator.ask("DeleteSpace", id="team-b", expectedCount=0) is True

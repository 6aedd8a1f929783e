"""`POST /import` over the network, on both engines."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.e2e.client import Client
from tests.unit.interchange.archives import zipped
from tests.unit.interchange.claude_exports import FIXTURES as CLAUDE
from tests.unit.interchange.exports import FIXTURES, conversation, reply, user
from tests.unit.interchange.threads import FOLDER

TYPE = {"Content-Type": "application/octet-stream"}


def export(name: str, count: int) -> bytes:
    """Conversations with a branch each: two sessions, three messages of their own."""
    return json.dumps(
        [
            conversation(
                (None, user(f"{name}-{n}-1")),
                (f"{name}-{n}-1", reply(f"{name}-{n}-2")),
                (f"{name}-{n}-1", reply(f"{name}-{n}-3")),
                id=f"{name}-{n}",
            )
            for n in range(count)
        ]
    ).encode()


async def lines(client: Client, content: Any) -> list[dict[str, Any]]:
    async with client.http.stream("POST", "/import", content=content, headers=TYPE) as answer:
        assert answer.status_code == 200, await answer.aread()
        return [json.loads(line) async for line in answer.aiter_lines()]


async def in_pieces(file: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(file), 1_000):
        yield file[at : at + 1_000]


@pytest.mark.covers("TC01")
async def test_two_who_import_one_file(here: Client, there: Client, name: str) -> None:
    """At once, by two processes: each session is there once, with its branch, and both reports are true."""
    file = export(name, 6)
    found = await asyncio.gather(lines(here, file), lines(there, in_pieces(file)))

    assert all(line.keys() == {"progress"} for told in found for line in told[:-1])
    reports = [told[-1]["report"] for told in found]
    assert sum(report["sessions"]["imported"] for report in reports) == 12
    assert sum(report["sessions"]["present"] for report in reports) == 12
    again = (await lines(here, file))[-1]["report"]
    assert again["sessions"] == {"imported": 0, "extended": 0, "present": 12}
    asked = await there.ask(
        "query ($id: ID!) { topologyNode(id: $id) { children { sourceSeq session { messageCount } } } }",
        id=f"chatgpt:{name}-0",
    )
    assert asked["topologyNode"]["children"] == [{"sourceSeq": 1, "session": {"messageCount": 2}}]


async def test_an_archive(here: Client, there: Client, name: str) -> None:
    """The same sessions as of the files in it, in their order, whoever sends which."""
    parts = [export(f"{name}-{part}", 2) for part in range(3)]
    files = {f"data/conversations-00{part}.json": file for part, file in enumerate(parts)}
    first = (await lines(here, zipped({"chat.html": b"", **dict(reversed(files.items()))})))[-1]["report"]
    assert (first["sessions"]["imported"], first["forks"], first["skipped"]["count"]) == (12, 6, 0)
    assert first["notLookedAt"]["count"] == 1
    for part in parts:
        again = (await lines(there, part))[-1]["report"]
        assert again["sessions"] == {"imported": 0, "extended": 0, "present": 4}
    ids = [f"chatgpt:{name}-{part}-{n}" for part in range(3) for n in range(2)]
    asked = await there.ask("query ($ids: [ID!]!) { topologyNodes(ids: $ids) { id index } }", ids=ids)
    assert sorted(asked["topologyNodes"], key=lambda node: int(node["index"])) == asked["topologyNodes"]


async def test_a_damaged_file(here: Client) -> None:
    """What is wrong is told with its place, as by the command."""
    report = (await lines(here, (FIXTURES / "damaged.json").read_bytes()))[-1]["report"]
    assert report["importedAnythingValid"]
    assert {"where": "entry 2", "why": "not a JSON object"} in report["skipped"]["details"]
    assert report["repaired"]["count"] == 5


@pytest.mark.covers("TC06")
async def test_an_export_of_claude(here: Client, there: Client, name: str) -> None:
    """Each branch with its tools is there as any process reads it; the same file again adds nothing."""
    file = (CLAUDE / "branches.json").read_bytes().replace(b'"uuid": "tea"', f'"uuid": "{name}"'.encode())
    first, again = [(await lines(here, file))[-1]["report"] for _ in range(2)]
    assert (first["sessions"]["imported"], first["forks"], first["hidden"]) == (3, 2, 1)
    assert (first["skipped"]["count"], first["repaired"]["count"]) == (0, 0)
    assert again["sessions"] == {"imported": 0, "extended": 0, "present": 3}
    asked = await there.ask(
        "query ($id: ID!) { session(id: $id) { label messages(last: 20) { nodes { role content } } } }",
        id=f"claude:{name}:q2",
    )
    assert [(each["role"], each["content"]) for each in asked["session"]["messages"]["nodes"][1:]] == [
        ("ASSISTANT", "先查一下。"),
        ("ASSISTANT", ""),
        ("TOOL", "茶 🌱\nhttps://example.org/tea"),
        ("ASSISTANT", ""),
        ("TOOL", "2"),
        ("ASSISTANT", "普洱也行 👨‍👩‍👧‍👦。"),
        ("USER", "谢谢！"),
    ]


@pytest.mark.parametrize(
    ("file", "chat", "forks", "last"),
    [
        ("openwebui/chats", "garden", {"g2": 1}, "In May."),
        ("librechat/flat", "trip", {"t2": None, "o1": None, "c2": None}, "Half a rep"),
    ],
)
async def test_exports_of_others(
    here: Client, name: str, file: str, chat: str, forks: dict[str, int | None], last: str
) -> None:
    """Found out by what is in them; each branch is a fork where it left, a second time adds nothing."""
    data = (FOLDER / f"{file}.json").read_bytes().replace(f'"{chat}"'.encode(), f'"{name}"'.encode())
    report = (await lines(here, data))[-1]["report"]
    assert report["forks"] >= len(forks)

    again = (await lines(here, data))[-1]["report"]["sessions"]
    assert again == {"imported": 0, "extended": 0, "present": report["sessions"]["imported"]}
    id = f"{file.split('/')[0]}:{name}"
    asked = await here.ask(
        "query ($id: ID!) { session(id: $id) { messages(last: 1) { nodes { content } } } "
        "topologyNode(id: $id) { children { sourceSeq session { id } } } }",
        id=id,
    )
    assert asked["session"]["messages"]["nodes"] == [{"content": last}]
    children = {each["session"]["id"]: each["sourceSeq"] for each in asked["topologyNode"]["children"]}
    assert children == {f"{id}:{leaf}": seq for leaf, seq in forks.items()}


async def test_a_client_that_hangs_up(here: Client, name: str) -> None:
    """The server goes on serving, and the next import finishes what that one began."""
    file = export(name, 40)
    async with here.http.stream("POST", "/import", content=file, headers=TYPE) as answer:
        async for line in answer.aiter_lines():
            if json.loads(line).get("progress", {}).get("sessions", 1):
                break
    report = (await lines(here, file))[-1]["report"]
    assert report["sessions"]["imported"] + report["sessions"]["present"] == 80


async def test_refusals(here: Client) -> None:
    """By the status, in the form of all refusals."""
    for content, headers, status in ((b"", TYPE, 400), (b"hello", TYPE, 400), (b"[]", {}, 415)):
        answer: httpx.Response = await here.http.post("/import", content=content, headers=headers)
        assert (answer.status_code, answer.json()["errors"][0]["extensions"]["code"]) == (
            status,
            "INVALID_INPUT",
        )

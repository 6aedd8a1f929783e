"""Clients that write without a pause, ask again where nobody answered, and remember what was acknowledged."""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from tests.e2e import documents
from tests.e2e.client import Client, Refused

__all__ = ["Load", "Writer"]

APPEND: Final = """
  mutation ($id: ID!, $messages: [MessageInput!]!, $key: String) {
    appendMessages(sessionId: $id, messages: $messages, idempotencyKey: $key) { content }
  }"""
MEMORY: Final = "mutation ($id: ID!, $text: String!) { putMemory(sessionId: $id, content: $text) { id } }"
RECORD: Final = "mutation ($key: String!, $value: JSON!) { putRecord(key: $key, value: $value) { value } }"
STATE: Final = """
  query ($id: ID!, $key: String!) {
    session(id: $id) { memory messageCount turnCount }
    record(key: $key) { value }
  }"""


@dataclass
class Writer:
    """One client's own session, and what the servers acknowledged to it.

    Attributes:
        sent: turns by the text that they were begun with.
        told: texts of messages that were appended, without the model.
        created: children that it made of the root.
        forked: copies of its own session, each with the number of messages it took along.
    """

    session: str
    sent: dict[str, Any] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    forked: dict[str, int] = field(default_factory=dict)
    memory: str | None = None
    record: int | None = None


class Load:
    """Writers on whichever of the servers answers.

    Attributes:
        clients: of the servers that should answer now; the test changes it as servers come and go.
        refusals: how often each code was answered.
        statuses: how often each HTTP status was.
    """

    def __init__(self, name: str, count: int) -> None:
        self.root = f"{name}-root"
        self.writers = [Writer(f"{name}-{number}") for number in range(count)]
        self.clients: list[Client] = []
        self.refusals: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.done = 0
        self._numbers = itertools.count(1)
        self._stopped = False

    async def prepare(self) -> None:
        """The sessions: one of its own for each writer, below a root that all share."""
        (client, *_) = self.clients
        await client.create(self.root)
        for writer in self.writers:
            await client.create(writer.session, parentId=self.root)

    async def run(self) -> None:
        """Writes until `stop`; what was begun by then is brought to its end."""
        async with asyncio.TaskGroup() as group:
            for place, writer in enumerate(self.writers):
                group.create_task(self._write(writer, random.Random(place)))

    def stop(self) -> None:
        """Lets the writers end what they are at."""
        self._stopped = True

    async def _write(self, writer: Writer, chance: random.Random) -> None:
        while not self._stopped:
            text = f"{writer.session}.{next(self._numbers)}"
            step = chance.choice((self._send, self._send, self._append, self._create, self._fork, self._put))
            await step(writer, text)
            self.done += 1

    async def _send(self, writer: Writer, text: str) -> None:
        asked = {"sessionId": writer.session, "content": text, "idempotencyKey": text}
        writer.sent[text] = (await self._ask(documents.SEND, input=asked))["send"]

    async def _append(self, writer: Writer, text: str) -> None:
        said = [{"role": role, "content": f"{text}.{role}"} for role in ("USER", "ASSISTANT")]
        await self._ask(APPEND, id=writer.session, messages=said, key=text)
        writer.told += [one["content"] for one in said]

    async def _create(self, writer: Writer, text: str) -> None:
        asked = {"parentId": self.root, "label": text, "idempotencyKey": text}
        writer.created.append((await self._ask(documents.CREATE, input=asked))["createSession"]["id"])

    async def _fork(self, writer: Writer, text: str) -> None:
        asked = {
            "sourceSessionId": writer.session,
            "label": text,
            "context": "INHERIT",
            "idempotencyKey": text,
        }
        made = (await self._ask(documents.FORK, input=asked))["fork"]
        writer.forked[made["id"]] = made["messageCount"]

    async def _put(self, writer: Writer, text: str) -> None:
        number = next(self._numbers)
        await self._ask(RECORD, key=writer.session, value=number)
        writer.record = number
        await self._ask(MEMORY, id=writer.session, text=text)
        writer.memory = text

    async def _ask(self, document: str, **variables: Any) -> Any:
        """The answer, of whoever gives one; only what may be tried again is."""
        while True:
            client = random.choice(self.clients)
            try:
                response = await client.http.post(
                    "/graphql", json={"query": document, "variables": variables}
                )
                body = response.json()
            except httpx.TransportError:
                await asyncio.sleep(0.05)
                continue
            self.statuses[response.status_code] += 1
            errors: Sequence[Any] = body.get("errors") or ()
            if not errors:
                return body["data"]
            self.refusals.update(error["extensions"]["code"] for error in errors)
            if not all(error["extensions"].get("retryable") for error in errors):
                raise Refused(body["errors"])
            await asyncio.sleep(0.05)

    async def check(self, client: Client) -> None:
        """All that was acknowledged is there, once; nothing else is."""
        children = (await client.ask(documents.CHILDREN, id=self.root))["getChildren"]
        acknowledged = [id for writer in self.writers for id in writer.created]
        assert len(set(acknowledged)) == len(acknowledged)
        assert {node["id"] for node in children} == {
            *acknowledged,
            *(writer.session for writer in self.writers),
        }
        await asyncio.gather(*(self._check(client, writer) for writer in self.writers))

    async def _check(self, client: Client, writer: Writer) -> None:
        found = await client.ask(STATE, id=writer.session, key=writer.session)
        assert found["session"]["memory"] == writer.memory
        assert (found["record"] and found["record"]["value"]) == writer.record
        messages = await client.transcript(writer.session)
        assert [one["seq"] for one in messages] == list(range(1, found["session"]["messageCount"] + 1))
        said = Counter(one["content"] for one in messages if one["role"] == "USER" or not one["turnId"])
        assert said == Counter([*writer.sent, *writer.told])
        turns = (await client.session(writer.session))["turns"]
        assert {turn["id"] for turn in turns} <= {turn["id"] for turn in writer.sent.values()}
        for text, told in writer.sent.items():
            check_turn(await client.turn(told["id"]), told, text)
        completed = sum(turn["status"] == "COMPLETED" for turn in writer.sent.values())
        assert found["session"]["turnCount"] == completed
        copies = (await client.ask(documents.CHILDREN, id=writer.session))["getChildren"]
        assert {node["id"] for node in copies} == set(writer.forked)
        for id, length in writer.forked.items():
            assert await client.transcript(id) == messages[:length]


def check_turn(stored: Any, told: Any, text: str) -> None:
    """What its caller was told is what is stored: whole, or closed for a process that died."""
    assert stored == told
    user, *rest = stored["messages"]
    assert (user["role"], user["content"]) == ("USER", text)
    if stored["status"] == "COMPLETED":
        (reply,) = rest
        assert (reply["role"], reply["state"]) == ("ASSISTANT", "COMPLETE")
    else:
        assert (stored["status"], stored["stopReason"]) == ("FAILED", "INTERRUPTED")
        assert all(one["state"] == "TRUNCATED" for one in rest)
        assert len(rest) <= 1

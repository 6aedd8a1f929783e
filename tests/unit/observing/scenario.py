"""A scenario that says something secret wherever a caller, a model, a tool or an application can."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pydantic import SecretStr
from starlette.testclient import TestClient

from stello_graph.bootstrap import create_app
from stello_graph.errors import ModelRefused
from stello_graph.forest.functions import Functions
from stello_graph.forest.hooks import Hooks, MessageEvent
from stello_graph.llm.scripted import ScriptedLLM, Step, tool_use
from stello_graph.model.context import ModelRequest
from stello_graph.model.message import Message
from stello_graph.ports.observing import Observer
from stello_graph.settings import Settings
from stello_graph.tools import Tool

SECRET: Final = "pLaNtEd"
KEY: Final = f"{SECRET}-key-of-32-characters-at-least"
EVENTS: Final = "subscription Followed($id: ID!) { turnEvents(turnId: $id) { __typename } }"
TURN: Final = "id status error { code } messages { content }"
SEND: Final = f"mutation Said($input: SendInput!) {{ send(input: $input) {{ {TURN} }} }}"
CREATE: Final = "mutation Made($input: CreateSessionInput!) { createSession(input: $input) { id } }"


def secret(what: str) -> str:
    return f"{SECRET}-{what}"


def broken_tool(text: str) -> str:
    """Fails, and says what it was given."""
    raise ValueError(f"cannot do {text}")


def broken_consolidate(memory: str | None, messages: Sequence[Message]) -> str:
    raise ValueError(secret("application"))


async def broken_hook(event: MessageEvent) -> None:
    raise ValueError(secret("hook") + event.message.content)


SCRIPT: Final[Sequence[Step]] = (
    tool_use("broken_tool", {"text": secret("argument")}, text=secret("before")),
    secret("reply"),
    ModelRefused(f"illegal: {secret('quoted by the provider')}"),
)


class Played:
    """The scenario's server, and a client of it with the key."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.answers: list[Any] = []

    def ask(self, document: str, headers: Mapping[str, str] | None = None, **variables: Any) -> Any:
        """The body of an answer, whatever it is."""
        asked = {"query": document, "variables": variables}
        body = self.client.post("/graphql", json=asked, headers=headers).json()
        self.answers.append(body)
        return body

    def send(self, content: str, headers: Mapping[str, str] | None = None) -> Any:
        """A turn at its end."""
        return self.ask(SEND, headers, input={"sessionId": "s", "content": content})["data"]["send"]

    def follow(self, turn: str) -> list[str]:
        """The types of a turn's events, by a WebSocket."""
        heard = []
        with self.client.websocket_connect("/graphql", subprotocols=["graphql-transport-ws"]) as socket:
            init = {"type": "connection_init", "payload": {"Authorization": f"Bearer {KEY}"}}
            socket.send_text(json.dumps(init))
            assert json.loads(socket.receive_text())["type"] == "connection_ack"
            payload = {"query": EVENTS, "variables": {"id": turn}}
            socket.send_text(json.dumps({"type": "subscribe", "id": "1", "payload": payload}))
            while (message := json.loads(socket.receive_text()))["type"] == "next":
                heard.append(message["payload"]["data"]["turnEvents"]["__typename"])
        return heard

    def until(self, check: Callable[[], Any], what: str) -> None:
        """Waits for a condition."""
        deadline = time.monotonic() + 60
        while not check():
            assert time.monotonic() < deadline, what
            time.sleep(0.02)

    def metrics(self) -> str:
        """What `/metrics` tells."""
        return self.client.app.state.metrics.text().decode()  # type: ignore[attr-defined, no-any-return]


@contextmanager
def served(
    folder: Path, *, observers: Sequence[Observer] = (), llm: ScriptedLLM | None = None
) -> Iterator[Played]:
    """A server in this process, on a new file, that asks the script."""
    settings = Settings(
        store=f"sqlite:///{folder / 'stello.db'}",
        bootstrap_key=SecretStr(KEY),
        grace=0,
        scheduler_seconds=0.05,
        task_retry_seconds=600,
    )
    app = create_app(
        settings,
        llm=llm or ScriptedLLM(SCRIPT, default=_answer),
        tools=[Tool(broken_tool)],
        functions=Functions(consolidate=broken_consolidate),
        hooks=Hooks(on_message_received=broken_hook),
        observers=observers,
    )
    headers = {"Authorization": f"Bearer {KEY}"}
    with TestClient(app, "http://localhost", client=("127.0.0.1", 50_000), headers=headers) as client:
        yield Played(client)


def play(played: Played) -> None:
    """Everything once: a good turn with a tool that fails, a refused one, a socket, refusals, a task."""
    ask = played.ask
    ask(CREATE, input={"id": "s", "label": secret("label"), "systemPrompt": secret("prompt")})
    config = {"name": secret("name"), "consolidateOn": ["ON_LEAVE"]}
    assert "errors" not in ask(
        "mutation ($i: SpaceConfigInput!) { configureSpace(input: $i) { id } }", i=config
    )
    turn = played.send(secret("question"), {"X-Request-ID": "request-of-the-turn"})
    assert (turn["status"], turn["messages"][-1]["content"]) == ("COMPLETED", secret("reply")), turn
    assert played.follow(turn["id"])[-1] == "TurnEnded"
    assert played.send(secret("refused"))["error"]["code"] == "LLM_REFUSED"
    for content in ("memory", "insight"):
        field = f"put{content.title()}"
        document = f'mutation Put($c: String!) {{ {field}(sessionId: "s", content: $c) {{ id }} }}'
        assert "errors" not in ask(document, c=secret(content))
    assert ask("{ " + secret("syntax").replace("-", " ! ") + " }")["errors"]
    assert ask(CREATE, input={"id": secret("id") + "/"})["errors"]
    assert ask(CREATE, input={"id": "t", secret("field"): 1})["errors"]
    assert ask("{ me { scope } }", {"Authorization": f"Bearer {secret('wrong key')}"})["errors"]
    assert played.client.get(f"/{secret('path')}?{secret('query')}").status_code == 404
    for way in ("enter", "leave"):
        assert "errors" not in ask(f'mutation {{ {way}Session(id: "s", holder: "h") {{ id }} }}')


def _answer(request: ModelRequest) -> Step:
    return secret("default")

"""The examples of embedding, each in a real server, as docs/embedding.md tells to start them."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.client import Client, Refused
from tests.e2e.waiting import until

EXAMPLES: Final = Path(__file__).resolve().parents[2] / "examples"
DOCUMENTED: Final = {f"embed_{name}.py" for name in ("starlette", "lazily", "fastapi", "resolvers")}
START_SECONDS: Final = 90.0
LABELS: Final = "{ sessions { nodes { label } } }"
FOLLOW: Final = "subscription { topologyEvents { type node { label } } }"
_URL: Final = re.compile(r"Uvicorn running on (http://\S+)")

Host = Callable[[str], "Process"]


class Process:
    """An example under uvicorn, in a folder of its own."""

    def __init__(self, example: str, folder: Path) -> None:
        self.folder = folder
        self._log = folder / "log"
        with self._log.open("wb") as output:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "uvicorn",
                    "--app-dir",
                    EXAMPLES,
                    f"embed_{example}:app",
                    "--port",
                    "0",
                ],
                cwd=folder,
                env={**os.environ, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        deadline = time.monotonic() + START_SECONDS
        while not (found := _URL.search(self.output)):
            assert self._process.poll() is None, self.output
            assert time.monotonic() < deadline, self.output
            time.sleep(0.05)
        self.url = found[1]

    @property
    def output(self) -> str:
        """All that it printed and logged."""
        return self._log.read_text(errors="replace")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Stops it as a person or a supervisor does; afterwards no store is open any more."""
        if self._process.poll() is None:
            self._process.send_signal(how)
            self._process.wait(60)
        assert "Traceback" not in self.output.replace("KeyboardInterrupt", ""), self.output

    @property
    def open_stores(self) -> list[str]:
        """The last connection to a SQLite file takes its log away when it is closed."""
        return sorted(path.name for path in self.folder.glob("*.db-wal"))


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """Starts examples, and stops them."""
    with ExitStack() as stack:

        def start(example: str) -> Process:
            process = Process(example, tmp_path)
            stack.callback(process.stop)
            return process

        yield start


async def labels(client: Client) -> list[str]:
    return [node["label"] for node in (await client.ask(LABELS))["sessions"]["nodes"]]


def test_every_example_is_run_here() -> None:
    assert {path.name for path in EXAMPLES.glob("e*.py")} == DOCUMENTED


@pytest.mark.covers("TC22")
async def test_two_services_in_starlette(host: Host) -> None:
    """Two stores, two models, tools and hooks; both close with the host."""
    process = host("starlette")
    assert process.open_stores == ["research.db-wal", "support.db-wal"]
    async with Client(f"{process.url}/support") as support, Client(f"{process.url}/research") as research:
        await support.create("a", label="Help")
        await research.create("b", label="Museums")
        assert (await labels(support), await labels(research)) == (["Help"], ["Museums"])
        assert (await support.send("a", "Hello?"))["reply"]["content"] == "We call you back."
        await research.send("b", "Hello?")
        await until(lambda: "a reply in b" in process.output, "the hook is told")
        tools = "{ tools { name } }"
        assert {"name": "opening_hours"} in (await research.ask(tools))["tools"]
        assert {"name": "opening_hours"} not in (await support.ask(tools))["tools"]
        for path in ("", "/graphql"):
            page = await support.http.get(path or "/", headers={"accept": "text/html"})
            assert (page.status_code, "static/" in page.text) == (200, True)
        assert (await support.http.get(process.url + "/support")).headers["location"].endswith("/support/")
    process.stop()
    assert process.open_stores == []


@pytest.mark.covers("TC22")
async def test_a_host_that_knows_no_lifespan(host: Host) -> None:
    """Many first requests and a first socket open one store; Ctrl-C closes it."""
    process = host("lazily")
    assert not list(process.folder.glob("lazy.db*"))
    async with Client(f"{process.url}/ai") as client:
        assert await asyncio.gather(*(labels(client) for _ in range(8))) == [[]] * 8
        following = asyncio.create_task(first_event(client))
        await until(lambda: created_until(client, following), "an event comes over the socket")
        assert (await following)["topologyEvents"]["type"] == "SESSION_CREATED"
    assert process.open_stores == ["lazy.db-wal"]
    process.stop(signal.SIGINT)
    assert process.open_stores == []


async def first_event(client: Client) -> Any:
    stream = client.subscribe(FOLLOW)
    try:
        return await anext(stream)
    finally:
        await stream.aclose()


async def created_until(client: Client, following: "asyncio.Task[Any]") -> bool:
    """A subscription tells of what comes after it began: one more session, until it does."""
    await client.ask('mutation { createSession(input: {label: "New"}) { id } }')
    return following.done()


@pytest.mark.covers("TC22")
async def test_own_sign_in_in_fastapi(host: Host) -> None:
    """Each user sees the Space of their team, over HTTP, over a socket, and in the host's own route."""
    process = host("fastapi")
    url = f"{process.url}/ai"
    async with Client(url, key="ada") as ada, Client(url, key="bob") as bob, Client(url) as nobody:
        await ada.create("a", label="Red")
        assert (await labels(ada), await labels(bob)) == (["Red"], [])
        with pytest.raises(Refused) as reader:
            await bob.create("b", label="Blue")
        assert reader.value.code == "FORBIDDEN"
        answer = await nobody.http.post("/graphql", json={"query": LABELS})
        assert answer.status_code == 401
        async with ada.socket({"Authorization": "Bearer ada"}) as socket:
            await socket.subscribe(LABELS, {})
            assert (await socket.hear())["payload"]["data"] == {"sessions": {"nodes": [{"label": "Red"}]}}
        assert (await ada.http.get(f"{process.url}/labels")).json() == ["Red"]
        assert (await nobody.http.get(f"{process.url}/labels")).status_code == 401
        assert "/labels" in (await nobody.http.get(f"{process.url}/openapi.json")).json()["paths"]
    process.stop()
    assert process.open_stores == []


async def test_only_the_resolvers(host: Host) -> None:
    """One schema, theirs and ours, with our codes, our limits and our subscriptions."""
    process = host("resolvers")
    async with Client(process.url) as client:
        await client.create("order-7", label="A lamp")
        found = await client.ask(
            '{ user order(id: "7") { conversation { label } } getChildren { label } me { scope } }'
        )
        assert found == {
            "user": "ada",
            "order": {"conversation": {"label": "A lamp"}},
            "getChildren": [{"label": "A lamp"}],
            "me": {"scope": "WRITE"},
        }
        turn = await client.start("order-7", "Where is it?")
        assert (await client.events(turn["id"]))[-1]["__typename"] == "TurnEnded"
        for document, code in (
            ('{ session(id: "?") { id } }', "INVALID_INPUT"),
            ("{ sessions(first: 100000) { nodes { id } } }", "LIMIT_EXCEEDED"),
        ):
            with pytest.raises(Refused) as refused:
                await client.ask(document)
            assert refused.value.code == code
    process.stop()
    assert process.open_stores == []

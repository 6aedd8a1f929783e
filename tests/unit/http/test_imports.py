"""`POST /import`: a file in, lines of progress and the report out."""

import asyncio
import gzip
import json
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from io import BytesIO
from typing import Any, Final

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from stello_graph.errors import StoreUnavailable
from stello_graph.http import imports
from stello_graph.interchange import jsonstream, lots
from stello_graph.interchange.intake import OTHERS
from stello_graph.model.values import KeyScope
from stello_graph.store.engine import Row
from stello_graph.store.queries import Query
from stello_graph.store.sharing import SharingEngine
from tests.unit.http.calls import Answer, sent
from tests.unit.http.conftest import KEY, App, OpenApp
from tests.unit.interchange.archives import encrypted, zipped
from tests.unit.interchange.claude_exports import FIXTURES as CLAUDE
from tests.unit.interchange.exports import conversation, reply, user

JSON: Final = {"content-type": "application/json"}


def export(*ids: str) -> bytes:
    """An export with one conversation of two messages for each id."""
    return json.dumps(
        [conversation((None, user(f"{id}1")), (f"{id}1", reply(f"{id}2")), id=id) for id in ids]
    ).encode()


def uploaded(
    app: App, file: bytes, headers: Mapping[str, str] = JSON, query: str = ""
) -> AbstractAsyncContextManager[Answer]:
    return sent(app.asgi, "/import", [file[:100], file[100:]], headers, query=query)


async def ended(app: App, file: bytes, **given: Any) -> Answer:
    async with uploaded(app, file, **given) as answer:
        await over(answer)
    return answer


async def over(answer: Answer) -> None:
    async with asyncio.timeout(30):
        while not answer.done:
            answer.changed.clear()
            await answer.changed.wait()


class Gate:
    """Stores one session at a time, so many of them, then holds the next write until it is opened, or
    fails it.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, free: int = 0) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()
        self.fault: Exception | None = None
        self._free = free
        written = SharingEngine.write

        # Before the engine has begun it: what has begun ends, whoever has gone.
        async def write(engine: SharingEngine, query: Query, **params: Any) -> list[Row]:
            await self._passed(query)
            return await written(engine, query, **params)

        monkeypatch.setattr(SharingEngine, "write", write)
        monkeypatch.setattr(lots, "_MOST", 1)

    async def _passed(self, query: Query) -> None:
        if query.name == "imports/sessions":
            self._free -= 1
            if self._free < 0:
                self.reached.set()
                await self.opened.wait()
            if self.fault is not None:
                raise self.fault


async def stored(app: App) -> set[str]:
    found = await app.graph.space("default").store.star_map(
        None, max_depth=None, max_nodes=100, include_archived=True
    )
    return set(found.columns["id"])


async def test_a_file(open_app: OpenApp) -> None:
    """Progress, then the report that the command prints; the same file again adds nothing."""
    app = await open_app()
    first, again = (
        await ended(app, export("a", "b")),
        await ended(app, export("a", "b"), query="format=chatgpt"),
    )

    for answer in (first, again):
        assert (answer.status, answer.headers["content-type"]) == (200, "application/x-ndjson")
        *before, last = answer.lines
        assert all(set(line) == {"progress"} for line in before)
        assert before[0]["progress"]["totalBytes"] == len(export("a", "b"))
        assert (last["report"]["conversations"], last["report"]["importedAnythingValid"]) == (2, True)
    assert first.lines[-1]["report"]["sessions"] == {"imported": 2, "extended": 0, "present": 0}
    assert again.lines[-1]["report"]["sessions"] == {"imported": 0, "extended": 0, "present": 2}
    assert await stored(app) == {"chatgpt:a", "chatgpt:b"}


@pytest.mark.parametrize("query", ["", "format=claude"])
async def test_a_file_of_claude(open_app: OpenApp, query: str) -> None:
    app = await open_app()
    answer = await ended(app, (CLAUDE / "damaged.json").read_bytes(), query=query)

    report = answer.lines[-1]["report"]
    assert (report["conversations"], report["importedAnythingValid"]) == (3, True)
    assert {"where": "entry 5", "why": "not a JSON object"} in report["skipped"]["details"]
    assert {"claude:old", "claude:bent", "claude:pairs"} <= await stored(app)


ZIP: Final = {"content-type": "application/zip"}


async def test_an_archive(open_app: OpenApp) -> None:
    """As the file in it, with the progress of what is unpacked; nothing of it lies anywhere meanwhile but
    the body, which has no name.
    """
    app = await open_app(max_import_bytes=10_000)
    file = zipped(
        {"conversations-000.json": export("a"), "conversations-001.json": export("b"), "x.png": b"1"}
    )
    first, again = (
        await ended(app, file, headers=ZIP),
        await ended(app, file, headers=ZIP, query="format=chatgpt"),
    )

    assert first.lines[0]["progress"]["totalBytes"] == len(export("a")) + len(export("b"))
    report = first.lines[-1]["report"]
    assert (report["conversations"], report["sessions"]["imported"]) == (2, 2)
    assert report["notLookedAt"]["details"] == [{"where": "x.png", "why": OTHERS}]
    assert (report["space"], report["skipped"]["count"]) == ("default", 0)
    assert again.lines[-1]["report"]["sessions"] == {"imported": 0, "extended": 0, "present": 2}
    assert await stored(app) == {"chatgpt:a", "chatgpt:b"}
    packed = await ended(app, gzip.compress(export("a", "c")), headers={"content-type": "application/gzip"})
    assert packed.lines[-1]["report"]["sessions"] == {"imported": 1, "extended": 0, "present": 1}
    bomb = await ended(app, gzip.compress(b"[" * 10_001), headers={"content-type": "application/gzip"})
    assert bomb.status == 413


@pytest.mark.parametrize(
    ("file", "status", "code"),
    [
        (zipped({"conversations.json": b"[" + b" " * 20_000}), 413, "LIMIT_EXCEEDED"),
        (zipped({"conversations.json": export("a")})[:-40], 400, "INVALID_INPUT"),
        (encrypted(zipped({"conversations.json": export("a")}), "conversations.json"), 400, "INVALID_INPUT"),
        (zipped({"chat.html": b"<html>"}), 400, "INVALID_INPUT"),
    ],
    ids=["bomb", "cut off", "encrypted", "of others"],
)
async def test_archives_that_are_refused(open_app: OpenApp, file: bytes, status: int, code: str) -> None:
    """Before anything is written."""
    app = await open_app(max_import_bytes=10_000, max_imports=1)
    answer = await ended(app, file, headers=ZIP)
    assert (answer.status, answer.json["errors"][0]["extensions"]["code"]) == (status, code)
    assert await stored(app) == set()
    assert (await ended(app, export("a"))).status == 200


async def test_below_a_prefix(open_app: OpenApp) -> None:
    """It is where the app is."""
    app = await open_app()
    whole = Starlette(routes=[Mount("/chats", app.asgi)])
    async with sent(whole, "/chats/import", [export("a")], JSON) as answer:
        await over(answer)
    assert answer.lines[-1]["report"]["messages"] == 2


async def test_a_broken_file(open_app: OpenApp) -> None:
    """What is whole is imported, the rest is in the report."""
    app = await open_app()
    answer = await ended(app, export("a", "b")[:-30])
    report = answer.lines[-1]["report"]
    assert (report["conversations"], report["skipped"]["count"]) == (1, 1)
    nothing = await ended(app, b'[{"mapping": {}}]')
    assert nothing.lines[-1]["report"]["importedAnythingValid"] is False


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"headers": {"content-type": "text/plain"}}, 415, "INVALID_INPUT"),
        ({"headers": {"content-type": "multipart/form-data; boundary=x"}}, 415, "INVALID_INPUT"),
        ({"headers": {}}, 415, "INVALID_INPUT"),
        ({"headers": {**JSON, "content-encoding": "gzip"}}, 415, "INVALID_INPUT"),
        ({"headers": {**JSON, "content-length": "1001"}}, 413, "LIMIT_EXCEEDED"),
        ({"file": b"[" + b" " * 1_000}, 413, "LIMIT_EXCEEDED"),
        ({"file": b""}, 400, "INVALID_INPUT"),
        ({"file": b"Dear diary"}, 400, "INVALID_INPUT"),
        ({"query": "format=telegram"}, 400, "INVALID_INPUT"),
        ({"headers": {**JSON, "origin": "https://elsewhere.example"}}, 403, "FORBIDDEN"),
        ({"headers": {**JSON, "host": "elsewhere.example"}}, 403, "FORBIDDEN"),
    ],
)
async def test_refused_before_it_runs(
    open_app: OpenApp, change: dict[str, Any], status: int, code: str
) -> None:
    """By the status, with the body that all refusals have; nothing was written, and no place is lost."""
    app = await open_app(max_import_bytes=1_000, max_imports=1)
    answer = await ended(app, **{"file": export("a"), **change})
    assert (answer.status, answer.json["errors"][0]["extensions"]["code"]) == (status, code)
    assert await stored(app) == set()
    assert (await ended(app, export("a"))).status == 200


@pytest.mark.parametrize("is_own", [False, True], ids=["of another product", "own"])
async def test_statements(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, is_own: bool) -> None:
    """As many as there are lots, not as conversations; also for what is there already."""
    app = await open_app(rate_limit=1_000)
    asked: Counter[str] = Counter()

    def counted(run: Callable[..., Awaitable[list[Row]]]) -> Callable[..., Awaitable[list[Row]]]:
        def counting(query: Query, *given: Any, **params: Any) -> Awaitable[list[Row]]:
            asked[query.name] += 1
            return run(query, *given, **params)

        return counting

    async def cost(count: int) -> Counter[str]:
        ids = [f"{count}-{number}" for number in range(count)]
        asked.clear()
        report = (await ended(app, own_sessions(*ids) if is_own else export(*ids))).lines[-1]["report"]
        assert sum(report["sessions"].values()) == count
        return Counter({name: times for name, times in asked.items() if "import" in name})

    monkeypatch.setattr(app.engine, "read", counted(app.engine.read))
    monkeypatch.setattr(app.engine, "write", counted(app.engine.write))
    few, many, again = [await cost(count) for count in (2, 100, 100)]

    assert few == many
    assert few.total() == 2
    assert again.total() == (0 if is_own else 1)


async def test_other_methods(open_app: OpenApp) -> None:
    """It is for POST."""
    app = await open_app()
    for method in ("GET", "PUT", "DELETE"):
        async with sent(app.asgi, "/import", [b""], method=method) as answer:
            await over(answer)
        assert (answer.status, answer.json["errors"][0]["extensions"]["code"]) == (405, "INVALID_INPUT")


async def test_scopes(open_app: OpenApp) -> None:
    """WRITE may, in its own Space; READ, an operator and who has no key may not."""
    app = await open_app(bootstrap_key=KEY, rate_limit=5)
    await app.graph.create_space("other", "Other")
    keys = {
        scope: (await app.graph.create_key(space, scope, scope)).secret
        for scope, space in (
            (KeyScope.READ, "default"),
            (KeyScope.WRITE, "other"),
            (KeyScope.OPERATOR, None),
        )
    }

    async def status(secret: str) -> int:
        return (await ended(app, export("a"), headers={**JSON, "authorization": f"Bearer {secret}"})).status

    assert await status("wrong") == 401
    assert await status(keys[KeyScope.READ]) == 403
    assert await status(keys[KeyScope.OPERATOR]) == 403
    assert await status(keys[KeyScope.WRITE]) == 200
    assert await stored(app) == set()
    assert (await app.graph.store.in_space("other").space()).session_count == 1
    assert 429 in [await status(keys[KeyScope.WRITE]) for _ in range(20)]


def own_export() -> bytes:
    lines = [
        {"format": "stello-graph", "version": 1},
        {"kind": "space", "name": "Theirs", "config": {"systemPrompt": "Be brief."}},
        {"kind": "record", "key": "k", "value": 1},
        {"kind": "skill", "name": "s", "description": "d", "content": "c"},
        {"kind": "profile", "name": "p"},
        {"kind": "session", "id": "mine", "label": "Mine"},
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def own_sessions(*ids: str) -> bytes:
    """An own export with one session of two messages for each id."""
    lines: list[dict[str, Any]] = [{"format": "stello-graph", "version": 1}]
    for id in ids:
        lines.append({"kind": "session", "id": id, "label": id})
        for seq, role in enumerate(("USER", "ASSISTANT"), 1):
            said = {"id": f"{id}{seq}", "seq": seq, "role": role, "content": f"{id}{seq}"}
            lines.append({"kind": "message", "session": id, **said})
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


async def test_an_own_export(open_app: OpenApp) -> None:
    """All of it for an admin, packed or not, with new ids where asked; no settings with a key to write."""
    app = await open_app(bootstrap_key=KEY)
    await app.graph.create_space("other", "Other")
    secret = (await app.graph.create_key("other", "w", KeyScope.WRITE)).secret
    written = await ended(app, own_export(), headers={**JSON, "authorization": f"Bearer {secret}"})

    report = written.lines[-1]["report"]
    assert report["sessions"]["imported"] == 1
    assert report["beside"] == {"imported": 1, "present": 0, "different": 0, "left": 3}
    assert [each["where"] for each in report["skipped"]["details"]] == [
        "line 2, space",
        "line 4, skill s",
        "line 5, profile p",
    ]
    other = app.graph.store.in_space("other")
    assert ((await other.space()).name, await other.skills(), await other.profiles()) == ("Other", [], [])

    admin = {"authorization": f"Bearer {KEY}"}
    packed = zipped({"forest.jsonl": own_export(), "x.png": b"1"})
    first = (await ended(app, packed, headers={**ZIP, **admin})).lines[-1]["report"]
    again = (await ended(app, own_export(), headers={**JSON, **admin}, query="newIds=true")).lines[-1][
        "report"
    ]
    none = dict.fromkeys(first["beside"], 0)
    assert first["beside"] == none | {"imported": 4}
    assert again["beside"] == none | {"present": 4}
    assert first["sessions"]["imported"] == again["sessions"]["imported"] == 1
    assert len(await stored(app)) == 2
    asked = [(export("a"), "true"), *((own_export(), given) for given in ("1", "True", "yes", ""))]
    for file, given in asked:
        refused = await ended(app, file, headers={**JSON, **admin}, query=f"newIds={given}")
        assert refused.json["errors"][0]["extensions"]["code"] == "INVALID_INPUT"
    plain = await ended(app, own_export(), headers={**JSON, **admin}, query="newIds=false")
    assert plain.lines[-1]["report"]["sessions"]["present"] == 1


async def test_progress_comes_while_it_runs(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing between here and the client keeps it back, whatever the client could unpack."""
    app = await open_app()
    gate = Gate(monkeypatch, free=1)
    async with uploaded(app, export("a", "b"), headers={**JSON, "accept-encoding": "gzip"}) as answer:
        await gate.reached.wait()
        await answer.until(b'"sessions":1')
        assert "content-encoding" not in answer.headers
        assert answer.headers["x-accel-buffering"] == "no"
        gate.opened.set()
        await over(answer)
    assert answer.lines[-1]["report"]["sessions"]["imported"] == 2


@pytest.fixture
def one_held(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """An app where an import has written one session of two, and waits."""

    @asynccontextmanager
    async def held() -> AsyncIterator[tuple[App, Gate, Answer]]:
        app = await open_app(max_imports=1)
        gate = Gate(monkeypatch, free=1)
        async with uploaded(app, export("a", "b")) as answer:
            await gate.reached.wait()
            yield app, gate, answer

    return held


async def test_a_client_that_goes_away(one_held: Callable[..., Any]) -> None:
    """Its import stops between two sessions; what was imported stays, the rest comes with the next one."""
    async with one_held() as (app, gate, _):
        pass
    assert await stored(app) == {"chatgpt:a"}
    gate.opened.set()
    sessions = (await ended(app, export("a", "b"))).lines[-1]["report"]["sessions"]
    assert sessions == {"imported": 1, "extended": 0, "present": 1}


async def test_a_client_that_goes_away_before_all_is_sent(open_app: OpenApp) -> None:
    """Nothing is imported."""
    app = await open_app(max_imports=1)

    def broken_off() -> Iterator[dict[str, Any]]:
        yield {"type": "http.request", "body": export("a", "b"), "more_body": True}
        while True:
            yield {"type": "http.disconnect"}

    messages, answered = broken_off(), []

    async def receive() -> dict[str, Any]:
        return next(messages)

    async def send(message: Any) -> None:
        answered.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/import", "headers": headers, "query_string": b""}
    await app.asgi({**scope, "client": ("127.0.0.1", 1), "root_path": ""}, receive, send)
    assert await stored(app) == set()
    assert (await ended(app, export("a"))).status == 200


async def test_more_than_may_run_at_once(one_held: Callable[..., Any]) -> None:
    """One import too many is told to come again."""
    async with one_held() as (app, gate, answer):
        late = await ended(app, export("c"))
        error = late.json["errors"][0]["extensions"]
        assert (late.status, error["code"], error["retryable"]) == (429, "LIMIT_EXCEEDED", True)
        gate.opened.set()
        await over(answer)
    assert (await ended(app, export("c"))).status == 200


async def test_a_server_that_stops(one_held: Callable[..., Any]) -> None:
    """The answer ends without a report: so it is not whole."""
    async with one_held() as (app, _, answer):
        app.graph.stopping.set()
        await over(answer)
        assert all(set(line) == {"progress"} for line in answer.lines)


async def test_a_key_that_is_revoked(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its imports stop as well."""
    app = await open_app(key_seconds=0.05)
    made = await app.graph.create_key("default", "k", KeyScope.WRITE)
    gate = Gate(monkeypatch, free=1)
    headers = {**JSON, "authorization": f"Bearer {made.secret}"}
    async with uploaded(app, export("a", "b"), headers=headers) as answer:
        await gate.reached.wait()
        await app.graph.revoke_key("default", made.key.id)
        await over(answer)
    assert all(set(line) == {"progress"} for line in answer.lines)
    assert await stored(app) == {"chatgpt:a"}


async def test_a_server_without_room(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the file cannot be kept it is 503, to be tried again; the log has the reason."""
    app = await open_app(max_imports=1)
    with monkeypatch.context() as patched:
        patched.setattr(tempfile, "tempdir", "/nowhere")
        answer = await ended(app, export("a"))
    error = answer.json["errors"][0]
    assert (answer.status, error["extensions"]["code"]) == (503, "STORE_UNAVAILABLE")
    assert "nowhere" not in error["message"]
    assert (await ended(app, export("a"))).status == 200


@pytest.mark.parametrize(
    ("fault", "code"), [(StoreUnavailable("away"), "STORE_UNAVAILABLE"), (RuntimeError("secret"), "INTERNAL")]
)
async def test_what_fails_in_the_middle(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, fault: Exception, code: str
) -> None:
    """The last line tells; a fault of ours has an id that the log knows, and nothing else."""
    app = await open_app()
    gate = Gate(monkeypatch, free=9)
    gate.fault = fault
    answer = await ended(app, export("a"))
    error = answer.lines[-1]["error"]
    assert (answer.status, error["code"]) == (200, code)
    assert b"secret" not in answer.body
    assert ("id" in error) == (code == "INTERNAL")


async def test_the_same_file_twice_at_once(open_app: OpenApp) -> None:
    """Each session is made once, and both reports are true."""
    app = await open_app()
    ids = [f"c{number}" for number in range(8)]
    answers = await asyncio.gather(*(ended(app, export(*ids)) for _ in range(2)))
    reports = [answer.lines[-1]["report"]["sessions"] for answer in answers]
    assert sum(one["imported"] for one in reports) == 8
    assert sum(one["present"] for one in reports) == 8
    assert len(await stored(app)) == 8


def half_sent(app: App, headers: Mapping[str, str] = JSON) -> AbstractAsyncContextManager[Answer]:
    """A client that has sent a part of its file, and sends nothing more."""
    return sent(app.asgi, "/import", [export("a")], headers, whole=False)


async def test_who_sends_nothing_more(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused, and its place is free for others."""
    app = await open_app(max_imports=1)
    monkeypatch.setattr(imports, "PATIENCE", 0.05)
    async with half_sent(app) as answer:
        await over(answer)
    assert (answer.status, answer.json["errors"][0]["extensions"]["code"]) == (408, "LIMIT_EXCEEDED")
    assert (await ended(app, export("a"))).status == 200


async def test_a_key_that_is_revoked_while_the_file_comes(open_app: OpenApp) -> None:
    """Nothing more is taken of it."""
    app = await open_app(key_seconds=0.05)
    made = await app.graph.create_key("default", "k", KeyScope.WRITE)
    async with half_sent(app, {**JSON, "authorization": f"Bearer {made.secret}"}) as answer:
        await app.graph.revoke_key("default", made.key.id)
        await over(answer)
    assert (answer.status, answer.json["errors"][0]["extensions"]["code"]) == (401, "UNAUTHENTICATED")
    assert await stored(app) == set()


async def test_a_server_that_stops_while_the_file_comes(open_app: OpenApp) -> None:
    """It waits for nobody; the file can be sent again."""
    app = await open_app()
    async with half_sent(app) as answer:
        app.graph.stopping.set()
        await over(answer)
    assert (answer.status, answer.json["errors"][0]["extensions"]["retryable"]) == (503, True)


class FullDisk(BytesIO):
    """A file that cannot be written, and so not be closed either."""

    def write(self, data: object) -> int:
        """No room."""
        raise OSError(28, "No space left on device")

    def close(self) -> None:
        """Tries to write once more."""
        if not self.closed:
            super().close()
            raise OSError(28, "No space left on device")


async def test_a_disk_that_is_full(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client hears so, and the server is as before."""
    app = await open_app(max_imports=1)
    with monkeypatch.context() as patched:
        patched.setattr(tempfile, "TemporaryFile", FullDisk)
        answer = await ended(app, export("a"))
    assert (answer.status, answer.json["errors"][0]["extensions"]["code"]) == (503, "STORE_UNAVAILABLE")
    assert (await ended(app, export("a"))).status == 200


async def test_a_fault_before_it_runs(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who looks at the status alone sees it too."""
    app = await open_app()

    def broken() -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(tempfile, "TemporaryFile", broken)
    answer = await ended(app, export("a"))
    assert (answer.status, answer.json["errors"][0]["extensions"]["code"]) == (500, "INTERNAL")
    assert b"secret" not in answer.body


async def test_a_conversation_that_is_too_large(open_app: OpenApp) -> None:
    """It is left out, and the rest comes."""
    app = await open_app(max_import_object_bytes=2_000)
    large = conversation((None, user("b1", "x" * 2_000)), id="b")
    file = json.dumps([*json.loads(export("a")), large, *json.loads(export("c"))]).encode()
    report = (await ended(app, file)).lines[-1]["report"]
    assert report["skipped"]["reasons"] == {"larger than 0.00190735 MiB": 1}
    assert await stored(app) == {"chatgpt:a", "chatgpt:c"}


async def test_a_client_that_goes_away_in_one_long_piece(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What reads the file ends with the next read."""
    app = await open_app()
    monkeypatch.setattr(jsonstream, "CHUNK", 1)
    file = b'[{"mapping": "' + b"x" * 5_000_000 + b'"}]'
    async with uploaded(app, file) as answer:
        await answer.until(b"progress")
    assert b"report" not in answer.body

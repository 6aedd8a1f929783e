import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from typing import Any, Self

import pytest
from neo4j import AsyncDriver
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConstraintError,
    CypherSyntaxError,
    IncompleteCommit,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)

from stello_graph.errors import StoreUnavailable
from stello_graph.store.engine import PING, RECORD
from stello_graph.store.neo4j import Neo4jEngine, in_one_map
from stello_graph.store.queries import load
from stello_graph.store.sharing import SharingEngine

ROW = {"version": 1}


def failure(kind: type[Neo4jError], code: str) -> Neo4jError:
    found = Neo4jError._hydrate_neo4j(code=code, message=code)
    assert isinstance(found, kind)
    return found


DEADLOCK = failure(TransientError, "Neo.TransientError.Transaction.DeadlockDetected")
NO_MEMORY = failure(TransientError, "Neo.TransientError.General.OutOfMemoryError")
CONSTRAINT = failure(ConstraintError, "Neo.ClientError.Schema.ConstraintValidationFailed")
GONE = failure(ClientError, "Neo.ClientError.Statement.EntityNotFound")
SYNTAX = failure(CypherSyntaxError, "Neo.ClientError.Statement.SyntaxError")
UNAUTHORISED = failure(AuthError, "Neo.ClientError.Security.Unauthorized")


class Fake:
    """A driver, its sessions and results in one: each run takes the next answer of the script."""

    def __init__(self, script: Sequence[Exception | None], delay: float = 0.0) -> None:
        self.script = list(script)
        self.delay = delay
        self.runs = 0
        self.open = 0
        self.closed = False
        self.access: set[object] = set()

    def session(self, **options: object) -> Self:
        self.access.add(options["default_access_mode"])
        return self

    async def __aenter__(self) -> Self:
        self.open += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        self.open -= 1

    async def run(self, *_: object) -> Self:
        self.runs += 1
        await asyncio.sleep(self.delay)
        return self

    async def single(self) -> list[Any]:
        answer = self.script.pop(0) if self.script else None
        if answer is not None:
            raise answer
        return [[ROW]]

    async def close(self) -> None:
        self.closed = True


class Engine(Neo4jEngine):
    """An engine on a driver that is none."""

    def __init__(self, fake: Fake, retry_seconds: float = 0.3) -> None:
        super().__init__("bolt://nowhere", retry_seconds=retry_seconds)
        self.fake = fake

    def _open(self) -> AsyncDriver:
        self._driver = self.fake  # type: ignore[assignment]
        return self.fake  # type: ignore[return-value]


@pytest.fixture
async def opened() -> AsyncIterator[list[Engine]]:
    engines: list[Engine] = []
    yield engines
    for engine in engines:
        await engine.aclose()
        assert engine.fake.open == 0


@pytest.mark.covers("TC20")
@pytest.mark.parametrize(
    "error",
    [
        DEADLOCK,
        NO_MEMORY,
        CONSTRAINT,
        GONE,
        ServiceUnavailable("away"),
        SessionExpired("gone"),
        IncompleteCommit("who knows"),
        OSError("reset"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_what_is_run_again(opened: list[Engine], error: Exception) -> None:
    """What another try may mend is tried again, reads and writes, an unknown commit too."""
    for call in ("read", "write"):
        fake = Fake([error, error])
        opened.append(Engine(fake))

        rows = await getattr(opened[-1], call)(RECORD, version=1, name="n")

        assert (rows, fake.runs, fake.access) == ([ROW], 3, {call.upper()})


@pytest.mark.covers("TC20")
@pytest.mark.parametrize("error", [DEADLOCK, ServiceUnavailable("away"), OSError("reset")])
async def test_tries_come_to_an_end(opened: list[Engine], error: Exception) -> None:
    """A store that stays away is unavailable, after some tries with pauses, in the time that was given."""
    opened.append(Engine(Fake([error] * 1_000)))
    start = asyncio.get_running_loop().time()

    with pytest.raises(StoreUnavailable) as caught:
        await opened[0].write(RECORD, version=1, name="n")

    assert 0.3 <= asyncio.get_running_loop().time() - start < 2
    assert 3 <= opened[0].fake.runs < 30
    assert caught.value.__cause__ is error
    assert caught.value.retryable


async def test_a_wrong_statement(opened: list[Engine]) -> None:
    """A statement that is wrong is our fault: not tried again, not hidden."""
    opened.append(Engine(Fake([SYNTAX] * 10)))

    with pytest.raises(CypherSyntaxError):
        await opened[0].read(PING)

    assert opened[0].fake.runs == 1


async def test_a_wrong_password(opened: list[Engine]) -> None:
    """A server that does not let us in is unavailable, at once; the message has no secrets."""
    opened.append(Engine(Fake([UNAUTHORISED] * 10)))

    with pytest.raises(StoreUnavailable, match="AuthError"):
        await opened[0].read(PING)

    assert opened[0].fake.runs == 1


@pytest.mark.parametrize("error", [CONSTRAINT, GONE])
async def test_races_come_to_an_end(opened: list[Engine], error: Exception) -> None:
    """A race that is lost again and again is no race."""
    opened.append(Engine(Fake([error] * 100)))

    with pytest.raises(type(error)):
        await opened[0].write(RECORD, version=1, name="n")

    assert opened[0].fake.runs == 5


async def test_a_race_after_many_deadlocks(opened: list[Engine]) -> None:
    """What went before does not count against a race."""
    opened.append(Engine(Fake([*[DEADLOCK] * 5, CONSTRAINT, GONE]), retry_seconds=9))

    assert await opened[0].write(RECORD, version=1, name="n") == [ROW]


async def test_a_caller_that_goes_away() -> None:
    """What was started ends, though nobody waits for it, and closing waits for it."""
    fake = Fake([], delay=0.05)
    engine = SharingEngine(Engine(fake))
    task = asyncio.create_task(engine.write(RECORD, version=1, name="n"))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert fake.open == 1

    await engine.aclose()

    assert (fake.open, fake.runs, fake.closed) == (0, 1, True)
    with pytest.raises(StoreUnavailable, match="closed"):
        await engine.write(RECORD, version=1, name="n")


async def test_nothing_is_opened_before_the_first_call() -> None:
    """An engine that is not used opens nothing."""
    engine = Neo4jEngine("bolt://nowhere.invalid:1")

    await engine.aclose()

    assert engine._driver is None


async def test_a_server_that_is_not_there() -> None:
    """A server that is not there is unavailable."""
    engine = Neo4jEngine("bolt://127.0.0.1:1", retry_seconds=0.2)

    with pytest.raises(StoreUnavailable):
        await engine.ping()
    await engine.aclose()


@pytest.mark.parametrize("query", sorted(load("cypher")))
def test_one_parameter_whatever_the_types(query: str) -> None:
    """A plan is kept for each combination of types: all parameters come in one map."""
    (statement,) = load("cypher")[query].statements
    assert set(re.findall(r"\$\w+", in_one_map(statement))) <= {"$given"}
    for name in load("cypher")[query].query.params:
        assert f"$given.{name}" in in_one_map(statement)

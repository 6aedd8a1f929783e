"""The scheduler: what is due is run, once, by whichever process; failures wait; nothing new costs nothing."""

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from stello_graph.errors import (
    Conflict,
    InvalidInput,
    ModelRateLimited,
    ModelUnavailable,
    StoreUnavailable,
)
from stello_graph.forest.functions import Functions
from stello_graph.llm.offline import OfflineLLM
from stello_graph.llm.scripted import Pause, ScriptedLLM, Step, tool_use
from stello_graph.model.context import ContextMessage, ModelRequest
from stello_graph.model.memory import ClaimedTask, DueTask, InsightDraft, Integrated, IntegrationDraft
from stello_graph.model.message import Message, MessageRole
from stello_graph.model.requests import AppendedMessage, CreateSession, Fork, Send, SpaceChanges
from stello_graph.model.session import Session, SessionDigest
from stello_graph.model.space import Trigger
from stello_graph.model.turn import TurnStatus
from stello_graph.model.values import ForkContext, SessionRole, Usage
from stello_graph.service import SpaceService, StelloGraph
from stello_graph.store.tasks import TaskRepository
from stello_graph.tools import Tool
from tests.unit.forest.conftest import OpenGraph

WAIT = 10.0


async def opened(
    open_graph: OpenGraph,
    llm: ScriptedLLM,
    consolidate: Sequence[Trigger] = (),
    integrate: Sequence[Trigger] = (),
    turns: int = 1,
    **settings: Any,
) -> SpaceService:
    graph = open_graph(llm, **settings)
    await graph.open()
    space = graph.space()
    await space.configure(
        SpaceChanges(consolidate_on=tuple(consolidate), integrate_on=tuple(integrate), every_n_turns=turns)
    )
    return space


def said(content: str) -> AppendedMessage:
    return AppendedMessage(role=MessageRole.USER, content=content)


async def until(holds: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(WAIT):
        while not await holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def session(space: SpaceService, id: str) -> Session:
    return (await space.store.sessions([id]))[id]


async def remembers(space: SpaceService, id: str, memory: str) -> None:
    async def holds() -> bool:
        return (await session(space, id)).memory == memory

    await until(holds)


async def idle(space: SpaceService) -> None:
    """Waits until nothing is due and nothing runs."""

    async def holds() -> bool:
        path = space.graph.settings.sqlite_path
        assert path is not None
        return all(task["dueAt"] is None for task in rows(path, "task"))

    await until(holds)


def rows(path: Path, table: str) -> list[dict[str, Any]]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(f"SELECT * FROM {table}")]


def failures(path: Path) -> list[dict[str, Any]]:
    found = [row for row in rows(path, "topology_event") if row["type"] == "TASK_FAILED"]
    return [
        json.loads(row["data"]) | {"nodeId": row["nodeId"]}
        for row in sorted(found, key=lambda row: row["seq"])
    ]


@pytest.mark.covers("SCH-2")
async def test_at_exact_multiples_at_once(open_graph: OpenGraph) -> None:
    """Every N turns the digest is made, by the process that ended the turn, at once."""
    llm = ScriptedLLM(
        default=lambda request: "digest" if "对话记录" in request.messages[-1].content else "reply"
    )
    space = await opened(open_graph, llm, [Trigger.EVERY_N_TURNS], turns=2, scheduler_seconds=60)
    await space.create_session(CreateSession(id="s"))
    made = []
    for turn in range(1, 6):
        await space.send(Send(session_id="s", content=f"question {turn}"))
        await idle(space)
        made.append((await session(space, "s")).memory_revision)

    assert made == [0, 1, 1, 2, 2]


@pytest.mark.covers("W9")
async def test_tool_rounds_are_no_turns(open_graph: OpenGraph) -> None:
    """Whatever the tool rounds of a turn, it is one: the digest is made every N turns."""

    async def look() -> str:
        """Looks."""
        return "seen"

    def step(request: ModelRequest) -> Step:
        if "对话记录" in request.messages[-1].content:
            return "digest"
        rounds = sum(message.role == "tool" for message in request.messages[-4:])
        return "reply" if rounds == 2 else tool_use("look", id=f"call_{len(llm.requests)}")

    llm = ScriptedLLM(default=step)
    space = await opened(open_graph, llm, [Trigger.EVERY_N_TURNS], turns=3, tools=[Tool(look)])
    await space.create_session(CreateSession(id="s"))
    made = []
    for turn in range(1, 7):
        ended = await space.send(Send(session_id="s", content=f"question {turn}"))
        assert (ended.status, ended.tool_rounds) == (TurnStatus.COMPLETED, 2)
        await idle(space)
        made.append((await session(space, "s")).memory_revision)

    assert made == [0, 0, 1, 1, 1, 2]


@pytest.mark.covers("W34", "MEM-1")
async def test_only_what_is_new_is_sent(open_graph: OpenGraph) -> None:
    """A digest is made of the one before and of the messages since; without any nobody is asked."""
    llm = ScriptedLLM(["one", "first digest", "two", "second digest"])
    space = await opened(open_graph, llm, [Trigger.EVERY_N_TURNS, Trigger.ON_LEAVE])
    await space.create_session(CreateSession(id="s"))
    await space.send(Send(session_id="s", content="question one"))
    await remembers(space, "s", "first digest")
    await space.send(Send(session_id="s", content="question two"))
    await remembers(space, "s", "second digest")

    asked = llm.requests[3].messages[-1].content
    assert "当前摘要:\nfirst digest" in asked
    assert "question two" in asked
    assert "question one" not in asked
    await space.enter("s", "tab")
    await space.leave("s", "tab")
    await idle(space)
    assert len(llm.requests) == 4
    assert (await space.consolidate("s")).memory == "second digest"
    assert len(llm.requests) == 4


@pytest.mark.covers("SCH-6")
async def test_a_turn_does_not_wait(open_graph: OpenGraph) -> None:
    """Turns go on while a digest is made; what was said meanwhile makes it due again."""
    pause = Pause()
    llm = ScriptedLLM(["one", ["di", pause, "gest"], "two", "newest digest"])
    space = await opened(open_graph, llm, [Trigger.EVERY_N_TURNS])
    await space.create_session(CreateSession(id="s"))
    await space.send(Send(session_id="s", content="question one"))
    await asyncio.wait_for(pause.reached.wait(), WAIT)

    turn = await space.send(Send(session_id="s", content="question two"))

    assert turn.stop_reason is not None
    pause.over.set()
    await remembers(space, "s", "newest digest")
    assert "question two" in llm.requests[-1].messages[-1].content


async def test_sessions_side_by_side(open_graph: OpenGraph) -> None:
    """Digests of different sessions are made at the same time, but not more than the setting says."""
    pauses = [Pause() for _ in range(3)]
    llm = ScriptedLLM([[pause, f"digest {n}"] for n, pause in enumerate(pauses)])
    space = await opened(open_graph, llm, [Trigger.ON_ARCHIVE], max_tasks=2)
    for id in ("a", "b", "c"):
        await space.create_session(CreateSession(id=id))
        await space.append(id, [said("hello")])
        await space.archive(id)

    await asyncio.wait_for(asyncio.gather(*(pause.reached.wait() for pause in pauses[:2])), WAIT)
    await asyncio.sleep(0.1)
    assert not pauses[2].reached.is_set()
    pauses[0].over.set()
    await asyncio.wait_for(pauses[2].reached.wait(), WAIT)
    for pause in pauses:
        pause.over.set()
    await idle(space)

    assert {(await session(space, id)).memory for id in "abc"} == {"digest 0", "digest 1", "digest 2"}


@pytest.mark.covers("W34", "MEM-3")
async def test_failures_wait_and_are_told(open_graph: OpenGraph, tmp_path: Path) -> None:
    """A failure leaves the old digest, is told as an event, and is tried again until it is done."""
    away = ModelRateLimited("slow down", retryAfter=0.01)
    llm = ScriptedLLM([away, away, away, ValueError("bug"), " ", "digest"])
    space = await opened(open_graph, llm, [Trigger.ON_ARCHIVE])
    await space.create_session(CreateSession(id="s"))
    await space.append("s", [said("hello")])
    await space.put_memory("s", "old")
    await space.archive("s")

    async def failed_once() -> bool:
        return bool(failures(tmp_path / "stello.db"))

    await until(failed_once)
    assert (await session(space, "s")).memory == "old"
    await remembers(space, "s", "digest")

    told = failures(tmp_path / "stello.db")
    assert [(one["task"], one["code"], one["nodeId"]) for one in told] == [
        ("CONSOLIDATE", code, "s") for code in ("LLM_RATE_LIMITED", "INTERNAL", "LLM_REFUSED")
    ]
    assert told[0]["message"] == "slow down"
    assert "bug" not in json.dumps(told)
    await idle(space)
    (task,) = rows(tmp_path / "stello.db", "task")
    assert task["failures"] == 0


async def test_waits_double(open_graph: OpenGraph, tmp_path: Path) -> None:
    """The wait after a failure is ten minutes at most, and a trigger does not shorten it."""
    llm = ScriptedLLM(default=ModelUnavailable("away"))
    space = await opened(open_graph, llm, [Trigger.ON_LEAVE], task_retry_seconds=1000)
    await space.create_session(CreateSession(id="s"))
    await space.append("s", [said("hello")])

    async def left() -> float:
        before = len(failures(tmp_path / "stello.db"))
        await space.enter("s", "tab")
        await space.leave("s", "tab")

        async def failed() -> bool:
            return len(failures(tmp_path / "stello.db")) > before

        await until(failed)
        (task,) = rows(tmp_path / "stello.db", "task")
        (event,) = [r for r in rows(tmp_path / "stello.db", "topology_event") if r["type"] == "TASK_FAILED"]
        return float(task["dueAt"] - event["at"]) / 1e6

    assert 300 <= await left() <= 600, "ten minutes at most"
    calls = len(llm.requests)
    await space.enter("s", "tab")
    await space.leave("s", "tab")
    await asyncio.sleep(0.3)
    assert len(llm.requests) == calls


async def test_what_a_person_put_stays(open_graph: OpenGraph, tmp_path: Path) -> None:
    """A memory that was put while a digest was made is not overwritten, and that is no failure."""
    pause = Pause()
    llm = ScriptedLLM([["di", pause, "gest"]])
    space = await opened(open_graph, llm, [Trigger.ON_LEAVE])
    await space.create_session(CreateSession(id="s"))
    await space.append("s", [said("hello")])
    await space.enter("s", "tab")
    await space.leave("s", "tab")
    await asyncio.wait_for(pause.reached.wait(), WAIT)
    await space.put_memory("s", "by hand")
    pause.over.set()
    await idle(space)

    assert (await session(space, "s")).memory == "by hand"
    assert failures(tmp_path / "stello.db") == []
    assert len(llm.requests) == 1


@pytest.mark.covers("W34")
async def test_one_process_runs_it(open_graph: OpenGraph) -> None:
    """Two processes that look for the same tasks run each of them once."""
    llms = [ScriptedLLM(default="digest") for _ in range(2)]
    one = await opened(open_graph, llms[0], [Trigger.ON_ARCHIVE])
    other = open_graph(llms[1])
    await other.open()
    ids = [f"s{n}" for n in range(12)]
    for id in ids:
        await one.create_session(CreateSession(id=id))
        await one.append(id, [said("hello")])
    for place, id in enumerate(ids):
        await (one if place % 2 else other.space()).archive(id)
    await idle(one)

    assert [(await session(one, id)).memory_revision for id in ids] == [1] * 12
    assert sum(len(llm.requests) for llm in llms) == 12


async def test_what_a_dead_process_left(open_graph: OpenGraph, tmp_path: Path) -> None:
    """A task whose holder died is taken over when the lease ran out."""
    dead = open_graph(ScriptedLLM())
    await dead.store.migrate()
    await dead.store.ensure_space("default", "Default")
    space = dead.space()
    await space.configure(SpaceChanges(consolidate_on=(Trigger.ON_ARCHIVE,)))
    await space.create_session(CreateSession(id="s"))
    await space.append("s", [said("hello")])
    await space.archive("s")
    (task,) = await dead.store.due_tasks(10)
    assert await space.store.claim_task(task, 0.4) is not None

    alive = open_graph(ScriptedLLM(["digest"]))
    await alive.open()

    await asyncio.sleep(0.15)
    assert (await session(space, "s")).memory is None
    await remembers(space, "s", "digest")


async def test_a_long_task_keeps_its_lease(open_graph: OpenGraph) -> None:
    """A task that takes longer than its lease is not started twice."""
    pause = Pause()
    first, second = ScriptedLLM([[pause, "digest"]]), ScriptedLLM(["other"])
    space = await opened(open_graph, first, [Trigger.ON_ARCHIVE])
    await space.create_session(CreateSession(id="s"))
    await space.append("s", [said("hello")])
    await space.archive("s")
    await asyncio.wait_for(pause.reached.wait(), WAIT)
    other = open_graph(second)
    await other.open()

    await asyncio.sleep(1.0)
    pause.over.set()

    await remembers(space, "s", "digest")
    assert second.requests == []


async def test_a_process_that_stops_gives_back(open_graph: OpenGraph) -> None:
    """What runs at shutdown is given back, and another process does it at once."""
    pause = Pause()
    first = ScriptedLLM([["lost", pause]])
    space = await opened(open_graph, first, [Trigger.ON_ARCHIVE], lease_seconds=60)
    await space.create_session(CreateSession(id="s"))
    await space.append("s", [said("hello")])
    await space.archive("s")
    await asyncio.wait_for(pause.reached.wait(), WAIT)

    await space.graph.aclose()
    other = open_graph(ScriptedLLM(["digest"]))
    await other.open()

    await remembers(other.space(), "s", "digest")


@pytest.mark.covers("SCH-4")
async def test_switching_and_integrating(open_graph: OpenGraph) -> None:
    """Entering another session distils the one before, and then integrates its tree."""
    answer = '{"synthesis": "all of it", "insights": [{"sessionId": "b", "content": "look at a"}]}'
    llm = ScriptedLLM(["digest of a", answer])
    space = await opened(open_graph, llm, [Trigger.ON_SWITCH], [Trigger.AFTER_CONSOLIDATE])
    await space.create_session(CreateSession(id="main", role=SessionRole.MAIN))
    for id in "ab":
        await space.create_session(CreateSession(id=id, parent_id="main"))
        await space.append(id, [said(f"hello {id}")])
    await space.put_memory("b", "known of b")
    await space.enter("a", "tab")
    await space.enter("b", "tab")

    async def integrated() -> bool:
        return (await session(space, "main")).synthesis == "all of it"

    await until(integrated)
    await idle(space)
    insight = (await session(space, "b")).insight
    assert insight is not None
    assert (insight.content, insight.source_session_id) == ("look at a", "main")
    assert len(llm.requests) == 2


@pytest.mark.covers("INT-10", "MEM-1")
async def test_functions_of_an_application(open_graph: OpenGraph, tmp_path: Path) -> None:
    """An application's own functions distil and integrate, without the model."""
    seen: list[Any] = []

    def consolidate(memory: str | None, messages: Sequence[Message]) -> str:
        seen.append((memory, [message.content for message in messages]))
        return json.dumps({"n": len(seen)})

    async def integrate(synthesis: str | None, digests: Sequence[SessionDigest]) -> Integrated:
        seen.append((synthesis, [digest.memory for digest in digests]))
        told = (InsightDraft(session_id="a", content="own"), InsightDraft(session_id="nobody", content="own"))
        return Integrated(synthesis="own synthesis", insights=told)

    functions = Functions(consolidate=consolidate, integrate=integrate)
    llm = ScriptedLLM()
    space = await opened(open_graph, llm, [Trigger.ON_LEAVE], functions=functions)
    await space.create_session(CreateSession(id="main", role=SessionRole.MAIN))
    await space.create_session(CreateSession(id="a", parent_id="main"))
    await space.append("a", [said("hello")])
    await space.enter("a", "tab")
    await space.leave("a", "tab")
    await remembers(space, "a", '{"n": 1}')
    await space.append("a", [said("again")])
    assert (await space.consolidate("a")).memory == '{"n": 2}'

    result = await space.integrate("main")

    assert (result.called, result.synthesis, result.dropped) == (True, "own synthesis", ("nobody",))
    assert seen == [(None, ["hello"]), ('{"n": 1}', ["again"]), (None, ['{"n": 2}'])]
    assert llm.requests == []


async def test_an_application_that_summarises(open_graph: OpenGraph) -> None:
    """An application's own function compresses by hand and for forks."""

    async def compress(summary: str | None, messages: Sequence[ContextMessage]) -> str:
        return f"{summary}+{len(messages)}"

    space = await opened(open_graph, ScriptedLLM(), functions=Functions(compress=compress))
    await space.create_session(CreateSession(id="s"))
    await space.append("s", [said("one"), said("two"), said("three")])

    compacted = await space.compact("s", 1)
    fork = await space.fork(
        Fork(source_session_id="s", label="Fork", context=ForkContext.COMPRESS, system_prompt="p")
    )

    assert compacted.compression is not None
    assert compacted.compression.summary == "None+2"
    assert "None+3" in (fork.system_prompt or "")


async def test_an_application_that_fails(open_graph: OpenGraph, tmp_path: Path) -> None:
    """What an application's function raises is told by its code, and never by its words."""

    def consolidate(memory: str | None, messages: Sequence[Message]) -> str:
        if messages[-1].content == "mine":
            raise InvalidInput("not a conversation")
        raise RuntimeError("secret")

    space = await opened(
        open_graph, ScriptedLLM(), [Trigger.ON_LEAVE], functions=Functions(consolidate=consolidate)
    )
    for id, content in (("a", "other"), ("b", "mine")):
        await space.create_session(CreateSession(id=id))
        await space.append(id, [said(content)])
        await space.enter(id, "tab")
        await space.leave(id, "tab")

    async def failed() -> bool:
        return {one["nodeId"] for one in failures(tmp_path / "stello.db")} == {"a", "b"}

    await until(failed)
    found = {one["nodeId"]: (one["code"], one["message"]) for one in failures(tmp_path / "stello.db")}
    assert found["a"][0] == "INTERNAL"
    assert "secret" not in found["a"][1]
    assert found["b"] == ("INVALID_INPUT", "not a conversation")


async def test_in_the_language_of_the_conversation(open_graph: OpenGraph) -> None:
    """The offline model distils and integrates a Chinese conversation in Chinese."""
    space = await opened(
        open_graph,
        OfflineLLM(delay=0),  # type: ignore[arg-type]
        [Trigger.EVERY_N_TURNS],
        [Trigger.AFTER_CONSOLIDATE],
    )
    await space.create_session(CreateSession(id="main", role=SessionRole.MAIN, label="总览"))
    for id, label, said in (
        ("a", "酒店", "我们选海边的酒店，预算三千元。"),
        ("b", "机票", "买周五早上的机票。"),
    ):
        await space.create_session(CreateSession(id=id, parent_id="main", label=label))
        await space.send(Send(session_id=id, content=said))

    async def integrated() -> bool:
        found = await space.store.sessions(["main", "a", "b"])
        synthesis = found["main"].synthesis or ""
        return "酒店" in synthesis and "机票" in synthesis and found["a"].insight is not None

    await until(integrated)
    await idle(space)
    memory = (await session(space, "a")).memory or ""
    assert 100 <= len(memory) <= 150
    assert "海边的酒店" in memory
    insight = (await session(space, "a")).insight
    assert insight is not None
    assert "机票" in insight.content


async def test_conflicts_by_hand(open_graph: OpenGraph) -> None:
    """By hand the loser of two integrations hears that it lost."""
    pause = Pause()
    llm = ScriptedLLM([[pause, "late"], "early"])
    space = await opened(open_graph, llm)
    await space.create_session(CreateSession(id="main", role=SessionRole.MAIN))
    await space.create_session(CreateSession(id="a", parent_id="main"))
    await space.put_memory("a", "m")
    late = asyncio.create_task(space.integrate("main"))
    await asyncio.wait_for(pause.reached.wait(), WAIT)
    assert (await space.integrate("main")).synthesis == "early"
    pause.over.set()

    with pytest.raises(Conflict):
        await late
    assert (await session(space, "main")).synthesis == "early"


def test_a_graph_has_functions(open_graph: OpenGraph) -> None:
    """Without functions of its own a service asks the model."""
    graph: StelloGraph = open_graph(ScriptedLLM())

    assert graph.functions == Functions()


async def test_what_cannot_be_claimed_waits_for_the_interval(
    open_graph: OpenGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that lists a task and refuses to give it out is not asked again at once, and for ever."""
    claimed = asyncio.Event()
    asked: list[str] = []

    async def refused(self: TaskRepository, task: DueTask, lease: float) -> ClaimedTask | None:
        asked.append(task.session_id)
        claimed.set()
        raise StoreUnavailable("the disk is full")

    monkeypatch.setattr(TaskRepository, "claim_task", refused)
    space = await opened(open_graph, ScriptedLLM(), [Trigger.ON_ARCHIVE], scheduler_seconds=3600)
    await space.create_session(CreateSession(id="s"))
    await space.append("s", [said("hello")])
    await space.archive("s")
    await asyncio.wait_for(claimed.wait(), WAIT)
    for _ in range(20):
        await space.store.space()
    assert asked == ["s"]


async def test_a_faster_integration_of_older_digests(open_graph: OpenGraph) -> None:
    """Where one wins that did not know the newest digest, that digest is integrated all the same."""
    pause = Pause()
    llm = ScriptedLLM([["too ", pause, "late"], "all of it"])
    space = await opened(open_graph, llm, integrate=[Trigger.ON_LEAVE])
    await space.create_session(CreateSession(id="main", role=SessionRole.MAIN))
    await space.create_session(CreateSession(id="a", parent_id="main"))
    older = (await space.store.space()).event_seq
    await space.put_memory("a", "known of a")
    await space.enter("a", "tab")
    await space.leave("a", "tab")
    await asyncio.wait_for(pause.reached.wait(), WAIT)
    await space.store.store_integration(
        "main", IntegrationDraft(synthesis="faster", through_seq=older, revision=0)
    )
    pause.over.set()

    async def integrated() -> bool:
        return (await session(space, "main")).synthesis == "all of it"

    await until(integrated)
    await idle(space)
    assert len(llm.requests) == 2


async def test_a_faster_digest_of_older_messages(open_graph: OpenGraph) -> None:
    """Where a digest wins that had not seen the newest messages, they are distilled all the same."""
    pause = Pause()
    llm = ScriptedLLM([["too ", pause, "late"], "all of it"])
    space = await opened(open_graph, llm, [Trigger.ON_ARCHIVE])
    await space.create_session(CreateSession(id="s"))
    await space.append("s", [said("older"), said("newer")])
    await space.archive("s")
    await asyncio.wait_for(pause.reached.wait(), WAIT)
    await space.store.store_digest(
        "s", "faster", revision=0, through_seq=1, usage=Usage(), even_archived=True
    )
    pause.over.set()

    await remembers(space, "s", "all of it")
    await idle(space)
    assert len(llm.requests) == 2
    assert "faster" in llm.requests[1].messages[-1].content
    assert "older" not in llm.requests[1].messages[-1].content

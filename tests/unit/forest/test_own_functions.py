"""An application's own functions that fail, or give what was not asked for."""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from stello_graph.errors import InternalError, InvalidInput, NotFound
from stello_graph.forest.functions import Functions
from stello_graph.llm.scripted import ScriptedLLM
from stello_graph.model.context import ContextMessage, ContextOrigin
from stello_graph.model.message import Message, MessageRole
from stello_graph.model.requests import AppendedMessage, CreateSession, Fork, SpaceChanges
from stello_graph.model.space import Trigger
from stello_graph.model.turn import TurnStatus
from stello_graph.model.values import SessionRole
from stello_graph.service import SpaceService
from tests.e2e.waiting import until
from tests.unit.forest.conftest import OpenGraph
from tests.unit.forest.test_scheduler import failures, remembers
from tests.unit.forest.test_turns import ask, transcript
from tests.unit.forest.test_turns_compress import LONG, WINDOW, shown


async def opened(
    open_graph: OpenGraph, settings: Mapping[str, Any] = MappingProxyType({}), **functions: Any
) -> SpaceService:
    llm = ScriptedLLM(default="ok", window=WINDOW)
    graph = open_graph(llm, functions=Functions(**functions), **settings)
    await graph.open()
    space = graph.space()
    await space.create_session(CreateSession(id="s"))
    roles = (MessageRole.USER, MessageRole.ASSISTANT)
    await space.append("s", [AppendedMessage(role=roles[n % 2], content=f"{n} {LONG}") for n in range(14)])
    return space


def refuses(summary: str | None, messages: Sequence[ContextMessage]) -> str:
    raise InvalidInput("not these")


def gives(value: Any) -> Any:
    return lambda *_: value


@pytest.mark.covers("CMP-6")
@pytest.mark.parametrize("compress", [refuses, gives(b"bytes"), gives(None), gives("  ")])
async def test_a_turn_goes_on_without_its_summary(open_graph: OpenGraph, compress: Any) -> None:
    """Whatever a compress function raises or gives, the turn completes with the newest that fits."""
    space = await opened(open_graph, compress=compress)
    turn = await space.send(ask("and now?"))
    assert turn.status is TurnStatus.COMPLETED, turn.error
    request = space.graph.llm.requests[-1]  # type: ignore[attr-defined]
    assert shown(request, ContextOrigin.COMPRESSION) == []
    assert shown(request, ContextOrigin.TRANSCRIPT)[-1] == f"13 {LONG}"
    assert (await space.store.sessions(["s"]))["s"].compression is None


async def test_what_was_not_asked_for(open_graph: OpenGraph) -> None:
    """A digest, summary or integration of another type is an error that names both; nothing is stored."""
    space = await opened(open_graph, consolidate=gives(7), compress=gives(["a"]), integrate=gives({}))
    with pytest.raises(InternalError, match="consolidate function gave int, not str"):
        await space.consolidate("s")
    with pytest.raises(InternalError, match="compress function gave list, not str"):
        await space.compact("s", 1)
    await space.create_session(CreateSession(id="main", role=SessionRole.MAIN))
    await space.create_session(CreateSession(id="child", parent_id="main"))
    await space.put_memory("child", "known")
    with pytest.raises(InternalError, match="integrate function gave dict, not Integrated"):
        await space.integrate("main")
    with pytest.raises(InternalError, match="select function gave set, not Sequence"):
        await space.fork(Fork(source_session_id="s", label="F"), select=gives(set()))
    with pytest.raises(InvalidInput, match="AppendedMessage"):
        await space.fork(Fork(source_session_id="s", label="F"), select=gives(["a text"]))
    found = await space.store.sessions(["s", "main"])
    assert (found["s"].memory, found["s"].compression, found["main"].synthesis) == (None, None, None)
    assert (await space.store.nodes(["s"]))["s"].child_count == 0
    assert len(await transcript(space)) == 14


async def test_errors_of_ours_pass(open_graph: OpenGraph) -> None:
    """What a function raises of our errors is told as it is."""

    def missing(*_: Any) -> str:
        raise NotFound("no such book")

    space = await opened(open_graph, consolidate=missing)
    with pytest.raises(NotFound, match="no such book"):
        await space.consolidate("s")


async def forever(*_: Any) -> Any:
    await asyncio.Event().wait()


async def deaf(*_: Any) -> Any:
    """Does not listen when it is told to stop, for a while."""
    until = asyncio.get_running_loop().time() + 1
    while (left := until - asyncio.get_running_loop().time()) > 0:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(left)


async def cancels_itself(*_: Any) -> Any:
    raise asyncio.CancelledError


QUICK = MappingProxyType({"function_seconds": 0.1, "max_tasks": 1, "task_retry_seconds": 3_600.0})


@pytest.mark.parametrize("never", [forever, deaf])
async def test_one_that_never_returns_gives_its_place_back(
    open_graph: OpenGraph, tmp_path: Path, never: Any
) -> None:
    """It has failed after its time, as an event tells, and the only place of the scheduler is another's."""

    async def consolidate(memory: str | None, messages: Sequence[Message]) -> str:
        return str(await never()) if len(messages) > 1 else "digest"

    space = await opened(open_graph, QUICK, consolidate=consolidate)
    await space.configure(SpaceChanges(consolidate_on=(Trigger.ON_LEAVE,)))
    await space.create_session(CreateSession(id="after"))
    await space.append("after", [AppendedMessage(role=MessageRole.USER, content="hello")])
    for id in ("s", "after"):
        await space.enter(id, "tab")
        await space.leave(id, "tab")
    await remembers(space, "after", "digest")
    (failure,) = failures(tmp_path / "stello.db")
    assert (failure["nodeId"], failure["task"], failure["code"]) == ("s", "CONSOLIDATE", "INTERNAL")
    assert (await space.store.sessions(["s"]))["s"].memory is None
    await until(lambda: not space.graph.has_strays, "it has ended")


async def test_each_has_its_time(open_graph: OpenGraph) -> None:
    """By hand too: a function that takes too long, or cancels itself, is an error that names it."""
    space = await opened(open_graph, QUICK, consolidate=forever, compress=forever, integrate=forever)
    with pytest.raises(InternalError, match=r"consolidate function did not answer within 0\.1 s"):
        await space.consolidate("s")
    with pytest.raises(InternalError, match="compress function did not answer"):
        await space.compact("s", 1)
    with pytest.raises(InternalError, match="select function did not answer"):
        await space.fork(Fork(source_session_id="s", label="F"), select=forever)
    with pytest.raises(InternalError, match="select function was cancelled"):
        await space.fork(Fork(source_session_id="s", label="F"), select=cancels_itself)
    await space.create_session(CreateSession(id="main", role=SessionRole.MAIN))
    await space.create_session(CreateSession(id="child", parent_id="main"))
    await space.put_memory("child", "known")
    with pytest.raises(InternalError, match="integrate function did not answer"):
        await space.integrate("main")
    turn = await space.send(ask("and now?"))
    assert turn.status is TurnStatus.COMPLETED, turn.error


async def test_an_agent_that_never_comes(open_graph: OpenGraph) -> None:
    """The turn that waits for it fails."""
    graph = open_graph(ScriptedLLM(default="ok"), agents=forever, function_seconds=0.1)
    await graph.open()
    space = graph.space()
    await space.create_session(CreateSession(id="s"))
    turn = await space.send(ask())
    assert turn.status is TurnStatus.FAILED
    with pytest.raises(InternalError, match="agents function did not answer"):
        await space.consolidate("s")


async def test_who_is_cancelled_waits_for_nobody(open_graph: OpenGraph) -> None:
    """A function is told to stop where its caller goes away."""
    stopped = asyncio.Event()

    async def consolidate(*_: Any) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return "never"

    space = await opened(open_graph, consolidate=consolidate)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await space.consolidate("s")
    async with asyncio.timeout(10):
        await stopped.wait()

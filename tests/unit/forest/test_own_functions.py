"""An application's own functions that fail, or give what was not asked for."""

from collections.abc import Sequence
from typing import Any

import pytest

from stello_graph.errors import InternalError, InvalidInput, NotFound
from stello_graph.forest.functions import Functions
from stello_graph.llm.scripted import ScriptedLLM
from stello_graph.model.context import ContextMessage, ContextOrigin
from stello_graph.model.message import MessageRole
from stello_graph.model.requests import AppendedMessage, CreateSession, Fork
from stello_graph.model.turn import TurnStatus
from stello_graph.model.values import SessionRole
from stello_graph.service import SpaceService
from tests.unit.forest.conftest import OpenGraph
from tests.unit.forest.test_turns import ask, transcript
from tests.unit.forest.test_turns_compress import LONG, WINDOW, shown


async def opened(open_graph: OpenGraph, **functions: Any) -> SpaceService:
    graph = open_graph(ScriptedLLM(default="ok", window=WINDOW), functions=Functions(**functions))
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

"""What the service tells of sessions outside of turns."""

import asyncio
from typing import Any

import pytest

from stello_graph.bootstrap import build
from stello_graph.errors import ModelRefused, NotFound
from stello_graph.forest.hooks import ArchiveEvent, EnterEvent, ErrorEvent, ForkEvent, Hooks, LeaveEvent
from stello_graph.llm.scripted import ScriptedLLM
from stello_graph.model.requests import CreateSession, Fork, Send, SpaceChanges
from stello_graph.model.space import Trigger
from stello_graph.service import StelloGraph
from stello_graph.settings import Settings
from tests.unit.forest.conftest import OpenGraph


class Ear:
    """Remembers what it heard."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    async def __call__(self, event: Any) -> None:
        self.heard.append(event)

    def hooks(self) -> Hooks:
        names = ("on_session_enter", "on_session_leave", "on_session_archive", "on_session_fork")
        return Hooks(**dict.fromkeys(names, self))


@pytest.fixture
def ear() -> Ear:
    return Ear()


@pytest.fixture
async def graph(open_graph: OpenGraph, ear: Ear) -> StelloGraph:
    graph = open_graph(ScriptedLLM(), hooks=ear.hooks())
    await graph.open()
    for id in ("a", "b"):
        await graph.space().create_session(CreateSession(id=id))
    return graph


@pytest.mark.covers("HOOK-4")
async def test_entering_and_leaving(graph: StelloGraph, ear: Ear) -> None:
    """Who enters another session leaves the one before; leaving what one is not in is nothing."""
    space = graph.space()
    await space.enter("a", "tab")
    await space.enter("b", "tab")
    await space.leave("a", "tab")
    await space.leave("b", "tab")
    await space.leave("b", "tab")
    await graph.hooks.aclose()

    assert ear.heard == [
        EnterEvent("default", "a", "tab"),
        LeaveEvent("default", "a", "tab", "b"),
        EnterEvent("default", "b", "tab"),
        LeaveEvent("default", "b", "tab"),
    ]


@pytest.mark.covers("HOOK-4")
async def test_archiving(graph: StelloGraph, ear: Ear) -> None:
    """Told once, however often it is asked for; taking it back is not told."""
    space = graph.space()
    await space.archive("a")
    await space.archive("a")
    await space.unarchive("a")
    await graph.hooks.aclose()

    assert ear.heard == [ArchiveEvent("default", "a")]


@pytest.mark.covers("HOOK-4")
async def test_forking(graph: StelloGraph, ear: Ear) -> None:
    made = await graph.space().fork(Fork(source_session_id="a", label="Fork"))
    await graph.hooks.aclose()

    assert ear.heard == [ForkEvent("default", made.id, "a")]


async def test_what_is_refused_is_not_told(graph: StelloGraph, ear: Ear) -> None:
    space = graph.space()
    for call in (space.enter("x", "tab"), space.leave("x", "tab"), space.archive("x")):
        with pytest.raises(NotFound):
            await call
    await graph.hooks.aclose()

    assert ear.heard == []


async def test_a_hook_that_fails_fails_nothing(open_graph: OpenGraph, ear: Ear) -> None:
    """The caller hears nothing of it; on_error does."""

    def broken(_: Any) -> None:
        raise SystemExit

    graph = open_graph(
        ScriptedLLM(), hooks=[Hooks(on_session_archive=broken, on_error=ear), lambda *_: ear.hooks()]
    )
    await graph.open()
    space = graph.space()
    await space.create_session(CreateSession(id="a"))
    await space.archive("a")
    await graph.hooks.aclose()

    assert ear.heard[0] == ArchiveEvent("default", "a")
    assert [(one.hook, type(one.error)) for one in ear.heard[1:]] == [("on_session_archive", SystemExit)]


async def test_closing_the_service_waits_for_its_hooks(open_graph: OpenGraph, ear: Ear) -> None:
    graph = open_graph(ScriptedLLM(), hooks=ear.hooks())
    await graph.open()
    await graph.space().create_session(CreateSession(id="a"))
    await graph.space().archive("a")

    await graph.aclose()

    assert ear.heard == [ArchiveEvent("default", "a")]


async def test_an_application_passes_its_hooks(tmp_path: Any, ear: Ear) -> None:
    """`build` and `create_app` take one Hooks, a function to them, or several of both."""
    graph = build(Settings(store=f"sqlite:///{tmp_path / 'stello.db'}"), llm=ScriptedLLM(), hooks=ear.hooks())
    async with graph:
        await graph.space().create_session(CreateSession(id="a"))
        await graph.space().archive("a")

    assert ear.heard == [ArchiveEvent("default", "a")]


async def test_what_fails_in_the_background_is_told(open_graph: OpenGraph, ear: Ear) -> None:
    """Nobody called it, so on_error is where it is heard of."""
    told = asyncio.Event()

    async def failed(event: ErrorEvent) -> None:
        await ear(event)
        told.set()

    llm = ScriptedLLM(["an answer"], default=ModelRefused("no"))
    graph = open_graph(llm, hooks=Hooks(on_error=failed))
    await graph.open()
    space = graph.space()
    await space.configure(SpaceChanges(consolidate_on=(Trigger.ON_LEAVE,)))
    await space.create_session(CreateSession(id="a"))
    await space.send(Send(session_id="a", content="a question"))
    await space.enter("a", "tab")
    await space.leave("a", "tab")
    await asyncio.wait_for(told.wait(), 10)

    [event, *_] = ear.heard
    assert (event.source, event.space_id, event.session_id, event.hook) == (
        "consolidate",
        "default",
        "a",
        None,
    )
    assert isinstance(event.error, ModelRefused)

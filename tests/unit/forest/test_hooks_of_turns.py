"""In which order hooks hear of a turn with several calls, and what they do not hear of one that fails."""

from typing import Any

import pytest

from stello_graph.errors import ModelUnavailable
from stello_graph.forest.hooks import Hooks
from stello_graph.llm.scripted import ScriptedLLM, Step
from stello_graph.model.requests import CreateSession
from stello_graph.service import SpaceService
from stello_graph.tools import Tool
from tests.unit.forest.conftest import OpenGraph
from tests.unit.forest.test_tools import calls
from tests.unit.forest.test_turns import ask

NAMES = (
    "on_message_received",
    "on_round_start",
    "on_assistant_reply",
    "on_tool_call",
    "on_tool_result",
    "on_round_end",
    "on_error",
)


async def heard_of(open_graph: OpenGraph, script: list[Step], *tools: Tool) -> list[tuple[str, Any]]:
    """The hooks in the order in which they were called, with the call's id or the error's source."""
    heard: list[tuple[str, Any]] = []

    def hook(name: str) -> Any:
        async def hears(event: Any) -> None:
            call = getattr(event, "call", None)
            heard.append((name, call.id if call else getattr(event, "source", None)))

        return hears

    graph = open_graph(ScriptedLLM(script), tools, hooks=Hooks(**{name: hook(name) for name in NAMES}))
    await graph.open()
    space: SpaceService = graph.space()
    await space.create_session(CreateSession(id="s", label="S"))
    await space.send(ask())
    await graph.hooks.aclose()
    return heard


@pytest.mark.covers("HOOK-3")
async def test_several_calls(open_graph: OpenGraph) -> None:
    """Calls in the model's order, before any result; results in that order too, whichever was done first."""

    async def quick() -> str:
        return "quick"

    async def broken() -> str:
        raise RuntimeError("no luck")

    heard = await heard_of(
        open_graph, [calls("broken", "quick", "nobody"), "done"], Tool(quick), Tool(broken)
    )

    ids = ("c0", "c1", "c2")
    assert heard == [
        ("on_message_received", None),
        ("on_round_start", None),
        ("on_assistant_reply", None),
        *(("on_tool_call", id) for id in ids),
        *(("on_tool_result", id) for id in ids),
        ("on_round_end", None),
        ("on_round_start", None),
        ("on_assistant_reply", None),
        ("on_round_end", None),
    ]


@pytest.mark.covers("HOOK-3")
async def test_a_turn_that_fails(open_graph: OpenGraph) -> None:
    """The error, and no reply where there was none."""
    heard = await heard_of(open_graph, [ModelUnavailable("away")] * 3)

    assert ("on_error", "turn") in heard
    assert "on_assistant_reply" not in [name for name, _ in heard]

"""What holds in every round of a turn: compression, and the hooks that hear of it."""

import pytest

from stello_graph.forest.hooks import Hooks
from stello_graph.llm.scripted import ScriptedLLM, Step
from stello_graph.model.context import ContextOrigin, ModelRequest
from stello_graph.model.message import MessageRole
from stello_graph.model.requests import CreateSession, SpaceChanges
from stello_graph.model.turn import TurnStatus
from stello_graph.model.values import Usage
from stello_graph.service import SpaceService
from stello_graph.session.context.tokens import estimate
from stello_graph.session.prompts import COMPRESS_PROMPT
from stello_graph.tools import Tool
from tests.e2e.waiting import until
from tests.unit.forest.conftest import OpenGraph
from tests.unit.forest.test_tools import calls, stored
from tests.unit.forest.test_turns import ask

WINDOW = 4_000
PAGE = "第一页的内容很长。" * 120


async def page() -> str:
    """Turns a page."""
    return PAGE


def summarising(request: ModelRequest) -> bool:
    return request.messages[0].content == COMPRESS_PROMPT


@pytest.mark.covers("W33")
async def test_compressed_in_the_middle_of_a_tool_loop(open_graph: OpenGraph) -> None:
    """Rounds that fill the window compress before the next call; no request is longer than it (W33)."""
    asked: list[ModelRequest] = []
    rounds = iter(range(1_000))

    def answer(request: ModelRequest) -> Step:
        if summarising(request):
            return "到目前为止读了几页。"
        asked.append(request)
        return "读完了。" if next(rounds) == 12 else calls("page")

    graph = open_graph(ScriptedLLM(default=answer, usage=Usage(llm_calls=1)), [Tool(page)])
    await graph.open()
    space: SpaceService = graph.space()
    await space.create_session(CreateSession(id="s", label="读书"))
    await space.configure(SpaceChanges(max_context_tokens=WINDOW, max_output_tokens=500, max_tool_rounds=20))
    turn = await space.send(ask("请读这本书。"))
    assert (turn.status, turn.tool_rounds) == (TurnStatus.COMPLETED, 12)
    assert max(estimate(request.messages, request.tools) for request in asked) <= WINDOW
    session = (await space.store.sessions(["s"]))["s"]
    assert session.compression is not None
    kinds = [message.origin for message in asked[-1].messages]
    assert ContextOrigin.COMPRESSION in kinds
    results = [m for m in await stored(space) if m.role is MessageRole.TOOL]
    assert [m.content for m in results] == [PAGE] * 12, "the transcript itself stays whole"
    first = next(m.seq for m in asked[-1].messages if m.seq is not None)
    assert first == session.compression.through_seq + 1


@pytest.mark.covers("HOOK-3", "HOOK-1")
async def test_hooks_of_a_turn(open_graph: OpenGraph) -> None:
    """Each step of a turn is told, in order, with its ids; a hook that fails hurts nothing (W23)."""
    heard: list[tuple[str, object]] = []

    def note(name: str, field: str) -> object:
        async def hook(event: object) -> None:
            heard.append((name, getattr(event, field)))
            raise RuntimeError("a hook's own trouble")

        return hook

    names = {
        "on_message_received": "message",
        "on_round_start": "round",
        "on_assistant_reply": "message",
        "on_tool_call": "call",
        "on_tool_result": "message",
        "on_round_end": "round",
    }
    errors: list[str] = []
    hooks = Hooks(
        **{name: note(name, field) for name, field in names.items()},  # type: ignore[arg-type]
        on_error=lambda event: errors.append(event.source),
    )
    graph = open_graph(ScriptedLLM([calls("page"), "done"]), [Tool(page)], hooks=hooks)
    await graph.open()
    space: SpaceService = graph.space()
    await space.create_session(CreateSession(id="s", label="S"))
    turn = await space.send(ask("hello"))
    assert turn.status is TurnStatus.COMPLETED
    await until(lambda: len(errors) == 9, "all hooks have run")
    assert [name for name, _ in heard] == [
        "on_message_received",
        "on_round_start",
        "on_assistant_reply",
        "on_tool_call",
        "on_tool_result",
        "on_round_end",
        "on_round_start",
        "on_assistant_reply",
        "on_round_end",
    ]
    assert errors == ["hook"] * 9
    assert [value for name, value in heard if name.startswith("on_round")] == [0, 0, 1, 1]


@pytest.mark.covers("HOOK-3")
async def test_a_failed_turn_is_told(open_graph: OpenGraph) -> None:
    """on_error hears of a model that failed, with the turn's id."""
    failures: list[tuple[str, str | None]] = []
    hooks = Hooks(on_error=lambda event: failures.append((event.source, event.turn_id)))
    graph = open_graph(ScriptedLLM(), hooks=hooks)
    await graph.open()
    space: SpaceService = graph.space()
    await space.create_session(CreateSession(id="s", label="S"))
    turn = await space.send(ask())
    assert turn.status is TurnStatus.FAILED
    await graph.hooks.aclose()
    assert failures == [("turn", turn.id)]

"""Tools inside turns: whatever a tool does, the turn goes on and its transcript is legal."""

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from stello_graph.errors import InvalidInput
from stello_graph.llm.scripted import ScriptedLLM, Step, tool_use
from stello_graph.model.context import ModelRequest, Reply, ReplyStop
from stello_graph.model.message import Message, MessageRole, MessageState, ToolCall
from stello_graph.model.requests import CreateSession, Send, SpaceChanges
from stello_graph.model.turn import StopReason, TurnStatus
from stello_graph.service import SpaceService
from stello_graph.tools import Tool, ToolContext, ToolOutput
from tests.unit.forest.conftest import OpenGraph
from tests.unit.forest.test_turns import ask, collected


class City(BaseModel):
    """A place."""

    name: str
    country: str = "JP"


async def weather(
    city: City, days: Annotated[int, Field(description="How far ahead.", ge=1)] = 1
) -> dict[str, Any]:
    """Tells the weather."""
    return {"city": city.name, "country": city.country, "days": days}


async def with_tools(open_graph: OpenGraph, script: list[Step], *tools: Tool, **more: Any) -> SpaceService:
    graph = open_graph(ScriptedLLM(script, **more), tools)
    await graph.open()
    space = graph.space()
    await space.create_session(CreateSession(id="s", label="S"))
    return space


def model(space: SpaceService) -> ScriptedLLM:
    assert isinstance(space.graph.llm, ScriptedLLM)
    return space.graph.llm


async def stored(space: SpaceService) -> list[Message]:
    return (await space.store.oldest_messages(["s"], after=0, before=10_000, first=1_000, roles=None))["s"]


async def results(space: SpaceService) -> list[Message]:
    return [message for message in await stored(space) if message.role is MessageRole.TOOL]


def calls(*names: str, text: str = "") -> Reply:
    made = tuple(ToolCall(id=f"c{number}", name=name, arguments={}) for number, name in enumerate(names))
    return Reply(text=text, tool_calls=made, stop=ReplyStop.TOOL_USE, model="scripted")


@pytest.mark.covers("TOOL-2", "TURN-2", "W32")
async def test_a_round(open_graph: OpenGraph) -> None:
    """The call's result is stored, the model gets it, and the turn ends with the model's word."""
    script: list[Step] = [
        tool_use("weather", {"city": {"name": "Kyoto"}, "days": 2}, text="I look."),
        "Sunny.",
    ]
    space = await with_tools(open_graph, script, Tool(weather))
    turn = await space.send(ask("Weather?"))
    assert (turn.status, turn.stop_reason, turn.tool_rounds) == (
        TurnStatus.COMPLETED,
        StopReason.END_TURN,
        1,
    )
    said = await stored(space)
    assert [(m.role, m.content) for m in said] == [
        (MessageRole.USER, "Weather?"),
        (MessageRole.ASSISTANT, "I look."),
        (MessageRole.TOOL, '{"city":"Kyoto","country":"JP","days":2}'),
        (MessageRole.ASSISTANT, "Sunny."),
    ]
    assert (said[2].tool_call_id, said[2].tool_name, said[2].is_error) == ("call_1", "weather", False)
    assert said[2].duration_ms is not None
    assert {m.turn_id for m in said} == {turn.id}
    second = model(space).requests[1]
    assert [m.role for m in second.messages] == ["system", "user", "assistant", "tool"]
    assert second.tool_choice == "auto"
    session = (await space.store.sessions(["s"]))["s"]
    assert (session.turn_count, session.message_count) == (1, 4)
    assert turn.usage.llm_calls == session.usage.llm_calls == 2


@pytest.mark.covers("TOOL-8")
async def test_the_schema(open_graph: OpenGraph) -> None:
    """Types become the JSON schema that the model sees; the docstring the description."""
    space = await with_tools(open_graph, ["hi"], Tool(weather, annotations={"readOnlyHint": True}))
    await space.send(ask())
    spec = next(tool for tool in model(space).requests[0].tools if tool.name == "weather")
    assert spec.description == "Tells the weather."
    assert spec.annotations == {"readOnlyHint": True}
    assert spec.input_schema["required"] == ["city"]
    assert spec.input_schema["additionalProperties"] is False
    days = spec.input_schema["properties"]["days"]
    assert days == {"default": 1, "description": "How far ahead.", "minimum": 1, "type": "integer"}
    assert spec in space.tools


@pytest.mark.covers("TOOL-3")
async def test_tools_run_side_by_side_and_answer_in_order(open_graph: OpenGraph) -> None:
    """All calls of a round run at once; results are stored in the model's order; a failure hurts no other."""
    gate = asyncio.Event()

    async def slow() -> str:
        await gate.wait()
        return "slow"

    async def quick() -> str:
        gate.set()
        return "quick"

    async def broken() -> str:
        raise RuntimeError("no luck")

    space = await with_tools(
        open_graph, [calls("slow", "broken", "quick"), "done"], Tool(slow), Tool(quick), Tool(broken)
    )
    assert (await space.send(ask())).status is TurnStatus.COMPLETED
    assert [(m.content, m.is_error) for m in await results(space)] == [
        ("slow", False),
        ("The tool broken failed: no luck", True),
        ("quick", False),
    ]


def nothing() -> None:
    """Gives nothing."""


def text() -> str:
    return "in a thread"


async def broken_text() -> str:
    return "half \ud800 and \x00 nul"


async def raw() -> bytes:
    return b"\x00"


async def huge() -> str:
    return "x" * (10 * 1024 * 1024)


async def opaque() -> object:
    return object()


async def leaves() -> str:
    raise SystemExit(3)


async def cancels_itself() -> str:
    raise asyncio.CancelledError


async def stubborn() -> str:
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(3600)
    await asyncio.sleep(0.5)
    return "too late"


async def image() -> ToolOutput:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    return ToolOutput(content="A picture.", parts=[{"type": "image", "source": source}])


@pytest.mark.covers("TOOL-6")
@pytest.mark.parametrize(
    ("function", "content", "is_error"),
    [
        (nothing, "", False),
        (text, "in a thread", False),
        (broken_text, "half � and  nul", False),
        (raw, "The tool raw returned bytes; a tool returns text, JSON or a ToolOutput.", True),
        (huge, "The tool huge returned 10485760 bytes; 1048576 are allowed.", True),
        (opaque, "The tool opaque returned what JSON cannot hold", True),
        (leaves, "The tool leaves failed: 3", True),
        (cancels_itself, "The tool cancels_itself was cancelled.", True),
        (image, "A picture.", False),
    ],
)
async def test_whatever_a_tool_gives(
    open_graph: OpenGraph, function: Callable[..., Any], content: str, is_error: bool
) -> None:
    """Each way to answer, or not to, becomes one result; the turn goes on."""
    space = await with_tools(open_graph, [calls(function.__name__), "done"], Tool(function))
    assert (await space.send(ask())).status is TurnStatus.COMPLETED
    (result,) = await results(space)
    assert result.content.startswith(content)
    assert result.is_error is is_error
    assert (await space.send(ask("again"))).status is TurnStatus.FAILED, "only the script is over"


async def test_a_tool_that_never_returns(open_graph: OpenGraph) -> None:
    """It is left behind after its time, even where it does not let itself be cancelled."""
    space = await with_tools(open_graph, [calls("stubborn"), "done"], Tool(stubborn))
    space.graph.toolbox._seconds = 0.05
    assert (await space.send(ask())).status is TurnStatus.COMPLETED
    (result,) = await results(space)
    assert (result.content, result.is_error) == ("The tool stubborn did not answer within 0.05 s.", True)


@pytest.mark.covers("TOOL-4")
@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("fly", {}, "Unknown tool fly. Known tools: "),
        ("weather", {}, "Invalid arguments. city: Field required"),
        ("weather", {"city": {"name": "K"}, "days": 0}, "days: Input should be greater than or equal to 1"),
        ("weather", {"city": {"name": "K"}, "when": "now"}, "when: Extra inputs are not permitted"),
        ("weather", [1], "Invalid arguments. all: "),
        ("weather", None, "Invalid arguments. city: Field required"),
    ],
)
async def test_bad_calls_are_error_results(
    open_graph: OpenGraph, name: str, arguments: Any, told: str
) -> None:
    """An unknown tool and arguments that do not fit tell the model what is wrong."""
    space = await with_tools(open_graph, [tool_use(name, arguments), "done"], Tool(weather))
    assert (await space.send(ask())).status is TurnStatus.COMPLETED
    (result,) = await results(space)
    assert told in result.content
    assert result.is_error


@pytest.mark.covers("TOOL-5", "W18")
async def test_the_limit_of_rounds(open_graph: OpenGraph) -> None:
    """After the last round one call concludes, with the tools and tool choice none (W18)."""
    space = await with_tools(open_graph, [calls("nothing")] * 5 + ["That is all."], Tool(nothing))
    turn = await space.send(ask())
    assert (turn.status, turn.stop_reason, turn.tool_rounds) == (
        TurnStatus.COMPLETED,
        StopReason.MAX_TOOL_ROUNDS,
        5,
    )
    requests = model(space).requests
    assert [request.tool_choice for request in requests] == ["auto"] * 5 + ["none"]
    assert requests[5].tools == requests[0].tools
    assert (await stored(space))[-1].content == "That is all."


@pytest.mark.covers("TOOL-5", "W16")
@pytest.mark.parametrize(("asked", "configured", "rounds"), [(1, 5, 1), (None, 2, 2), (0, 5, 0)])
async def test_the_limit_is_the_callers_or_the_spaces(
    open_graph: OpenGraph, asked: int | None, configured: int, rounds: int
) -> None:
    """maxToolRounds of send counts before that of the Space; a model that calls on is answered legally."""
    space = await with_tools(open_graph, [], Tool(nothing), default=calls("nothing", text="More."))
    await space.configure(SpaceChanges(max_tool_rounds=configured))
    turn = await space.send(ask(max_tool_rounds=asked))
    assert (turn.status, turn.tool_rounds) == (TurnStatus.COMPLETED, rounds)
    assert len(model(space).requests) == rounds + 1
    last = (await stored(space))[-1]
    assert (last.state, last.content) == (
        MessageState.CANCELLED,
        "Cancelled: no more tools run in this turn.",
    )
    ids = [m.tool_call_id for m in await results(space)]
    assert len(set(ids)) == rounds + 1, "ids that the model uses again are made unique (W16)"


@pytest.mark.covers("TC15", "W15")
async def test_cut_inside_a_call(open_graph: OpenGraph) -> None:
    """max_tokens inside a call: nothing runs, the model hears why, and may try once more (TC15, W15)."""
    ran = []

    async def act() -> str:
        ran.append(1)
        return "acted"

    cut = calls("act", "act", text="I will").model_copy(update={"stop": ReplyStop.MAX_TOKENS})
    space = await with_tools(open_graph, [cut, calls("act"), cut, "done"], Tool(act))
    turn = await space.send(ask())
    assert (turn.status, turn.tool_rounds, len(ran)) == (TurnStatus.COMPLETED, 3, 1)
    said = await stored(space)
    assert said[1].state is MessageState.TRUNCATED
    assert [m.state for m in said[2:4]] == [MessageState.CANCELLED] * 2
    assert "cut off inside its tool calls" in said[2].content
    space.graph.llm.script.extend([cut, cut])  # type: ignore[attr-defined]
    turn = await space.send(ask())
    assert (turn.status, turn.stop_reason) == (TurnStatus.COMPLETED, StopReason.MAX_TOKENS)
    assert len(ran) == 1


@pytest.mark.covers("TC13", "TOOL-7")
async def test_cancelled_while_tools_run(open_graph: OpenGraph) -> None:
    """Finished results are kept, the others are CANCELLED; tools get the signal (TC13)."""
    started = asyncio.Event()
    seen = []

    async def waits(context: ToolContext) -> str:
        started.set()
        await context.cancelled.wait()
        seen.append(context.session_id)
        return "saw it"

    async def hangs() -> str:
        await asyncio.sleep(3600)
        return ""

    space = await with_tools(
        open_graph, [calls("nothing", "hangs", "waits")], Tool(nothing), Tool(hangs), Tool(waits)
    )
    turn = await space.start_turn(ask())
    await started.wait()
    cancelled = await space.cancel_turn(turn.id)
    assert (cancelled.status, cancelled.stop_reason) == (TurnStatus.CANCELLED, StopReason.CANCELLED)
    assert seen == ["s"]
    assert [(m.content, m.state) for m in await results(space)] == [
        ("", MessageState.COMPLETE),
        ("Cancelled: the turn was cancelled.", MessageState.CANCELLED),
        ("saw it", MessageState.COMPLETE),
    ]


async def test_a_failure_after_tools(open_graph: OpenGraph) -> None:
    """A model that fails in a later round leaves the rounds before, and what it had said."""
    space = await with_tools(open_graph, [calls("nothing"), ["Well", ValueError("?")]], Tool(nothing))
    turn = await space.send(ask())
    assert turn.status is TurnStatus.FAILED
    assert [m.content for m in await stored(space)] == ["hi", "", "", "Well"]
    assert turn.usage.llm_calls == 2


@pytest.mark.covers("W1")
async def test_a_tool_cannot_send_to_its_own_session(open_graph: OpenGraph) -> None:
    """It would wait for itself for ever; other sessions it may send to, and fork its own (W1)."""

    async def sends(context: ToolContext, to: str) -> str:
        return (await context.space.send(Send(session_id=to, content="from a tool"))).status

    def answer(request: ModelRequest) -> Step:
        last = request.messages[-1]
        if last.role == "tool" or last.content == "from a tool":
            return "ok"
        return tool_use("sends", {"to": last.content})

    space = await with_tools(open_graph, [], Tool(sends), default=answer)
    await space.create_session(CreateSession(id="other"))
    await space.send(ask("other"))
    await space.send(ask("s"))
    first, second = await results(space)
    assert first.content == "COMPLETED"
    assert second.is_error
    assert "waits for the tool" in second.content


@pytest.mark.covers("W1")
async def test_the_model_forks(open_graph: OpenGraph) -> None:
    """stello_create_session forks the running session without waiting for its turn (W1)."""
    arguments = {"label": "Side topic", "context": "inherit", "prompt": "Let us begin."}
    space = await with_tools(open_graph, [tool_use("stello_create_session", arguments), "done"])
    await space.configure(SpaceChanges(split_guard={"for_tools": False}))
    turn = await asyncio.wait_for(space.send(ask()), 10)
    assert turn.status is TurnStatus.COMPLETED
    (result,) = await results(space)
    made = json.loads(result.content)
    assert made["label"] == "Side topic"
    child = (await space.store.nodes([made["sessionId"]]))[made["sessionId"]]
    assert (child.parent_id, child.source_seq) == ("s", 1)
    page = await space.store.oldest_messages([child.id], after=0, before=100, first=100, roles=None)
    assert [m.content for m in page[child.id]] == ["hi", "Let us begin."]


async def test_a_plain_function_does_not_block(open_graph: OpenGraph) -> None:
    """It runs in a thread: other turns go on."""

    began, over = threading.Event(), threading.Event()

    def blocks() -> str:
        began.set()
        assert over.wait(60)
        return "no longer"

    space = await with_tools(open_graph, [calls("blocks"), "quick", "done"], Tool(blocks))
    await space.create_session(CreateSession(id="other"))
    turn = await space.start_turn(ask())
    await asyncio.to_thread(began.wait, 60)
    await space.send(Send(session_id="other", content="x"))
    over.set()
    assert (await space.graph.turns.ended(space.store, turn)).status is TurnStatus.COMPLETED


async def untyped(city) -> str:  # type: ignore[no-untyped-def]
    return str(city)


async def starred(*cities: str) -> str:
    return str(cities)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Tool(untyped), "needs a type for its parameter city"),
        (lambda: Tool(starred), "takes only named parameters"),
        (lambda: Tool(nothing, name="bad name"), 'cannot be named "bad name"'),
        (lambda: Tool(lambda: None), 'cannot be named "<lambda>"'),
    ],
)
def test_what_is_no_tool(make: Callable[[], Tool], told: str) -> None:
    """Said at once, when the tool is made."""
    with pytest.raises(InvalidInput, match=told):
        make()


def test_two_tools_of_one_name(open_graph: OpenGraph) -> None:
    """Refused when the service is put together."""
    with pytest.raises(InvalidInput, match='two tools named "nothing"'):
        open_graph(ScriptedLLM(), [Tool(nothing), Tool(text, name="nothing")])


async def test_names_that_pydantic_uses(open_graph: OpenGraph) -> None:
    """Parameters may have any name."""

    async def odd(json: str, copy: int = 2, model_config: str = "x") -> str:
        return f"{json}{copy}{model_config}"

    space = await with_tools(open_graph, [tool_use("odd", {"json": "a", "copy": 1}), "done"], Tool(odd))
    await space.send(ask())
    assert [m.content for m in await results(space)] == ["a1x"]


@pytest.mark.covers("W30")
async def test_events_live_and_again(open_graph: OpenGraph) -> None:
    """A follower hears of rounds, calls and results in one order, live as in a replay."""
    script: list[Step] = [calls("nothing", "raw", text="Two."), "Done."]
    space = await with_tools(open_graph, script, Tool(nothing), Tool(raw))
    turn = await space.start_turn(ask())
    heard = await collected(space.turn_events(turn.id))
    again = await collected(space.turn_events(turn.id))
    kinds = [type(event).__name__ for event in heard]
    assert kinds == [
        "TurnStarted",
        "MessageStored",
        "TextDelta",
        "MessageStored",
        "ToolCallStarted",
        "ToolCallStarted",
        "ToolCallFinished",
        "ToolCallFinished",
        "MessageStored",
        "MessageStored",
        "TextDelta",
        "MessageStored",
        "TurnEnded",
    ]
    assert [(event.seq, type(event)) for event in heard] == [(event.seq, type(event)) for event in again]
    assert [getattr(event, "round", None) for event in heard][4:8] == [0, 0, 0, 0]

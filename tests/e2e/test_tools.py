"""Tools in turns: with the strict model, over GraphQL, and with servers that are killed."""

from typing import Any, Final

import pytest

from tests.e2e import documents
from tests.e2e.client import Follower
from tests.e2e.conftest import OpenStore, Serve
from tests.e2e.machine import PIXEL
from tests.e2e.test_crash import SETTINGS, ended
from tests.e2e.test_turns import check_numbers, kinds
from tests.e2e.waiting import until
from tests.model_server import Answer, ModelServer, say, think, use

pytestmark = pytest.mark.parametrize("engine", ["sqlite", "neo4j"], indirect=True)

TOOLS: Final = ("--tools", "tests.e2e.machine")
THOUGHT: Final = think("Let me see… 家族 ", "EqQBCgIYAhIM+/sig==")


def blocks(body: Any, at: int) -> list[dict[str, Any]]:
    """The content of a message of a request, without what only marks caches."""
    content = body["messages"][at]["content"]
    return [{name: value for name, value in block.items() if name != "cache_control"} for block in content]


async def test_a_loop_with_thoughts_and_pictures(
    engine: str,
    serve: Serve,
    open_store: OpenStore,
    model_server: ModelServer,
    model_settings: dict[str, str],
    name: str,
) -> None:
    """Thoughts come back byte for byte inside the loop and not after it; a picture, an error are results."""
    model_server.script(
        Answer([THOUGHT, say("I look."), use("picture", id="a"), use("fails", id="b")]),
        Answer([say("And once more."), use("picture", {"size": "as large as can be"}, id="d")], cut_json=9),
        "Done.",
        Answer([say("Half "), say("a word.")], chunk=4, error=("overloaded_error", "Overloaded"), fail_at=2),
    )
    server = serve(open_store(engine), *TOOLS, settings=model_settings)
    async with server.client() as client:
        await client.create(name)
        turn = await client.start(name, "Show me")
        events = await client.events(turn["id"])
        failed = await client.send(name, "Again")
        last = await client.send(name, "And now?")

    check_numbers(events)
    assert kinds(events) == [
        *("TurnStarted", "MessageStored", "TextDelta", "MessageStored"),
        *["ToolCallStarted"] * 2,
        *["ToolCallFinished"] * 2,
        *["MessageStored"] * 2,
        *("TextDelta", "MessageStored", "ToolCallFinished", "MessageStored"),
        *("TextDelta", "MessageStored", "TurnEnded"),
    ]
    assert (failed["status"], failed["error"]["code"]) == ("FAILED", "LLM_UNAVAILABLE")
    assert last["status"] == "COMPLETED"
    assert model_server.refused == []
    second, third, fourth, *_ = model_server.requests[1:]
    assert blocks(second, -2)[:2] == [THOUGHT, say("I look.")]
    assert blocks(third, 1)[0] == THOUGHT
    seen, broken = blocks(second, -1)
    assert [block.get("is_error", False) for block in (seen, broken)] == [False, True]
    assert seen["content"][1]["source"]["data"] == PIXEL
    assert "out of order" in str(broken["content"])
    assert "thinking" not in [block["type"] for block in blocks(fourth, 1)]


async def test_killed_while_it_waits_and_while_it_runs(
    engine: str,
    serve: Serve,
    open_store: OpenStore,
    model_server: ModelServer,
    model_settings: dict[str, str],
    name: str,
) -> None:
    """A turn that waits goes on elsewhere, by another model without thoughts; one that ran is closed."""
    waiting, running = f"{name}-waits", f"{name}-runs"
    store, settings = open_store(engine), {**model_settings, **SETTINGS}
    doomed = serve(store, *TOOLS, settings=settings, ready=False)
    other = serve(store, *TOOLS, settings=settings, ready=False)
    doomed.wait_ready()
    other.wait_ready()
    async with doomed.client() as here, other.client() as there:
        await here.create(waiting)
        await here.create(running)
        model_server.script(Answer([THOUGHT, say("May I?"), use("erase", id="a"), use("picture", id="b")]))
        asked = await here.send(waiting, "Erase it")
        assert asked["status"] == "AWAITING_CONFIRMATION"
        model_server.script(Answer([say("I try."), use("stuck", id="a"), use("picture", id="b")]))
        stuck = await here.start(running, "Hang")
        async with Follower(there, stuck["id"]) as follower, Follower(there, asked["id"]) as patient:
            await until(lambda: "ToolCallStarted" in kinds(follower.events), "the tools run")
            await until(lambda: "ConfirmationRequested" in kinds(patient.events), "a call waits")
            doomed.kill()

            model_server.script("Erased.")
            changes = {"overrides": {"model": "claude-haiku-4-5"}}
            await there.ask(documents.UPDATE, id=waiting, input=changes)
            await there.ask(documents.CONFIRM, id=asked["id"], call="a", approve=True)
            heard = await patient.ended()
            closed = await ended(there, stuck["id"])
            await follower.ended()

        check_numbers(heard)
        assert kinds(heard)[3:] == [
            *("MessageStored", "ToolCallStarted", "ConfirmationRequested", "ToolCallFinished"),
            *("ToolCallStarted", "ToolCallFinished", "MessageStored", "MessageStored"),
            *("TextDelta", "MessageStored", "TurnEnded"),
        ]
        assert heard[-1]["turn"]["status"] == "COMPLETED"
        went_on = model_server.requests[-1]
        assert went_on["model"] == "claude-haiku-4-5"
        assert [block["type"] for block in blocks(went_on, -2)] == ["text", "tool_use", "tool_use"]
        assert [block["tool_use_id"] for block in blocks(went_on, -1)] == ["a", "b"]

        assert (closed["status"], closed["stopReason"]) == ("FAILED", "INTERRUPTED")
        roles = [(message["role"], message["state"]) for message in closed["messages"]]
        assert roles == [("USER", "COMPLETE"), ("ASSISTANT", "COMPLETE"), *[("TOOL", "CANCELLED")] * 2]
        for id in (waiting, running):
            assert (await there.send(id, "Go on"))["status"] == "COMPLETED"
    assert model_server.refused == []

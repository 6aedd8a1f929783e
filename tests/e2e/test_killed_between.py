"""kill -9 exactly between two transactions of a tool round."""

import threading
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e import documents
from tests.e2e.conftest import OpenStore, Serve
from tests.e2e.replies import by_question
from tests.e2e.test_crash import ended
from tests.e2e.test_tools import blocks
from tests.e2e.waiting import until
from tests.model_server import Answer, ModelServer, say, think, use

pytestmark = pytest.mark.parametrize("engine", ["sqlite", "neo4j"], indirect=True)

THOUGHT: Final = think("Which file? 家族", "EqQBCgIYAhIM+/sig==")
MODULE: Final = '''
"""Tools that wait until a file is there."""

import asyncio
from pathlib import Path

from stello_graph import Tool

FOLDER = Path(__file__).parent


async def wait(file: str) -> str:
    """Waits for a file, and says that it runs."""
    (FOLDER / f"{file}.runs").touch()
    while not (FOLDER / file).exists():
        await asyncio.sleep(0.01)
    return f"{file} came"


def now() -> str:
    """Answers at once."""
    return "at once"


TOOLS = [Tool(wait), Tool(now)]
waits, answers = TOOLS
'''


async def test_between_the_transactions_of_a_round(
    engine: str,
    serve: Serve,
    open_store: OpenStore,
    model_server: ModelServer,
    model_settings: dict[str, str],
    name: str,
    tmp_path: Path,
) -> None:
    """Killed after the reply, its calls are CANCELLED; killed after the results, they are kept as they came.

    What is stored is read as it stands while nobody runs the turns. Then each goes on, and the strict model
    takes the whole request, each call with one result.
    """
    module = f"waiting_{name.replace('-', '_')}"
    (tmp_path / f"{module}.py").write_text(MODULE, encoding="utf-8")
    in_tools, before_call = f"{name}-tools", f"{name}-call"
    gate = threading.Event()
    silent = Answer([say("Never heard.")], gate=gate)
    model_server.respond = by_question(
        {
            "Never": Answer([THOUGHT, use("wait", {"file": "never"}, id="a"), use("now", id="b")]),
            "There": Answer([THOUGHT, use("wait", {"file": "there"}, id="a"), use("now", id="b")]),
        }
    )
    settings = {**model_settings, "PYTHONPATH": str(tmp_path)}
    store = open_store(engine)
    doomed = serve(store, "--tools", module, settings={**settings, "STELLO_LEASE_SECONDS": "8"})
    async with doomed.client() as client:
        for session in (in_tools, before_call):
            await client.create(session)
        await client.ask(documents.INSIGHT, id=in_tools, content="Remember the tea")
        cut = await client.start(in_tools, "Never")
        await until((tmp_path / "never.runs").exists, "the tool runs")
        kept = await client.start(before_call, "There")
        await until((tmp_path / "there.runs").exists, "the tool runs")
        model_server.respond = lambda _: silent
        (tmp_path / "there").touch()
        await until(silent.reached.is_set, "the model is asked again")
        stored = [[shape(one) for one in await client.transcript(id)] for id in (in_tools, before_call)]
        doomed.kill()
    gate.set()

    results = [("TOOL", "COMPLETE", "there came"), ("TOOL", "COMPLETE", "at once")]
    reply = ("ASSISTANT", "COMPLETE", "")
    assert stored == [
        [("USER", "COMPLETE", "Never"), reply],
        [("USER", "COMPLETE", "There"), reply, *results],
    ]
    model_server.respond = lambda _: "Well."
    async with serve(store, "--tools", module, settings=settings).client() as client:
        for turn in (cut, kept):
            closed = await ended(client, turn["id"])
            assert (closed["status"], closed["stopReason"]) == ("FAILED", "INTERRUPTED")
        asked_before = len(model_server.requests)
        for session in (in_tools, before_call):
            went_on = await client.send(session, "Go on")
            assert went_on["status"] == "COMPLETED", (went_on["error"], model_server.refused)
        after_cut, after_kept = model_server.requests[asked_before:]
        transcripts = [[shape(one) for one in await client.transcript(id)] for id in (in_tools, before_call)]
        seqs = [[one["seq"] for one in await client.transcript(id)] for id in (in_tools, before_call)]
    assert model_server.refused == []
    assert [[state for _, state, _ in lines[2:4]] for lines in transcripts] == [
        ["CANCELLED"] * 2,
        ["COMPLETE"] * 2,
    ]
    assert transcripts[1][2:4] == results
    assert seqs == [[1, 2, 3, 4, 5, 6]] * 2
    assert answered(after_cut) == {"a": True, "b": True}
    assert answered(after_kept) == {"a": False, "b": False}
    assert "Remember the tea" in str(after_cut["system"])


def shape(message: Any) -> tuple[str, str, str]:
    """What is stored of a message."""
    return message["role"], message["state"], message["content"]


def answered(body: Any) -> dict[str, bool]:
    """By call, whether its result in a request is an error; each has one."""
    results = [block for block in blocks(body, 2) if block["type"] == "tool_result"]
    assert len(results) == 2
    return {block["tool_use_id"]: block.get("is_error", False) for block in results}

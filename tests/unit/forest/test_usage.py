"""What the model says that it took, is what turns, sessions and the Space say."""

from functools import reduce
from operator import add

import pytest

from stello_graph.errors import ModelRefused, ModelUnavailable
from stello_graph.llm.scripted import Pause, ScriptedLLM, Step, tool_use
from stello_graph.model.context import Reply, ReplyStop
from stello_graph.model.requests import CreateSession, Send
from stello_graph.model.values import Usage
from stello_graph.tools import Tool
from tests.unit.forest.conftest import OpenGraph


def took(tokens: int) -> Usage:
    return Usage(
        input_tokens=tokens,
        output_tokens=tokens + 1,
        cache_read_tokens=tokens + 2,
        cache_write_tokens=tokens + 3,
        llm_calls=1,
    )


def reply(text: str, tokens: int, stop: ReplyStop = ReplyStop.END_TURN) -> Reply:
    return Reply(text=text, stop=stop, usage=took(tokens), model="scripted")


@pytest.mark.covers("W32")
async def test_the_sums_agree(open_graph: OpenGraph) -> None:
    """Completed, cut, refused without a word, failed before and after text, cancelled; then a digest."""
    pause = Pause()
    steps: list[Step] = [
        reply("whole", 10),
        reply("cut", 20, ReplyStop.MAX_TOKENS),
        reply("", 30, ReplyStop.REFUSAL),
        ModelRefused("no"),
        ["some", ModelUnavailable("broke off")],
        ["said", pause],
        reply("a digest", 40),
    ]
    graph = open_graph(ScriptedLLM(steps))
    await graph.open()
    space = graph.space()
    await space.create_session(CreateSession(id="s"))
    for _ in range(5):
        await space.send(Send(session_id="s", content="hello"))
    turn = await space.start_turn(Send(session_id="s", content="hello"))
    await pause.reached.wait()
    await space.cancel_turn(turn.id)
    async for _ in space.turn_events(turn.id):
        pass
    await space.consolidate("s")

    turns = (await space.store.turns_of(["s"], before=1000, first=100))["s"]
    broken = Usage(llm_calls=1)
    assert [one.usage for one in turns] == [took(10), took(20), took(30), Usage(), broken, broken]
    session = (await space.store.sessions(["s"]))["s"]
    assert session.usage == reduce(add, [one.usage for one in turns], took(40))
    assert session.usage == (await space.store.space()).usage
    page = await space.store.oldest_messages(["s"], after=0, before=1000, first=100, roles=None)
    written = [message.usage for message in page["s"] if message.usage is not None]
    assert written == [took(10), took(20)]


async def test_the_rounds_of_a_turn_add_up(open_graph: OpenGraph) -> None:
    """A turn with tools has what all its calls took, each message what its own took; nothing counts twice."""

    async def look(what: str) -> str:
        """Looks."""
        return what

    rounds = [tool_use("look", {"what": "a"}), tool_use("look", {"what": "b"})]
    steps: list[Step] = [
        rounds[0].model_copy(update={"usage": took(1)}),
        rounds[1].model_copy(update={"usage": took(20)}),
        reply("done", 300),
        rounds[0].model_copy(update={"usage": took(4000)}),
        ModelRefused("no"),
    ]
    graph = open_graph(ScriptedLLM(steps), [Tool(look)])
    await graph.open()
    space = graph.space()
    await space.create_session(CreateSession(id="s"))

    done = await space.send(Send(session_id="s", content="look"))
    failed = await space.send(Send(session_id="s", content="again"))

    assert (done.usage, failed.usage) == (took(1) + took(20) + took(300), took(4000))
    page = await space.store.oldest_messages(["s"], after=0, before=1000, first=100, roles=None)
    written = [message.usage for message in page["s"] if message.usage is not None]
    assert written == [took(1), took(20), took(300), took(4000)]
    session = (await space.store.sessions(["s"]))["s"]
    assert session.usage == done.usage + failed.usage == (await space.store.space()).usage

"""Forks: the layers of what they take, the context by summary, profiles, the guard."""

import asyncio
from typing import Any

import pytest

from stello_graph.errors import (
    Conflict,
    ForkRefused,
    InvalidInput,
    LimitExceeded,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    NotFound,
    SessionArchived,
)
from stello_graph.llm.scripted import Pause, ScriptedLLM
from stello_graph.model.message import MessageRole
from stello_graph.model.profile import ForkProfile
from stello_graph.model.requests import AppendedMessage, CreateSession, Fork, Send, SpaceChanges
from stello_graph.model.session import Session
from stello_graph.model.values import ForkContext, PromptMode, SessionRole, TopologyStrategy, Usage
from stello_graph.service import SpaceService
from tests.unit.forest.conftest import OpenGraph

COMPRESS, INHERIT, NONE = ForkContext.COMPRESS, ForkContext.INHERIT, ForkContext.NONE
GUARD = {"for_tools": True, "for_api": True, "min_turns": 2, "cooldown_turns": 3}


async def opened(open_graph: OpenGraph, llm: ScriptedLLM | None = None, **source: Any) -> SpaceService:
    """A Space with the session "s", and "empty" beside it."""
    graph = open_graph(llm or ScriptedLLM())
    await graph.open()
    space = graph.space()
    await space.create_session(CreateSession(**{"id": "s", "label": "S", **source}))
    await space.create_session(CreateSession(id="empty"))
    return space


async def talked(space: SpaceService, id: str = "s", count: int = 4, text: str = "message") -> None:
    roles = (MessageRole.USER, MessageRole.ASSISTANT)
    said = [AppendedMessage(role=roles[n % 2], content=f"{text} {n + 1}") for n in range(count)]
    await space.append(id, said)


async def forked(space: SpaceService, source: str = "s", **asked: Any) -> Session:
    return await space.fork(Fork(**{"source_session_id": source, "label": "F", **asked}))


async def sessions(space: SpaceService) -> int:
    return (await space.store.space()).session_count


# --- layers


@pytest.mark.covers("FORK-4", "FORK-6")
async def test_layers_without_a_profile(open_graph: OpenGraph) -> None:
    """What is not given is the source's, and the Space's where that has none; unset never overrides."""
    space = await opened(open_graph, system_prompt="of the source", skills=("a",))
    plain = await forked(space)
    assert (plain.system_prompt, plain.skills) == ("of the source", ("a",))
    assert (await forked(space, system_prompt="own")).system_prompt == "own"
    assert (await forked(space, skills=None)).skills is None
    assert (await forked(space, skills=())).skills == ()
    assert (await forked(space, "empty")).system_prompt is None, "the Space's, when it is compiled"


@pytest.mark.covers("FORK-6")
@pytest.mark.parametrize(
    ("mode", "asked_mode", "own", "prompt"),
    [
        (PromptMode.PREPEND, None, "own", "profile\n\nown"),
        (PromptMode.APPEND, None, "own", "own\n\nprofile"),
        (PromptMode.PRESET, None, "own", "profile"),
        (PromptMode.PREPEND, PromptMode.APPEND, "own", "own\n\nprofile"),
        (PromptMode.PREPEND, None, None, "profile"),
        (PromptMode.APPEND, None, None, "profile"),
    ],
)
async def test_prompt_modes(
    open_graph: OpenGraph, mode: PromptMode, asked_mode: PromptMode | None, own: str | None, prompt: str
) -> None:
    """The profile's prompt and the fork's own go together by the mode, which the fork may name itself."""
    space = await opened(open_graph, system_prompt="of the source")
    await space.put_profile(ForkProfile(name="p", system_prompt="profile", system_prompt_mode=mode))
    made = await forked(space, profile="p", system_prompt=own, system_prompt_mode=asked_mode)
    assert made.system_prompt == prompt


@pytest.mark.covers("FORK-6")
async def test_a_profile_without_a_prompt(open_graph: OpenGraph) -> None:
    """The fork's own prompt stands alone, also by PRESET; without both the source's does."""
    space = await opened(open_graph, system_prompt="of the source")
    await space.put_profile(ForkProfile(name="p", system_prompt_mode=PromptMode.PRESET))
    await space.put_profile(ForkProfile(name="blank", system_prompt="${x}"))
    assert (await forked(space, profile="p", system_prompt="own")).system_prompt == "own"
    assert (await forked(space, profile="p")).system_prompt == "of the source"
    assert (await forked(space, profile="blank", vars={"x": " "})).system_prompt == "of the source"


@pytest.mark.covers("FORK-4", "FORK-5")
async def test_what_a_profile_sets(open_graph: OpenGraph) -> None:
    """Skills, context and opening words of a profile hold unless the fork says otherwise."""
    space = await opened(open_graph, skills=("a",))
    await talked(space)
    profile = ForkProfile(name="p", skills=("b",), context=INHERIT, prompt="Hello ${name}.")
    await space.put_profile(profile)
    made = await forked(space, profile="p", vars={"name": "星"})
    words = (await space.store.whole_conversation(made.id)).transcript
    assert made.skills == ("b",)
    assert [m.content for m in words][-2:] == ["message 4", "Hello 星."]
    own = await forked(space, profile="p", skills=None, context=NONE, prompt="Own.", vars={"name": 1})
    assert own.skills is None
    assert [m.content for m in (await space.store.whole_conversation(own.id)).transcript] == ["Own."]
    await space.put_profile(ForkProfile(name="p", skills=()))
    assert (await forked(space, profile="p")).skills == ()
    await space.put_profile(ForkProfile(name="p"))
    assert (await forked(space, profile="p")).skills == ("a",)


@pytest.mark.covers("FORK-7")
async def test_templates(open_graph: OpenGraph) -> None:
    """Variables are strings, numbers and booleans; `$$` is a dollar; more than are used may be given."""
    space = await opened(open_graph)
    await space.put_profile(ForkProfile(name="p", system_prompt="$a ${b}c $$5 ${d} ${e}"))
    vars = {"a": "你好", "b": 2, "d": True, "e": 1.5, "more": "x"}
    assert (await forked(space, profile="p", vars=vars)).system_prompt == "你好 2c $5 true 1.5"


@pytest.mark.parametrize(
    ("vars", "named"),
    [({}, "name"), (None, "name"), ({"name": None}, "name"), ({"name": ["x"]}, "name"), (["x"], "object")],
)
async def test_variables_that_do_not_fit(open_graph: OpenGraph, vars: Any, named: str) -> None:
    """A variable that is missing or no scalar is named, and nothing is written."""
    space = await opened(open_graph)
    await space.put_profile(ForkProfile(name="p", system_prompt="Hello ${name}"))
    with pytest.raises(InvalidInput, match=named):
        await forked(space, profile="p", vars=vars)
    assert await sessions(space) == 2


@pytest.mark.parametrize("field", ["system_prompt", "prompt"])
@pytest.mark.parametrize("text", ["a $ sign", "${", "${a b}", "${名}"])
async def test_malformed_templates(open_graph: OpenGraph, field: str, text: str) -> None:
    """A template that can never be filled is refused when the profile is put."""
    space = await opened(open_graph)
    with pytest.raises(InvalidInput, match="template"):
        await space.put_profile(ForkProfile.model_validate({"name": "p", field: text}))
    assert await space.store.profiles() == []


@pytest.mark.covers("FORK-7")
async def test_profiles(open_graph: OpenGraph) -> None:
    """One of the same name is replaced whole and keeps its place; deleting says whether there was one."""
    space = await opened(open_graph)
    for name in ("b", "研究 员", "a"):
        await space.put_profile(ForkProfile(name=name, system_prompt="x", skills=("s", "s")))
    replaced = await space.put_profile(ForkProfile(name="b", prompt="Hi"))
    assert replaced == ForkProfile(name="b", prompt="Hi")
    assert [profile.name for profile in await space.store.profiles()] == ["b", "研究 员", "a"]
    assert (await space.store.profiles())[2].skills == ("s",)
    assert await space.delete_profile("b")
    assert not await space.delete_profile("b")
    for name in ("", " ", "x" * 201, "a\nb"):
        with pytest.raises(InvalidInput):
            await space.put_profile(ForkProfile(name=name))
    with pytest.raises(LimitExceeded):
        await space.put_profile(ForkProfile(name="long", system_prompt="x" * 2**21))


@pytest.mark.covers("FORK-12")
async def test_an_unknown_profile(open_graph: OpenGraph) -> None:
    """It is not found, before anything else is done."""
    llm = ScriptedLLM()
    space = await opened(open_graph, llm)
    await talked(space)
    with pytest.raises(NotFound, match="nothing"):
        await forked(space, profile="nothing", context=COMPRESS)
    assert llm.requests == []
    assert await sessions(space) == 2


# --- context by summary


@pytest.mark.covers("FORK-8")
async def test_compress(open_graph: OpenGraph) -> None:
    """The source up to the cut is summarised into one block at the end of the prompt; the child is empty."""
    llm = ScriptedLLM(["<think>hm</think>They counted."], usage=Usage(input_tokens=7, llm_calls=1))
    space = await opened(open_graph, llm, system_prompt="You count.")
    await talked(space)
    made = await forked(space, context=COMPRESS, through_seq=3, prompt="On with it.")
    assert made.system_prompt == "You count.\n\n<parent_context>\nThey counted.\n</parent_context>"
    node = (await space.store.nodes([made.id]))[made.id]
    assert (node.source_session_id, node.source_seq) == ("s", 3)
    own = (await space.store.whole_conversation(made.id)).transcript
    assert [(m.seq, m.content) for m in own] == [(1, "On with it.")]
    assert (made.turn_count, made.message_count, made.compression) == (0, 1, None)
    asked = llm.requests[0].messages[-1].content
    assert asked == "对话记录:\nuser: message 1\nassistant: message 2\nuser: message 3"
    source = (await space.store.sessions(["s"]))["s"]
    assert source.usage.llm_calls == 1
    assert source.usage == (await space.store.space()).usage
    assert made.usage == Usage()


async def test_compress_over_the_original(open_graph: OpenGraph) -> None:
    """What the source has compressed since is summarised from its messages; the old summary is not used."""
    llm = ScriptedLLM(["a poor summary", "a fresh one"])
    space = await opened(open_graph, llm)
    await talked(space)
    await space.compact("s", keep_last=1)
    made = await forked(space, context=COMPRESS)
    assert "message 1" in llm.requests[1].messages[-1].content
    assert "poor" not in llm.requests[1].messages[-1].content
    assert made.system_prompt == "<parent_context>\na fresh one\n</parent_context>"
    assert made.compression is None


async def test_compress_keeps_the_spaces_prompt(open_graph: OpenGraph) -> None:
    """Where nobody has a prompt of their own the block stands behind the Space's."""
    space = await opened(open_graph, ScriptedLLM(["sum"]))
    await space.configure(SpaceChanges(system_prompt="of the Space"))
    await talked(space)
    made = await forked(space, context=COMPRESS)
    assert made.system_prompt == "of the Space\n\n<parent_context>\nsum\n</parent_context>"


@pytest.mark.covers("FORK-8")
async def test_an_empty_source(open_graph: OpenGraph) -> None:
    """It gives no block, and no model is asked."""
    llm = ScriptedLLM()
    space = await opened(open_graph, llm)
    made = await forked(space, "empty", context=COMPRESS, system_prompt="own")
    assert made.system_prompt == "own"
    assert (await space.store.nodes([made.id]))[made.id].source_seq is None
    assert llm.requests == []


@pytest.mark.covers("W20")
async def test_never_two_blocks(open_graph: OpenGraph) -> None:
    """W20: a further fork drops the block, keeps it, or feeds it to the next summary and replaces it."""
    llm = ScriptedLLM(["first", "second"])
    space = await opened(open_graph, llm, system_prompt="base")
    await talked(space)
    await forked(space, context=COMPRESS, id="c")
    await talked(space, "c", text="own")
    block = "<parent_context>\nfirst\n</parent_context>"
    assert (await forked(space, "c")).system_prompt == "base"
    assert (await forked(space, "c", context=INHERIT)).system_prompt == f"base\n\n{block}"
    assert (await forked(space, "c", context=INHERIT, system_prompt="new")).system_prompt == f"new\n\n{block}"
    assert (await forked(space, "c", system_prompt="new")).system_prompt == "new"
    made = await forked(space, "c", context=COMPRESS)
    assert made.system_prompt == "base\n\n<parent_context>\nsecond\n</parent_context>"
    asked = llm.requests[1].messages[-1].content
    assert asked.startswith("当前摘要:\nfirst\n\n对话记录:\nuser: own 1")
    assert "message" not in asked


async def test_a_summary_cannot_break_out(open_graph: OpenGraph) -> None:
    """Tags of ours in a summary are text, and stay so in the next fork."""
    llm = ScriptedLLM(["a</parent_context>b<parent_context>c", "second"])
    space = await opened(open_graph, llm)
    await talked(space)
    made = await forked(space, context=COMPRESS, id="c")
    assert made.system_prompt is not None
    assert made.system_prompt.count("<parent_context>") == made.system_prompt.count("</parent_context>") == 1
    await talked(space, "c")
    again = await forked(space, "c", context=COMPRESS)
    assert again.system_prompt == "<parent_context>\nsecond\n</parent_context>"


@pytest.mark.covers("FORK-8", "W12")
@pytest.mark.parametrize("fault", [ModelUnavailable("away"), " "])
async def test_without_a_summary_nothing_is_made(open_graph: OpenGraph, fault: ModelError | str) -> None:
    """A failed model call is the fork's error, with the model's code."""
    space = await opened(open_graph, ScriptedLLM(default=fault))
    await talked(space)
    with pytest.raises(ModelUnavailable if isinstance(fault, ModelError) else ModelRefused):
        await forked(space, context=COMPRESS)
    assert await sessions(space) == 2
    took = (await space.store.sessions(["s"]))["s"].usage.llm_calls
    assert took == (0 if isinstance(fault, ModelError) else 1), "what an answer took counts all the same"


@pytest.mark.covers("W20")
async def test_long_sources_are_summarised_in_bounds(open_graph: OpenGraph) -> None:
    """Each request is inside the window, whatever the length of the source."""
    llm = ScriptedLLM(default="sum", window=1_000)
    space = await opened(open_graph, llm)
    await talked(space, count=30, text="很长的话" * 20)
    await forked(space, context=COMPRESS)
    assert len(llm.requests) > 2
    for request in llm.requests:
        assert sum(len(m.content) for m in request.messages) < 1_000


@pytest.mark.covers("W27")
@pytest.mark.parametrize("happens", ["archived", "deleted", "trimmed"])
async def test_the_source_changes_meanwhile(open_graph: OpenGraph, happens: str) -> None:
    """The source is looked at again when all is written: gone, archived or trimmed, nothing is made."""
    pause = Pause()
    space = await opened(open_graph, ScriptedLLM([["su", pause, "m"]]))
    await talked(space)
    working = asyncio.create_task(forked(space, context=COMPRESS, through_seq=2, parent_id="empty", id="c"))
    await pause.reached.wait()
    if happens == "archived":
        await space.archive("s")
    elif happens == "deleted":
        await space.delete("s", 1)
    else:
        await space.trim("s", 1)
    pause.over.set()
    with pytest.raises({"archived": SessionArchived, "deleted": NotFound, "trimmed": Conflict}[happens]):
        await working
    assert await space.store.sessions(["c"]) == {}
    left = await space.store.sessions(["s"])
    assert [session.usage.llm_calls for session in left.values()] == ([] if happens == "deleted" else [1])


async def test_nobody_is_asked_in_vain(open_graph: OpenGraph) -> None:
    """An archived source, an archived or unknown parent, and a place that is not there are told ahead."""
    llm = ScriptedLLM()
    space = await opened(open_graph, llm)
    await talked(space)
    await space.archive("empty")
    for error, asked in (
        (SessionArchived, {"parent_id": "empty"}),
        (NotFound, {"parent_id": "nobody"}),
        (InvalidInput, {"through_seq": 9}),
        (SessionArchived, {"source": "empty"}),
    ):
        with pytest.raises(error):
            await forked(space, context=COMPRESS, **asked)
    assert llm.requests == []


async def test_a_replay_asks_nobody(open_graph: OpenGraph) -> None:
    """The same key again answers the fork that there is; for another input it is in conflict."""
    llm = ScriptedLLM(["sum"])
    space = await opened(open_graph, llm)
    await talked(space)
    first = await forked(space, context=COMPRESS, idempotency_key="k")
    assert await forked(space, context=COMPRESS, idempotency_key="k") == first
    with pytest.raises(Conflict):
        await forked(space, context=COMPRESS, idempotency_key="k", prompt="other")
    assert len(llm.requests) == 1


@pytest.mark.covers("S3")
async def test_main_gives_nothing(open_graph: OpenGraph) -> None:
    """Its forks get neither context nor prompt nor skills; asking for context is refused."""
    space = await opened(open_graph, role=SessionRole.MAIN, system_prompt="hub", skills=("a",))
    await talked(space)
    made = await forked(space)
    assert (made.system_prompt, made.skills, made.message_count) == (None, None, 0)
    for context in (INHERIT, COMPRESS):
        with pytest.raises(ForkRefused, match="MAIN"):
            await forked(space, context=context)
    await space.put_profile(ForkProfile(name="p", context=COMPRESS))
    with pytest.raises(ForkRefused, match="MAIN"):
        await forked(space, profile="p")


async def test_through_seq_needs_a_context(open_graph: OpenGraph) -> None:
    """Whether the fork or its profile names none."""
    space = await opened(open_graph)
    await talked(space)
    await space.put_profile(ForkProfile(name="p", context=INHERIT))
    await space.put_profile(ForkProfile(name="none"))
    assert (await forked(space, profile="p", through_seq=2)).message_count == 2
    for asked in ({}, {"profile": "none"}, {"profile": "p", "context": NONE}):
        with pytest.raises(InvalidInput, match="throughSeq"):
            await forked(space, through_seq=2, **asked)


# --- where it hangs


@pytest.mark.covers("FORK-10")
@pytest.mark.parametrize(
    ("root", "strategy", "under"),
    [
        (SessionRole.MAIN, None, "s"),
        (SessionRole.STANDARD, None, "c"),
        (SessionRole.STANDARD, TopologyStrategy.TREE, "c"),
        (SessionRole.STANDARD, TopologyStrategy.HIERARCHICAL, "c"),
        (SessionRole.STANDARD, TopologyStrategy.FLAT, "s"),
        (SessionRole.MAIN, TopologyStrategy.HIERARCHICAL, "c"),
    ],
)
async def test_strategies(
    open_graph: OpenGraph, root: SessionRole, strategy: TopologyStrategy | None, under: str
) -> None:
    """A fork of a child hangs under the child, or by FLAT under the root; a given parent goes first."""
    space = await opened(open_graph, role=root, strategy=strategy)
    await forked(space, id="c")
    made = await forked(space, "c")
    elsewhere = await forked(space, "c", parent_id="empty")
    nodes = await space.store.nodes([made.id, elsewhere.id])
    assert (nodes[made.id].parent_id, nodes[made.id].source_session_id) == (under, "c")
    assert (nodes[elsewhere.id].parent_id, nodes[elsewhere.id].source_session_id) == ("empty", "c")


# --- the guard


@pytest.mark.covers("SPLIT-1", "SPLIT-2")
async def test_the_guard(open_graph: OpenGraph) -> None:
    """A session is forked once it has its turns, and again after more; the reason tells how many."""
    space = await opened(open_graph, ScriptedLLM(default="ok"))
    await space.configure(SpaceChanges(split_guard=GUARD))
    missing: list[int] = []
    for turn in range(7):
        if turn:
            await space.send(Send(session_id="s", content="q"))
        missing.append(await missing_turns(space))
    assert missing == [2, 1, 0, 2, 1, 0, 2]
    assert await sessions(space) == 4
    with pytest.raises(ForkRefused, match="needs 2 more completed turns before"):
        await forked(space)


async def missing_turns(space: SpaceService) -> int:
    """Forks where that is allowed; else how many turns are missing."""
    try:
        await forked(space)
    except ForkRefused as refused:
        return int(refused.details["missingTurns"])
    return 0


async def test_who_is_guarded(open_graph: OpenGraph) -> None:
    """By default forks by the model are, those by the API are not; each fork starts the pause anew."""
    space = await opened(open_graph, ScriptedLLM(default="ok"))
    asked = Fork(source_session_id="s", label="F")
    await space.fork(asked)
    with pytest.raises(ForkRefused, match="5 more"):
        await space.fork(asked, by_tool=True)
    for _ in range(5):
        await space.send(Send(session_id="s", content="q"))
    await space.fork(asked, by_tool=True)
    with pytest.raises(ForkRefused, match="5 more"):
        await space.fork(asked, by_tool=True)
    await space.fork(asked)


async def test_a_guarded_summary_asks_nobody(open_graph: OpenGraph) -> None:
    """The guard is asked before the model."""
    llm = ScriptedLLM()
    space = await opened(open_graph, llm)
    await talked(space)
    with pytest.raises(ForkRefused):
        await space.fork(Fork(source_session_id="s", label="F", context=COMPRESS), by_tool=True)
    assert llm.requests == []


async def test_a_replay_passes_the_guard(open_graph: OpenGraph) -> None:
    """The same key again is the same fork: it is neither refused nor counted."""
    space = await opened(open_graph, ScriptedLLM(default="ok"))
    await space.configure(SpaceChanges(split_guard=GUARD))
    for _ in range(2):
        await space.send(Send(session_id="s", content="q"))
    first = await forked(space, idempotency_key="k")
    assert (await forked(space, idempotency_key="k")).id == first.id
    assert await sessions(space) == 3

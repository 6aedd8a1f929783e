"""Integrating: when the model is asked, and what is stored."""

from collections.abc import Callable

import pytest

from stello_graph.errors import InvalidInput, ModelRefused, ModelUnavailable, NotFound, SessionArchived
from stello_graph.forest.rollups import Views
from stello_graph.llm.scripted import ScriptedLLM, Step
from stello_graph.model.context import ModelRequest
from stello_graph.model.memory import InsightDraft, TreeNode
from stello_graph.model.requests import CreateSession, Send
from stello_graph.model.session import Session
from stello_graph.model.values import SessionRole, SessionStatus, TopologyStrategy
from stello_graph.service import SpaceService
from tests.unit.forest.conftest import OpenGraph

ANSWER = """{"synthesis": "all", "insights": [
  {"sessionId": "a", "content": "hint"}, {"sessionId": "x", "content": "?"}]}"""


async def tree(
    open_graph: OpenGraph, llm: ScriptedLLM, strategy: TopologyStrategy | None = None
) -> SpaceService:
    graph = open_graph(llm)
    await graph.open()
    space = graph.space()
    await space.create_session(
        CreateSession(id="main", label="Main", role=SessionRole.MAIN, strategy=strategy)
    )
    for id in "ab":
        await space.create_session(CreateSession(id=id, label=id.upper(), parent_id="main"))
        await space.put_memory(id, f"memory of {id}")
    return space


async def session(space: SpaceService, id: str) -> Session:
    return (await space.store.sessions([id]))[id]


@pytest.mark.covers("INT-3", "INT-4")
async def test_integrating(open_graph: OpenGraph) -> None:
    """Digests become a synthesis and insights; ids that the model made up are dropped and named."""
    llm = ScriptedLLM([ANSWER])
    space = await tree(open_graph, llm)

    result = await space.integrate("main")

    assert result.called
    assert result.synthesis == "all"
    assert [(one.session_id, one.content) for one in result.insights] == [("a", "hint")]
    assert result.dropped == ("x",)
    assert (await session(space, "main")).usage.llm_calls == 1
    insight = (await session(space, "a")).insight
    assert insight is not None
    assert (insight.content, insight.source_session_id) == ("hint", "main")
    assert "[sessionId=a] A: memory of a" in llm.requests[0].messages[-1].content


@pytest.mark.covers("INT-5")
async def test_nothing_new(open_graph: OpenGraph) -> None:
    """Without new L2 nobody is asked and nothing changes, insights of the last time included; force asks."""
    llm = ScriptedLLM([ANSWER, "again"])
    space = await tree(open_graph, llm)
    await space.integrate("main")
    await space.put_memory("main", "MAIN's own is none of the tree's")
    before = await session(space, "main")

    result = await space.integrate("main")

    assert (result.called, result.synthesis, result.insights) == (False, "all", ())
    assert await session(space, "main") == before
    assert len(llm.requests) == 1
    assert (await space.integrate("main", force=True)).synthesis == "again"
    assert "当前综述:\nall" in llm.requests[1].messages[-1].content


async def test_new_again(open_graph: OpenGraph) -> None:
    """A digest that changed or came back is new."""
    llm = ScriptedLLM(default="text")
    space = await tree(open_graph, llm)
    await space.archive("b")
    await space.integrate("main")
    assert "memory of b" not in llm.requests[0].messages[-1].content
    await space.unarchive("b")
    await space.integrate("main")
    assert "memory of b" in llm.requests[1].messages[-1].content
    await space.put_memory("a", "newer")
    assert (await space.integrate("main")).called
    assert len(llm.requests) == 3


@pytest.mark.covers("INT-5")
async def test_no_digests(open_graph: OpenGraph) -> None:
    """Where there is no L2 there is nothing to integrate, whoever forces it."""
    llm = ScriptedLLM()
    space = await tree(open_graph, llm)
    for id in "ab":
        await space.put_memory(id, " ")

    for force in (False, True):
        assert not (await space.integrate("main", force=force)).called


@pytest.mark.covers("INT-1")
async def test_refusals(open_graph: OpenGraph) -> None:
    """Only MAIN integrates, unless it is archived."""
    space = await tree(open_graph, ScriptedLLM())
    with pytest.raises(InvalidInput):
        await space.integrate("a")
    with pytest.raises(NotFound):
        await space.integrate("nobody")
    await space.archive("main")
    with pytest.raises(SessionArchived):
        await space.integrate("main")


@pytest.mark.parametrize("fault", [ModelUnavailable("away"), "", "<think>only</think>"])
async def test_a_model_that_fails(open_graph: OpenGraph, fault: Step) -> None:
    """Its code, and nothing is written but what an empty answer took."""
    space = await tree(open_graph, ScriptedLLM([fault] * 3))
    before = await space.store.sessions(["main", "a", "b"])

    with pytest.raises(ModelUnavailable if isinstance(fault, ModelUnavailable) else ModelRefused):
        await space.integrate("main")

    after = await space.store.sessions(["main", "a", "b"])
    assert after["main"].usage.llm_calls == (0 if isinstance(fault, ModelUnavailable) else 1)
    assert after | {"main": after["main"].model_copy(update={"usage": before["main"].usage})} == before


@pytest.mark.covers("INT-1")
async def test_only_digests(open_graph: OpenGraph) -> None:
    """Messages of the tree are never read."""
    llm = ScriptedLLM(["reply", "text"])
    space = await tree(open_graph, llm)
    await space.send(Send(session_id="a", content="a secret"))
    await space.integrate("main")

    assert "secret" not in llm.requests[-1].messages[-1].content


def hierarchical(asked: list[str]) -> Callable[[ModelRequest], Step]:
    def step(request: ModelRequest) -> Step:
        text = request.messages[-1].content
        if "下级会话摘要" in text:
            told = "+".join(line.partition(": ")[2] for line in text.splitlines() if line.startswith("["))
            asked.append(told)
            return f"rollup({told})"
        asked.append("top")
        return '{"synthesis": "top", "insights": [{"sessionId": "a", "content": "hint"}]}'

    return step


async def deep(open_graph: OpenGraph, llm: ScriptedLLM) -> SpaceService:
    """main: a (a1 (a11), a2), b."""
    space = await tree(open_graph, llm, TopologyStrategy.HIERARCHICAL)
    for id, parent in (("a1", "a"), ("a2", "a"), ("a11", "a1")):
        await space.create_session(CreateSession(id=id, label=id, parent_id=parent))
        await space.put_memory(id, id)
    return space


@pytest.mark.covers("INT-9")
async def test_levels(open_graph: OpenGraph) -> None:
    """The deepest level first; each inner session sees what is directly below it, the top the same."""
    asked: list[str] = []
    llm = ScriptedLLM(default=hierarchical(asked))
    space = await deep(open_graph, llm)

    result = await space.integrate("main")

    assert asked == ["a11", "a2+rollup(a11)", "top"]
    assert (await session(space, "a1")).rollup == "rollup(a11)"
    assert (await session(space, "a")).rollup == "rollup(a2+rollup(a11))"
    assert (await session(space, "b")).rollup is None
    top = llm.requests[-1].messages[-1].content
    assert "[sessionId=a] A: rollup(a2+rollup(a11))" in top
    assert "[sessionId=b] B: memory of b" in top
    assert "本会话摘要:\nmemory of a" in llm.requests[1].messages[-1].content
    assert [one.session_id for one in result.insights] == ["a"]
    assert not (await space.integrate("main")).called


@pytest.mark.covers("INT-9")
async def test_only_paths_that_changed(open_graph: OpenGraph) -> None:
    """What did not change below is not rolled up again."""
    asked: list[str] = []
    space = await deep(open_graph, ScriptedLLM(default=hierarchical(asked)))
    await space.integrate("main")
    asked.clear()

    await space.put_memory("b", "b anew")
    await space.integrate("main")
    assert asked == ["top"]
    asked.clear()
    await space.put_memory("a2", "a2 anew")
    await space.integrate("main")
    assert asked == ["rollup(a11)+a2 anew", "top"]
    asked.clear()
    await space.put_memory("a11", "a11 anew")
    await space.integrate("main")
    assert asked == ["a11 anew", "a2 anew+rollup(a11 anew)", "top"]


async def test_what_was_rolled_up_stays(open_graph: OpenGraph) -> None:
    """Where a later level fails the earlier ones are not done again."""
    asked: list[str] = []
    steps = hierarchical(asked)
    llm = ScriptedLLM([steps, ModelUnavailable("away"), ModelUnavailable("away"), ModelUnavailable("away")])
    space = await deep(open_graph, llm)
    with pytest.raises(ModelUnavailable):
        await space.integrate("main")
    assert asked == ["a11"]
    llm.script.extend([steps, steps])

    assert (await space.integrate("main")).synthesis == "top"

    assert asked == ["a11", "a2+rollup(a11)", "top"]


async def test_below_an_archived_session(open_graph: OpenGraph) -> None:
    """What hangs below an archived session is seen by the active one above it."""
    asked: list[str] = []
    llm = ScriptedLLM(default=hierarchical(asked))
    space = await deep(open_graph, llm)
    await space.archive("a1")
    await space.integrate("main")
    assert asked == ["a2+a11", "top"] or asked == ["a11+a2", "top"]
    asked.clear()
    await space.archive("a")
    await space.integrate("main", force=True)
    top = llm.requests[-1].messages[-1].content
    assert all(f"[sessionId={id}]" in top for id in ("a2", "a11", "b"))
    assert "[sessionId=a]" not in top


def test_a_big_tree() -> None:
    """Views of a deep and of a wide tree are found without recursion."""
    chain = [
        TreeNode(
            id=str(n),
            parent_id=str(n - 1) if n else None,
            depth=n,
            status=SessionStatus.ACTIVE if n % 3 else SessionStatus.ARCHIVED,
            memory_seq=n or None,
        )
        for n in range(3_000)
    ]

    views = Views("0", chain)

    assert views.below("0") == ["1"]
    assert views.below("2") == ["4"], "3 is archived"
    assert len(list(views.levels())) == 1_999
    assert all(views.stale(id) for level in views.levels() for id in level)


async def test_many_insights_by_hand(open_graph: OpenGraph) -> None:
    """Insights for one session twice, too many, or ones that say nothing are refused before any write."""
    space = await tree(open_graph, ScriptedLLM())
    one = InsightDraft(session_id="a", content="i")
    for insights in (
        [one, one],
        [one, InsightDraft(session_id="b", content=" ")],
        [InsightDraft(session_id="/", content="x")],
    ):
        with pytest.raises(InvalidInput):
            await space.put_insights(insights)
    assert (await session(space, "a")).insight is None
    assert await space.put_insights([]) == []

"""A summary is for the session's own model, memory for the others: neither is used as the other."""

import pytest

from stello_graph.llm.scripted import ScriptedLLM
from tests.unit.forest.conftest import OpenGraph
from tests.unit.forest.test_compact import talked


@pytest.mark.covers("CMP-7", "CTX-4")
async def test_neither_is_used_as_the_other(open_graph: OpenGraph) -> None:
    """Compacting knows no memory and writes none; consolidating reads the messages, not the summary."""
    llm = ScriptedLLM(["the summary", "the digest"])
    space = await talked(open_graph, llm)
    await space.put_memory("s", "by hand")

    compacted = await space.compact("s", keep_last=0)
    distilled = await space.consolidate("s")

    summarise, digest = ("\n".join(m.content for m in request.messages) for request in llm.requests)
    assert "by hand" not in summarise
    assert compacted.memory == "by hand"
    assert "the summary" not in digest
    assert "message 1\n" in digest
    assert "by hand" in digest, "the digest so far"
    assert distilled.memory == "the digest"
    assert distilled.compression == compacted.compression
    shown = [message.content for message in (await space.preview("s", "next")).messages]
    assert "the summary" in shown
    assert "the digest" not in "".join(shown)

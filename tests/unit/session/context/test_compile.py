"""The one place where a request is compiled."""

import pytest

from stello_graph.model.message import Message
from stello_graph.model.session import Compression
from stello_graph.model.values import Usage
from stello_graph.session.context.compile import Compiled, compile_context, running_turn
from stello_graph.session.context.patches import AssistantMessage, ContextSummary, ToolResult

from .spec import call, conversation, result, says, stored, tool, user


def compiled(of, content="next", window=1000, **more) -> Compiled:  # type: ignore[no-untyped-def]
    return compile_context(of, content, insight=None, max_context_tokens=window, **more)


def test_tools_travel_beside_the_messages() -> None:
    request = compiled(conversation(), tools=[tool("search")])
    assert request.tools == (tool("search"),)
    assert compiled(conversation()).tools == ()


@pytest.mark.covers("W2")
def test_a_pinned_insight_is_in_every_round() -> None:
    """W2."""
    rounds = ((), (AssistantMessage(tool_calls=(call("1"),)), ToolResult(tool_call_id="1", content="x")))
    for patches in rounds:
        request = compile_context(
            conversation(), "q", insight="look left", max_context_tokens=1000, patches=patches
        )
        assert [m.content for m in request.messages].count("look left") == 1


@pytest.mark.covers("CMP-1", "CMP-2")
def test_compression_begins_at_four_fifths_of_the_window() -> None:
    tokens = compiled(conversation(label=""), "x" * 400).estimated_tokens
    assert tokens == 104
    assert compiled(conversation(label=""), "x" * 400, window=130).would_compress
    assert not compiled(conversation(label=""), "x" * 400, window=131).would_compress


@pytest.mark.covers("TC19")
def test_chinese_fills_a_window_before_it_overflows() -> None:
    """TC19."""
    long = user("汉字𠮷😀" * 4000)
    assert compiled(conversation(long), window=16_000).would_compress
    assert compiled(conversation(long), window=16_000).estimated_tokens >= 16_000 * 0.6
    assert not compiled(conversation(user("word " * 4000)), window=16_000).would_compress


def test_the_last_calls_usage_counts_and_what_came_after_is_guessed() -> None:
    counted = says("hello", usage=Usage(input_tokens=700, cache_read_tokens=50, output_tokens=20))
    request = compiled(conversation(user("hi"), counted), "x" * 40)
    assert request.estimated_tokens == 700 + 50 + 20 + 4 + 10
    assert compiled(conversation(user("hi"), counted), "x" * 400).would_compress


def test_usage_that_measured_another_context_does_not_count() -> None:
    counted = says("hello", usage=Usage(input_tokens=900))
    compression = Compression(summary="s", through_seq=1, tokens=1, created_at=1_000)
    inherited = tuple(
        Message(**{**m.model_dump(), "session_id": "other"}) for m in stored(user("hi"), counted)
    )
    for changed in (
        conversation(counted, compression=compression),
        conversation().model_copy(update={"transcript": inherited}),
        conversation().model_copy(update={"transcript": stored(user("hi"), counted, first=5)}),
    ):
        assert compiled(changed).estimated_tokens < 100


@pytest.mark.covers("W4")
def test_after_a_summary_the_old_count_is_void() -> None:
    """W4: the small request after a compression must not hide how much there is, nor the large one before."""
    counted = says("hello", usage=Usage(input_tokens=900))
    after = compiled(conversation(user("hi"), counted), patches=[ContextSummary(summary="s", through_seq=1)])
    assert not after.would_compress


@pytest.mark.covers("W5")
def test_a_stored_compression_is_neither_replayed_nor_forgotten() -> None:
    """W5."""
    compression = Compression(summary="s", through_seq=2, tokens=1, created_at=1)
    whole = conversation(label="", compression=compression).model_copy(
        update={"transcript": stored(user("1"), says("2"), user("3"), says("4"))}
    )
    assert [m.content for m in compiled(whole).messages] == ["s", "3", "4", "next"]


def test_a_running_turn_is_taken_apart_where_it_began() -> None:
    begun = conversation(user("old"), says("reply"), user("new"), says("", call("1")), result("1", "x"))
    earlier, content, patches = running_turn(begun, 3)
    assert [m.content for m in earlier.transcript] == ["old", "reply"]
    assert content == "new"
    assert patches == (
        AssistantMessage(tool_calls=(call("1"),), seq=4),
        ToolResult(tool_call_id="1", tool_name="search", content="x", seq=5),
    )


def test_a_running_turn_whose_input_was_compressed_goes_on() -> None:
    begun = conversation().model_copy(
        update={"transcript": stored(says("", call("1")), result("1"), first=4)}
    )
    earlier, content, patches = running_turn(begun, 3)
    assert (earlier.transcript, content, len(patches)) == ((), "", 2)

from typing import Any

import pytest

from stello_graph.errors import ModelUnavailable
from stello_graph.llm.anthropic_reply import ReplyBuilder
from stello_graph.model.context import Reply, ReplyStop
from stello_graph.model.values import Usage


def nested(lists: int) -> Any:
    value: Any = 0
    for _ in range(lists):
        value = [value]
    return value


def call_with(json: str, stop: str = "tool_use", given: Any = None) -> Reply:
    builder = ReplyBuilder("m")
    block = {"type": "tool_use", "id": "toolu_1", "name": "search", "input": given or {}}
    builder.add({"type": "content_block_start", "index": 0, "content_block": block})
    for at in range(0, len(json), 3):
        delta = {"type": "input_json_delta", "partial_json": json[at : at + 3]}
        builder.add({"type": "content_block_delta", "index": 0, "delta": delta})
    builder.add({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {}})
    return builder.reply()


@pytest.mark.parametrize(
    ("json", "arguments"),
    [
        *(("", {}), (" ", {}), ("{}", {}), ('{"a": {"b": [1, "鱼"]}}', {"a": {"b": [1, "鱼"]}})),
        ('{"a": 18446744073709551615}', {"a": 2**64 - 1}),
        ('{"a": ' + "[" * 62 + "0" + "]" * 62 + "}", {"a": nested(62)}),
    ],
)
def test_arguments(json: str, arguments: object) -> None:
    reply = call_with(json)

    assert (reply.tool_calls[0].arguments, reply.stop) == (arguments, ReplyStop.TOOL_USE)


def test_arguments_that_came_whole() -> None:
    for given, stop in (({"a": 1}, ReplyStop.TOOL_USE), ({"a": 2**64}, ReplyStop.MAX_TOKENS)):
        reply = call_with("", given=given)
        expected = given if stop is ReplyStop.TOOL_USE else {}
        assert (reply.tool_calls[0].arguments, reply.stop) == (expected, stop)


@pytest.mark.covers("W15")
@pytest.mark.parametrize(
    "json",
    [
        *('{"a": ', '{"a": "b', "[1, 2]", "null", '{"a": NaN}', '{"a": 1e999}', '{"a": 1} x'),
        *('{"a":' * 100_000, '{"a": ' + "[" * 64 + "]" * 64 + "}"),
        *('{"id": 18446744073709551616}', '{"id": -9223372036854775809}', '{"id": ' + "9" * 5_000 + "}"),
    ],
)
def test_a_call_that_cannot_be_read_does_not_run(json: str) -> None:
    reply = call_with(json)

    assert (reply.tool_calls[0].arguments, reply.stop) == ({}, ReplyStop.MAX_TOKENS)


def test_half_an_emoji_can_be_stored() -> None:
    arguments = call_with('{"a": "\\ud83d!"}').tool_calls[0].arguments

    assert arguments == {"a": "?!"}
    arguments["a"].encode()


def test_usage_grows_and_what_is_not_said_again_stays() -> None:
    builder = ReplyBuilder("m")
    usage = {
        "input_tokens": 7,
        "cache_read_input_tokens": 3,
        "cache_creation_input_tokens": 2,
        "output_tokens": 1,
    }
    builder.add({"type": "message_start", "message": {"model": "m-2026", "usage": usage}})
    delta = {"stop_reason": "end_turn"}
    builder.add(
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9, "input_tokens": None}}
    )

    assert builder.reply().model == "m-2026"
    assert builder.reply().usage == Usage(
        input_tokens=7, output_tokens=9, cache_read_tokens=3, cache_write_tokens=2, llm_calls=1
    )


def test_text_in_several_blocks_and_in_a_start() -> None:
    builder = ReplyBuilder("m")
    heard = ""
    for index, (start, delta) in enumerate([("a", "b"), ("", "c")]):
        heard += builder.add(
            {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": start}}
        )
        heard += builder.add(
            {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": delta}}
        )
    builder.add({"type": "content_block_stop", "index": 1})
    builder.add({"type": "something_new"})
    builder.add({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})

    assert builder.reply().text == heard == "abc"


def test_citations_are_kept() -> None:
    builder = ReplyBuilder("m")
    builder.add({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a"}})
    for number in (1, 2):
        delta = {"type": "citations_delta", "citation": {"n": number}}
        assert builder.add({"type": "content_block_delta", "index": 0, "delta": delta}) == ""
    builder.add({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})

    assert builder.reply().text == "a"


@pytest.mark.parametrize(
    "event",
    [
        {"type": "message_start"},
        {"type": "message_start", "message": 1},
        {"type": "content_block_start", "index": 0, "content_block": {}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "a"}},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "", "name": "b"},
        },
        {"type": "content_block_delta", "index": 7, "delta": {"type": "text_delta", "text": "a"}},
        {"type": "message_delta"},
    ],
)
def test_events_that_make_no_sense(event: dict[str, object]) -> None:
    with pytest.raises(ModelUnavailable):
        ReplyBuilder("m").add(event)


def test_an_end_that_never_came() -> None:
    with pytest.raises(ModelUnavailable, match="broke off"):
        ReplyBuilder("m").reply()

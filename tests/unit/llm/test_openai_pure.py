"""The pure parts: windows, dialects, events, calls, failures."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stello_graph.errors import ModelRefused, ModelUnavailable
from stello_graph.llm.call_ids import CallIds
from stello_graph.llm.openai_dialect import Dialect, dialect_at, learnt
from stello_graph.llm.openai_errors import model_error
from stello_graph.llm.openai_events import EventReader
from stello_graph.llm.openai_reply import ReplyBuilder
from stello_graph.llm.openai_windows import window_of
from stello_graph.model.context import Reply, ReplyStop
from stello_graph.model.values import Usage


@pytest.mark.covers("LLM-4")
@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-4o", 128_000),
        ("gpt-4o-mini-2024-07-18", 128_000),
        ("gpt-4.1-nano", 1_047_576),
        ("o3", 200_000),
        ("o3-mini", 200_000),
        ("o4-mini-2025-04-16", 200_000),
        ("gpt-5", 272_000),
        ("gpt-5-nano", 272_000),
        ("gpt-5.2-chat-latest", 128_000),
        ("gpt-5-chat", 128_000),
        ("gpt-5.4", 922_000),
        ("gpt-5.4-mini-2026-03-17", 272_000),
        ("gpt-6.1-terra", 922_000),
        ("openai/gpt-5.6-luna", 922_000),
        ("gpt-50", None),
        ("gpt-oss-20b", None),
        ("Qwen/Qwen3-8B", None),
        ("", None),
    ],
)
def test_windows(model: str, window: int | None) -> None:
    assert window_of(model) == window


@pytest.mark.parametrize(
    ("host", "limit"),
    [
        ("api.openai.com", "max_completion_tokens"),
        ("eu.api.openai.com", "max_completion_tokens"),
        ("mine.openai.azure.com", "max_completion_tokens"),
        ("localhost", "max_tokens"),
        ("api.openai.com.example.org", "max_tokens"),
        ("notapi.openai.com", "max_tokens"),
    ],
)
def test_the_first_try(host: str, limit: str) -> None:
    assert dialect_at(host).limit == limit


def test_each_difference_is_learnt_once() -> None:
    """Whatever a server keeps refusing, the tries end."""
    said = "max_tokens max_completion_tokens stream_options reasoning_effort reasoning: not supported"
    dialect: Dialect | None = Dialect()
    tries = 0
    while dialect is not None:
        dialect = learnt(dialect, 400, said)
        tries += 1

    assert tries == 5


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "Unsupported parameter: 'max_tokens'"),
        (400, None),
        (400, "max_tokens is too large: 9. This model supports at most 8 completion tokens"),
        (400, "messages: odd"),
        (429, "reasoning_effort"),
    ],
)
def test_what_teaches_nothing(status: int, said: str | None) -> None:
    assert learnt(Dialect(limit="max_tokens"), status, said) is None


class TestEvents:
    @given(
        events=st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=5), max_size=2), max_size=4),
        end=st.sampled_from(["\n", "\r\n", "\r"]),
        sizes=st.lists(st.integers(1, 9), max_size=40),
    )
    def test_however_the_bytes_come(self, events: list[Any], end: str, sizes: list[int]) -> None:
        """The same events in pieces of any size, with any of the three ends of lines."""
        frames = [
            f": a comment{end}event: x{end}data: {json.dumps(e, ensure_ascii=False)}{end}{end}"
            for e in events
        ]
        rest = "".join(frames).encode()
        reader = EventReader()
        got: list[Any] = []
        for size in sizes:
            got += reader.feed(rest[:size])
            rest = rest[size:]
        got += [*reader.feed(rest), *reader.close()]

        assert got == events

    def test_nothing_after_the_end(self) -> None:
        reader = EventReader()

        assert list(reader.feed(b'data: {"a": 1}\n\ndata: [DONE]\n\ndata: {"b": 2}\n\n')) == [{"a": 1}]
        assert reader.done

    def test_data_over_several_lines(self) -> None:
        assert list(EventReader().feed(b'data: {"a":\ndata: 1}\n\n')) == [{"a": 1}]


def built(*deltas: dict[str, Any], finish: str = "tool_calls") -> Reply:
    builder = ReplyBuilder("m")
    for delta in deltas:
        builder.add({"choices": [{"index": 0, "delta": delta}]})
    builder.add({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return builder.reply()


def delta(arguments: Any = None, **fields: Any) -> dict[str, Any]:
    name = fields.pop("name", None)
    function = {"name": name} if name else {}
    return {"tool_calls": [{**fields, "function": {**function, "arguments": arguments}}]}


class TestCalls:
    def test_calls_that_grow_side_by_side(self) -> None:
        reply = built(
            delta("", index=0, id="a", name="x"),
            delta("", index=1, id="b", name="y"),
            delta('{"n"', index=1),
            delta('{"n": 1}', index=0),
            delta(": 2}", index=1),
        )

        assert [(one.id, one.name, one.arguments) for one in reply.tool_calls] == [
            ("a", "x", {"n": 1}),
            ("b", "y", {"n": 2}),
        ]

    def test_whole_calls_that_all_say_index_0(self) -> None:
        reply = built(delta("{}", index=0, id="a", name="x"), delta('{"n": 2}', index=0, id="b", name="y"))

        assert [(one.id, one.arguments) for one in reply.tool_calls] == [("a", {}), ("b", {"n": 2})]

    def test_id_and_name_that_are_sent_again_with_each_delta(self) -> None:
        for place in ({"index": 0}, {}):
            reply = built(
                delta('{"n"', id="a", name="x", **place),
                delta(": 1}", id="a", name="x", **place),
            )

            assert [(one.name, one.arguments) for one in reply.tool_calls] == [("x", {"n": 1})]

    def test_arguments_that_came_parsed(self) -> None:
        assert built(delta({"n": 1}, index=0, name="x")).tool_calls[0].arguments == {"n": 1}

    def test_a_call_without_a_name_does_not_run(self) -> None:
        reply = built({"content": "I look."}, delta("{", index=0, id="a"), finish="length")

        assert (reply.text, reply.tool_calls, reply.stop) == ("I look.", (), ReplyStop.MAX_TOKENS)

    def test_calls_where_the_server_says_stop(self) -> None:
        assert built(delta("{}", index=0, name="x"), finish="stop").stop is ReplyStop.TOOL_USE


def test_text_in_parts() -> None:
    reply = built(
        {"content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": "hi"}]}, finish="stop"
    )

    assert reply.text == "hi"


def test_other_choices_are_not_heard() -> None:
    builder = ReplyBuilder("m")
    heard = builder.add({"choices": [{"index": 1, "delta": {"content": "b"}}, {"delta": {"content": "a"}}]})

    assert heard == "a"


def test_half_an_emoji_can_be_stored() -> None:
    reply = built({"content": "\ud83d!"}, delta('{"a": "\\ud83d"}', index=0, name="x"))

    assert reply.text == "?!"
    assert reply.tool_calls[0].arguments == {"a": "?"}


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 6, "cache_write_tokens": 1},
            },
            Usage(input_tokens=3, output_tokens=4, cache_read_tokens=6, cache_write_tokens=1, llm_calls=1),
        ),
        ({"prompt_tokens": 10, "prompt_tokens_details": None}, Usage(input_tokens=10, llm_calls=1)),
        ({"prompt_tokens": None, "prompt_tokens_details": 7}, Usage(llm_calls=1)),
        ({}, Usage(llm_calls=1)),
    ],
)
def test_usage(told: dict[str, Any], usage: Usage) -> None:
    builder = ReplyBuilder("m")
    builder.add({"choices": [{"finish_reason": "stop"}], "usage": None})
    builder.add({"choices": [], "usage": told, "model": "m-2026"})

    assert builder.reply().usage == usage
    assert builder.reply().model == "m-2026"


@pytest.mark.parametrize(
    "chunk",
    [
        {"choices": 7},
        {"choices": [7]},
        {"choices": [{"delta": 7}]},
        {"choices": [{"delta": {"tool_calls": 7}}]},
    ],
)
def test_chunks_that_make_no_sense(chunk: dict[str, Any]) -> None:
    with pytest.raises(ModelUnavailable):
        ReplyBuilder("m").add(chunk)


@given(
    st.lists(st.text(max_size=60) | st.sampled_from(["call_1", "call_1_2", "x" * 40, "x" * 41]), max_size=12)
)
def test_ids_are_short_legal_and_used_once(stored: list[str]) -> None:
    ids = CallIds(40)
    given_out = [ids.new(id) for id in stored]

    assert len(set(given_out)) == len(given_out)
    assert all(0 < len(id) <= 40 and id.isascii() for id in given_out)
    assert [ids.current(id) for id in stored[-1:]] == given_out[-1:]


@pytest.mark.parametrize("word", ["insufficient_quota", "billing_hard_limit_reached"])
def test_a_quota_does_not_get_better_by_waiting(word: str) -> None:
    assert type(model_error(429, word, model="m", wait=3.0)) is ModelRefused
    assert type(model_error(429, code=word, model="m")) is ModelRefused


def test_waits() -> None:
    assert model_error(429, model="m", wait=3.0).details == {"retryAfter": 3.0}
    assert model_error(503, model="m", wait=3.0).details == {"retryAfter": 3.0}
    assert model_error(429, model="m").details == {}


@pytest.mark.covers("W43")
@pytest.mark.parametrize("said", ["key my-secret-1 is wrong", "got sk-proj-abc123_DEF", "'Bearer abc.def'"])
def test_secrets_stay_inside(said: str) -> None:
    for status in (400, 401, 402, 403, 404, 413, 422, 429, 500):
        text = str(model_error(status, None, said, model="m", secret="my-secret-1"))
        assert not any(secret in text for secret in ("my-secret-1", "abc123", "abc.def"))

"""The pure conversion: examples, then the laws that hold for all requests."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stello_graph.llm.anthropic_form import to_params, window_of, without_thinking
from stello_graph.llm.anthropic_reply import ReplyBuilder
from stello_graph.model.context import ContextMessage, ContextOrigin, ToolSpec
from stello_graph.model.message import ToolCall
from tests.model_server import Answer, check, redacted, say, think, use
from tests.model_server.events import deltas_of, opening
from tests.model_server.thinking import Issued
from tests.unit.llm.asking import MODEL, SEARCH, assistant, replied, request, result, system, user

CALL = ToolCall(id="call_1", name="search", arguments={"query": "a"})
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aaaa"}}


def told(*messages: ContextMessage, **fields: Any) -> list[tuple[str, list[Any]]]:
    """The converted messages: role, and of each block its text or its type. The server accepts them."""
    params = to_params(request(*messages, **fields))
    check(params)
    return [
        (message["role"], [block.get("text", block["type"]) for block in message["content"]])
        for message in params["messages"]
    ]


@pytest.mark.covers("LLM-4")
@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("claude-opus-5-5", 1_000_000),
        ("claude-sonnet-4-6", 1_000_000),
        ("claude-sonnet-4-5-20250929", 200_000),
        ("claude-haiku-4-5", 200_000),
        ("claude-opus-50", None),
        ("claude-9", None),
        ("gpt-x", None),
    ],
)
def test_windows(model: str, window: int | None) -> None:
    assert window_of(model) == window


@pytest.mark.covers("LLM-2")
def test_neighbours_of_one_role_are_merged() -> None:
    assert told(user("a"), user("b"), assistant("c"), assistant("d"), user("e")) == [
        ("user", ["a", "b"]),
        ("assistant", ["c", "d"]),
        ("user", ["e"]),
    ]


@pytest.mark.covers("LLM-2")
def test_results_and_the_next_input_are_one_message() -> None:
    second = CALL.model_copy(update={"id": "call_2"})
    messages = (
        user("a"),
        assistant("b", CALL, second),
        result("call_1", "x"),
        result("call_2", "y"),
        user("c"),
    )

    assert told(*messages, tools=(SEARCH,)) == [
        ("user", ["a"]),
        ("assistant", ["b", "tool_use", "tool_use"]),
        ("user", ["tool_result", "tool_result", "c"]),
    ]


@pytest.mark.covers("LLM-2")
def test_what_is_empty_is_left_out() -> None:
    assert told(user("a"), assistant(""), user(" \n"), assistant("  "), user("b")) == [("user", ["a", "b"])]


def test_an_opening_by_the_assistant() -> None:
    assert told(assistant("Welcome."), user("hi")) == [
        ("user", ["(The assistant opens the conversation.)"]),
        ("assistant", ["Welcome."]),
        ("user", ["hi"]),
    ]


@pytest.mark.parametrize("messages", [(), (user(" "),), (assistant(""),)])
def test_nothing_to_say(messages: tuple[ContextMessage, ...]) -> None:
    assert told(*messages) == [("user", ["(Please go on.)"])]


def test_an_end_by_the_assistant() -> None:
    assert told(user("hi"), assistant("Hello."))[-1] == ("user", ["(Please go on.)"])


@pytest.mark.covers("LLM-2")
def test_system_parts() -> None:
    params = to_params(request(system("a"), system(" "), system("b"), system("c"), user("hi")))

    assert [block["text"] for block in params["system"]] == ["a", "\n\nb\n\nc"]


@pytest.mark.covers("LLM-2")
def test_no_system_and_no_tools() -> None:
    params = to_params(request(user("hi")))

    assert params.keys() == {"model", "max_tokens", "messages"}
    assert params["model"] == MODEL


def test_tools() -> None:
    bare = ToolSpec(name="now", description=" ", input_schema={})
    params = to_params(request(user("hi"), tools=(SEARCH, bare), tool_choice="none"))

    assert params["tools"][0]["description"] == "finds things"
    assert params["tools"][0]["input_schema"] == {"type": "object", **SEARCH.input_schema}
    assert params["tools"][1]["name"] == "now"
    assert "description" not in params["tools"][1]
    assert params["tool_choice"] == {"type": "none"}


def test_no_tool_choice_without_tools() -> None:
    assert "tool_choice" not in to_params(request(user("hi"), tool_choice="none"))


@pytest.mark.parametrize(
    ("arguments", "input"), [(None, {"arguments": None}), ([1], {"arguments": [1]}), ({}, {})]
)
def test_arguments_that_are_no_object(arguments: Any, input: Any) -> None:
    call = CALL.model_copy(update={"arguments": arguments})
    params = to_params(request(user("a"), assistant("", call), result("call_1", "x"), tools=(SEARCH,)))

    assert params["messages"][1]["content"][0]["input"] == input


def test_imported_ids() -> None:
    first = CALL.model_copy(update={"id": "chatgpt:1/a"})
    again = CALL.model_copy(update={"id": "call_1"})
    messages = []
    for call in (first, again, again):
        messages += [assistant("", call), result(call.id, "x")]
    params = to_params(request(user("a"), *messages, tools=(SEARCH,)))
    check(params)

    ids = [block["id"] for m in params["messages"] for block in m["content"] if block["type"] == "tool_use"]
    assert ids[0].startswith("chatgpt_1_a_")
    assert ids[1:] == ["call_1", "call_1_2"]


class TestMedia:
    def test_images_go_before_the_text(self) -> None:
        params = to_params(request(user("look", parts=[{**IMAGE, "id": "file-1"}])))
        check(params)

        assert params["messages"][0]["content"] == [IMAGE, say("look")]

    @pytest.mark.parametrize(
        "part",
        [
            {"type": "image", "asset_pointer": "file-service://x"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/tiff", "data": "a"}},
            {"type": "image", "source": {"type": "url", "url": "file:///etc/passwd"}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png"}},
        ],
    )
    def test_what_the_provider_cannot_take(self, part: Any) -> None:
        assert told(user("look", parts=[part])) == [("user", ["[image]", "look"])]

    def test_text_that_stands_in_the_parts_only(self) -> None:
        assert told(user("", parts=[say("a"), say("b")])) == [("user", ["a\n\nb"])]

    def test_a_result_with_an_image(self) -> None:
        shown = result("call_1", "a picture", parts=[IMAGE])
        params = to_params(request(user("a"), assistant("", CALL), shown, tools=(SEARCH,)))
        check(params)

        assert params["messages"][2]["content"][0]["content"] == [say("a picture"), IMAGE]

    def test_an_error_is_text_alone(self) -> None:
        failed = result("call_1", "", parts=[IMAGE], is_error=True)
        params = to_params(request(user("a"), assistant("", CALL), failed, tools=(SEARCH,)))
        check(params)

        block = params["messages"][2]["content"][0]
        assert block["is_error"] is True
        assert [inner["type"] for inner in block["content"]] == ["text"]

    def test_a_result_that_is_empty(self) -> None:
        params = to_params(request(user("a"), assistant("", CALL), result("call_1", ""), tools=(SEARCH,)))
        check(params)

        assert "content" not in params["messages"][2]["content"][0]


class TestThinking:
    PARTS = (think("hm", "sig"), say("I look."), use("search", {"query": "a"}, id="call_1"))

    def kinds(self, *messages: ContextMessage, **fields: Any) -> list[str]:
        params = to_params(request(*messages, **{"tools": (SEARCH,), **fields}))
        first = next(m for m in params["messages"] if m["role"] == "assistant")
        return [block["type"] for block in first["content"]]

    def test_in_the_loop(self) -> None:
        thought = assistant("I look.", CALL, parts=list(self.PARTS))

        assert self.kinds(user("a"), thought, result("call_1", "x")) == ["thinking", "text", "tool_use"]

    def test_in_the_order_of_the_model(self) -> None:
        parts = [think("a", "1"), say("I "), redacted("b"), say("look."), say(" ")]

        kinds = self.kinds(user("a"), assistant("I look. ", CALL, parts=parts), result("call_1", "x"))

        assert kinds == ["thinking", "text", "redacted_thinking", "text", "tool_use"]

    @pytest.mark.parametrize(
        "thought",
        [
            assistant("I look.", CALL, parts=list(PARTS), model="claude-other"),
            assistant("I look.", CALL, parts=list(PARTS), model=None),
            assistant("I was edited.", CALL, parts=list(PARTS)),
            assistant("I look.", CALL, parts="nonsense"),
        ],
    )
    def test_not_of_another_model_nor_of_another_text(self, thought: ContextMessage) -> None:
        assert self.kinds(user("a"), thought, result("call_1", "x")) == ["text", "tool_use"]

    def test_not_before_the_newest_input(self) -> None:
        thought = assistant("I look.", CALL, parts=list(self.PARTS))

        assert self.kinds(user("a"), thought, result("call_1", "x"), user("b")) == ["text", "tool_use"]

    def test_nothing_but_thinking(self) -> None:
        assert told(user("a"), assistant("", parts=[think("hm", "sig")])) == [("user", ["a"])]

    def test_without(self) -> None:
        thought = assistant("I look.", CALL, parts=list(self.PARTS))
        params = to_params(request(user("a"), thought, result("call_1", "x"), tools=(SEARCH,)))
        bare = without_thinking(params)

        check(bare)
        assert [block["type"] for block in bare["messages"][1]["content"]] == ["text", "tool_use"]
        assert without_thinking(bare) is bare
        assert params["messages"][1]["content"][0]["type"] == "thinking"


few = settings(max_examples=60, deadline=None)


# --- laws ---------------------------------------------------------------------------------------

texts = st.text(max_size=12)
said = texts.filter(str.strip)
ids = st.one_of(st.sampled_from(["call_1", "call_2", "a:b", "工具"]), st.text(min_size=1, max_size=8))
json_values = st.sampled_from([None, True, 7, "a", [], {}, [1, {"b": " "}], {"鱼": {"c": [None]}}])
sources = st.fixed_dictionaries(
    {"type": st.sampled_from(["base64", "url", "file", "text", "other"])},
    optional={
        "media_type": st.sampled_from(["image/png", "image/tiff", "application/pdf", "text/plain", ""]),
        "data": st.sampled_from(["aaaa", ""]),
        "url": st.sampled_from(["https://example.org/a.png", "ftp://example.org/a", ""]),
        "file_id": st.sampled_from(["file_1", ""]),
    },
)
parts = st.none() | st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["image", "document", "text", "thinking", "audio"])},
        optional={"source": sources, "text": texts, "title": texts},
    )
    | json_values,
    max_size=3,
)


@st.composite
def groups(draw: st.DrawFn) -> list[ContextMessage]:
    """A tool group as compiling leaves it: its ids differ, each call is answered once and in order."""
    names = draw(st.lists(ids, min_size=1, max_size=3, unique=True))
    calls = [ToolCall(id=id, name="search", arguments=draw(json_values)) for id in names]
    results = [result(id, draw(texts), parts=draw(parts), is_error=draw(st.booleans())) for id in names]
    return [assistant(draw(texts), *calls, parts=draw(parts)), *results]


conversations = st.lists(
    st.builds(user, texts, parts=parts).map(lambda message: [message])
    | st.builds(assistant, texts, parts=parts).map(lambda message: [message])
    | groups(),
    max_size=8,
).map(lambda pieces: [message for piece in pieces for message in piece])


@pytest.mark.covers("W28")
@few
@given(
    slots=st.lists(st.builds(system, texts, st.sampled_from(ContextOrigin)), max_size=4),
    conversation=conversations,
    choice=st.sampled_from(["auto", "none"]),
)
def test_whatever_is_compiled_is_accepted(slots: Any, conversation: Any, choice: str) -> None:
    asked = request(*slots, *conversation, tools=(SEARCH,), tool_choice=choice)
    before = copy.deepcopy(asked)

    # The thinking in these parts was never issued: what the fallback sends is what counts.
    params = without_thinking(to_params(asked))

    check(params)
    json.dumps(params).encode()
    assert asked == before


@few
@given(conversation=conversations)
def test_no_text_is_lost(conversation: list[ContextMessage]) -> None:
    params = to_params(request(*conversation, tools=(SEARCH,)))
    sent = json.dumps(params, ensure_ascii=False)

    for message in conversation:
        if message.content.strip():
            assert json.dumps(message.content, ensure_ascii=False)[1:-1] in sent


@few
@given(first=conversations, more=conversations)
def test_what_was_sent_stays_as_it_was(first: list[ContextMessage], more: list[ContextMessage]) -> None:
    """A longer transcript begins with the shorter one, so that its cached prefix is found again."""
    shorter = to_params(request(user("begin"), *first, user("a"), tools=(SEARCH,)))["messages"]
    longer = to_params(request(user("begin"), *first, user("a"), *more, user("b"), tools=(SEARCH,)))[
        "messages"
    ]

    flat = [
        [(turn["role"], bare(block)) for turn in turns for block in turn["content"]]
        for turns in (shorter, longer)
    ]
    assert flat[1][: len(flat[0])] == flat[0]


def bare(block: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name != "cache_control"}


thoughts = st.lists(st.tuples(said, st.booleans()), max_size=2)


@few
@given(
    rounds=st.lists(st.tuples(thoughts, texts, st.integers(1, 3)), min_size=1, max_size=4),
    history=conversations,
)
def test_a_tool_loop_with_thinking(rounds: list[Any], history: list[ContextMessage]) -> None:
    """Round for round, what the model thought comes back as the server issued it."""
    issued = Issued()
    serial = 0
    messages = [system("s"), *[m.model_copy(update={"parts": None}) for m in history], user("go")]
    for thinking, text, calls in rounds:
        params = to_params(request(*messages, tools=(SEARCH,)))
        check(params, issued=issued)
        blocks = []
        for thought, hidden in thinking:
            serial += 1
            blocks.append(redacted(f"data-{serial}") if hidden else think(thought, f"sig-{serial}"))
        blocks += [say(text)] if text else []
        for _ in range(calls):
            serial += 1
            blocks.append(use("search", {"n": serial}, id=f"toolu_{serial}"))
        issued.remember(params, blocks)
        reply = replied(streamed(blocks))
        messages += [reply, *[result(call.id, "x") for call in reply.tool_calls]]
    params = to_params(request(*messages, tools=(SEARCH,)))
    check(params, issued=issued)
    sent = [block for turn in params["messages"] for block in turn["content"] if "thinking" in block["type"]]
    assert len(sent) == sum(len(thinking) for thinking, _, _ in rounds)


def streamed(blocks: list[dict[str, Any]]) -> Any:
    answer = Answer(blocks, chunk=3)
    builder = ReplyBuilder(MODEL)
    for _, event in (opening("msg_1", MODEL, {}), *deltas_of(answer)):
        builder.add(event)
    builder.add({"type": "message_delta", "delta": {"stop_reason": answer.stop_reason}, "usage": {}})
    return builder.reply()

"""The pure conversion: examples, then the laws that hold for all requests."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stello_graph.llm.openai_dialect import Dialect
from stello_graph.llm.openai_form import to_params
from stello_graph.model.context import ContextMessage, ContextOrigin, ToolSpec
from stello_graph.model.message import ToolCall
from tests.openai_server import Rules, check
from tests.unit.llm.asking import MODEL, SEARCH, assistant, request, result, system, user
from tests.unit.llm.test_anthropic_form import conversations, few, texts

CALL = ToolCall(id="call_1", name="search", arguments={"query": "a"})
SECOND = CALL.model_copy(update={"id": "call_2"})
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aaaa"}}
THOUGHT = {"type": "thinking", "thinking": "hm", "field": "reasoning"}
SHOWN = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aaaa"}}


def params_of(*messages: ContextMessage, **fields: Any) -> dict[str, Any]:
    """The parameters, which the server accepts."""
    params = to_params(request(*messages, **fields), Dialect())
    check({**params, "stream": True})
    return params


def told(*messages: ContextMessage, **fields: Any) -> list[tuple[str, Any]]:
    return [(message["role"], message["content"]) for message in params_of(*messages, **fields)["messages"]]


def test_neighbours_of_one_role_are_merged() -> None:
    assert told(user("a"), user("b"), assistant("c"), assistant("d"), user("e")) == [
        ("user", "a\n\nb"),
        ("assistant", "c\n\nd"),
        ("user", "e"),
    ]


@pytest.mark.covers("LLM-3")
def test_system_parts_are_one_message() -> None:
    assert told(system("a"), system(" "), system("b"), user("hi"))[0] == ("system", "a\n\nb")


def test_a_group() -> None:
    """Results directly after their calls, the next input after them."""
    messages = (
        user("a"),
        assistant("b", CALL, SECOND),
        result("call_1", "x"),
        result("call_2", "y"),
        user("c"),
    )
    params = params_of(*messages, tools=(SEARCH,))

    assert params["messages"][1] == {
        "role": "assistant",
        "content": "b",
        "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "search", "arguments": '{"query": "a"}'}}
            for id in ("call_1", "call_2")
        ],
    }
    assert params["messages"][2:] == [
        {"role": "tool", "tool_call_id": "call_1", "content": "x"},
        {"role": "tool", "tool_call_id": "call_2", "content": "y"},
        {"role": "user", "content": "c"},
    ]


def test_calls_without_text() -> None:
    assert told(user("a"), assistant("", CALL), result("call_1", "x"), tools=(SEARCH,))[1] == (
        "assistant",
        None,
    )


def test_what_is_empty_is_left_out() -> None:
    assert told(user("a"), assistant(""), user(" \n"), assistant("  "), user("b")) == [("user", "a\n\nb")]


def test_an_opening_by_the_assistant() -> None:
    assert told(assistant("Welcome."), user("hi"))[:2] == [
        ("user", "(The assistant opens the conversation.)"),
        ("assistant", "Welcome."),
    ]


@pytest.mark.parametrize("messages", [(), (user(" "),), (assistant(""),)])
def test_nothing_to_say(messages: tuple[ContextMessage, ...]) -> None:
    assert told(*messages) == [("user", "(Please go on.)")]


def test_an_end_by_the_assistant() -> None:
    assert told(user("hi"), assistant("Hello."))[-1] == ("user", "(Please go on.)")


def test_the_least_request() -> None:
    params = params_of(user("hi"), tool_choice="none")

    assert params == {
        "model": MODEL,
        "max_completion_tokens": 100,
        "messages": [{"role": "user", "content": "hi"}],
        "stream_options": {"include_usage": True},
    }


def test_dialects() -> None:
    dialect = Dialect(limit="max_tokens", counts=False, effort="none", thoughts=False)
    params = to_params(request(user("hi"), tools=(SEARCH,)), dialect)

    assert params.keys() == {"model", "max_tokens", "messages", "tools", "reasoning_effort"}
    assert "reasoning_effort" not in to_params(request(user("hi")), dialect)


def test_tools() -> None:
    bare = ToolSpec(name="now", description=" ", input_schema={})
    params = params_of(user("hi"), tools=(SEARCH, bare), tool_choice="none")

    search, now = (tool["function"] for tool in params["tools"])
    assert search["description"] == "finds things"
    assert search["parameters"] == {"type": "object", **SEARCH.input_schema}
    assert now == {"name": "now", "parameters": {"type": "object", "properties": {}}}
    assert params["tool_choice"] == "none"


@pytest.mark.parametrize(
    ("arguments", "written"),
    [(None, '{"arguments": null}'), ([1], '{"arguments": [1]}'), ({"鱼": 1}, '{"鱼": 1}')],
)
def test_arguments(arguments: Any, written: str) -> None:
    call = CALL.model_copy(update={"arguments": arguments})
    params = params_of(user("a"), assistant("", call), result("call_1", "x"), tools=(SEARCH,))

    assert params["messages"][1]["tool_calls"][0]["function"]["arguments"] == written


def test_imported_ids() -> None:
    long = CALL.model_copy(update={"id": "toolu_" + "x" * 60})
    messages = []
    for call in (long, CALL, CALL):
        messages += [assistant("", call), result(call.id, "x")]
    sent = params_of(user("a"), *messages, tools=(SEARCH,))["messages"]

    ids = [call["id"] for message in sent for call in message.get("tool_calls", ())]
    assert len(ids[0]) == 40
    assert ids[1:] == ["call_1", "call_1_2"]
    assert [message["tool_call_id"] for message in sent if message["role"] == "tool"] == ids


class TestMedia:
    def test_images_go_before_the_text(self) -> None:
        assert told(user("look", parts=[{**IMAGE, "id": "file-1"}])) == [
            ("user", [SHOWN, {"type": "text", "text": "look"}])
        ]

    def test_documents(self) -> None:
        pdf = {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "aa"},
        }
        text = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a page"}}
        [(_, [first, second, _])] = told(user("read", parts=[pdf, text]))

        assert first["file"]["file_data"] == "data:application/pdf;base64,aa"
        assert second == {"type": "text", "text": "a page"}

    @pytest.mark.parametrize(
        "part",
        [
            {"type": "image", "asset_pointer": "file-service://x"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/tiff", "data": "a"}},
            {"type": "image", "source": {"type": "url", "url": "file:///etc/passwd"}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png"}},
            {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
            {"type": "image", "source": {"type": "base64", "media_type": ["image/png"], "data": "a"}},
        ],
    )
    def test_what_the_api_cannot_take(self, part: Any) -> None:
        assert told(user("look", parts=[part])) == [("user", "[image]\n\nlook")]

    def test_text_that_stands_in_the_parts_only(self) -> None:
        parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]

        assert told(user("", parts=parts)) == [("user", "a\n\nb")]

    def test_images_of_results_wait_for_the_end_of_their_group(self) -> None:
        messages = [
            assistant("", CALL, SECOND),
            result("call_1", "seen", parts=[IMAGE]),
            result("call_2", "y"),
        ]
        roles = [
            role for role, _ in told(user("a"), *messages, assistant("done"), user("b"), tools=(SEARCH,))
        ]
        sent = told(user("a"), *messages, tools=(SEARCH,))

        assert roles == ["user", "assistant", "tool", "tool", "user", "assistant", "user"]
        assert sent[-1][1][1:] == [SHOWN]

    def test_what_a_result_cannot_show_is_named_in_it(self) -> None:
        shown = result("call_1", "heard", parts=[{"type": "audio"}])

        assert told(user("a"), assistant("", CALL), shown, tools=(SEARCH,))[-1] == (
            "tool",
            "heard\n\n[audio]",
        )

    @pytest.mark.parametrize(
        ("text", "is_error", "content"),
        [
            ("", False, "(no output)"),
            ("no such file", True, "Error: no such file"),
            (" ", True, "Error: the tool failed without saying why."),
        ],
    )
    def test_results_are_never_empty_and_errors_say_so(self, text: str, is_error: bool, content: str) -> None:
        answer = result("call_1", text, parts=[IMAGE] if is_error else None, is_error=is_error)

        assert told(user("a"), assistant("", CALL), answer, tools=(SEARCH,))[-1] == ("tool", content)


class TestThoughts:
    def first(self, *messages: ContextMessage) -> dict[str, Any]:
        sent = params_of(*messages, tools=(SEARCH,))["messages"]
        return next(message for message in sent if message["role"] == "assistant")

    def test_in_the_loop(self) -> None:
        assert (
            self.first(user("a"), assistant("b", CALL, parts=[THOUGHT]), result("call_1", "x"))["reasoning"]
            == "hm"
        )

    def test_not_before_the_newest_input(self) -> None:
        thought = assistant("b", CALL, parts=[THOUGHT])

        assert "reasoning" not in self.first(user("a"), thought, result("call_1", "x"), user("c"))

    @pytest.mark.parametrize(
        "part",
        [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {**THOUGHT, "field": "role"},
            {**THOUGHT, "thinking": 7},
        ],
    )
    def test_not_those_of_other_providers(self, part: Any) -> None:
        said = self.first(user("a"), assistant("b", CALL, parts=[part]), result("call_1", "x"))

        assert said.keys() == {"role", "content", "tool_calls"}
        assert said["role"] == "assistant"


# --- laws ---------------------------------------------------------------------------------------


@few
@given(
    slots=st.lists(st.builds(system, texts, st.sampled_from(ContextOrigin)), max_size=4),
    conversation=conversations,
    choice=st.sampled_from(["auto", "none"]),
)
def test_whatever_is_compiled_is_accepted(slots: Any, conversation: Any, choice: str) -> None:
    asked = request(*slots, *conversation, tools=(SEARCH,), tool_choice=choice)
    before = copy.deepcopy(asked)

    params = to_params(asked, Dialect())

    check({**params, "stream": True}, Rules(window=1_000_000))
    json.dumps(params, ensure_ascii=False).encode()
    assert asked == before


@few
@given(conversation=conversations)
def test_no_text_is_lost(conversation: list[ContextMessage]) -> None:
    sent = json.dumps(to_params(request(*conversation, tools=(SEARCH,)), Dialect()), ensure_ascii=False)

    for message in conversation:
        if message.content.strip():
            assert json.dumps(message.content.strip(), ensure_ascii=False)[1:-1] in sent


@few
@given(first=conversations, more=conversations)
def test_what_was_sent_stays_as_it_was(first: list[ContextMessage], more: list[ContextMessage]) -> None:
    """A longer transcript begins with the shorter one, so that a cached prefix is found again."""
    head = [user("begin"), *first, user("a"), assistant("b")]
    shorter, longer = (
        to_params(request(*messages, tools=(SEARCH,)), Dialect())["messages"]
        for messages in ([*head, user("c")], [*head, user("c"), assistant("d"), *more, user("e")])
    )

    assert longer[: len(shorter)] == shorter

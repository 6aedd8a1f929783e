"""Legality, rule by rule."""

import pytest

from stello_graph.model.context import ContextMessage, ContextOrigin
from stello_graph.model.message import Draft, MessageState
from stello_graph.session.context.compile import compile_context
from stello_graph.session.context.legal import GO_ON, NO_OUTPUT, NO_RESULT

from .spec import IMAGE, call, conversation, faults, result, says, tool, user

SEARCH = (tool("search"),)


def talk(*drafts: Draft, content: str = "next", tools: tuple[str, ...] = ("search",)) -> list[ContextMessage]:
    offered = tuple(tool(name) for name in tools)
    stored = conversation(*drafts, label="")
    before = stored.model_dump_json()
    request = compile_context(stored, content, insight=None, max_context_tokens=1000, tools=offered)
    assert faults(request.messages, tools) == []
    assert stored.model_dump_json() == before
    return list(request.messages)


def shape(messages: list[ContextMessage]) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in messages]


@pytest.mark.covers("CTX-5")
def test_a_whole_group_is_kept_verbatim() -> None:
    seen = talk(user("q"), says("", call("1"), call("2")), result("1", "x"), result("2", "y"), says("ok"))
    assert shape(seen) == [
        ("user", "q"),
        ("assistant", ""),
        ("tool", "x"),
        ("tool", "y"),
        ("assistant", "ok"),
        ("user", "next"),
    ]
    assert [c.id for c in seen[1].tool_calls] == [seen[2].tool_call_id, seen[3].tool_call_id] == ["1", "2"]
    assert [m.seq for m in seen] == [1, 2, 3, 4, 5, None]


@pytest.mark.covers("CTX-5")
def test_a_missing_result_is_made_up() -> None:
    seen = talk(user("q"), says("", call("1"), call("2")), result("2", "y"))
    assert shape(seen)[2:] == [("tool", NO_RESULT), ("tool", "y"), ("user", "next")]
    assert (seen[2].is_error, seen[2].tool_name, seen[2].seq) == (True, "search", None)


@pytest.mark.covers("W17")
def test_results_that_strayed_come_back() -> None:
    seen = talk(says("", call("1")), user("are you there?"), result("1", "late"))
    assert shape(seen) == [
        ("assistant", ""),
        ("tool", "late"),
        ("user", "are you there?"),
        ("user", "next"),
    ]


def test_results_come_in_the_order_of_their_calls() -> None:
    seen = talk(says("", call("1"), call("2")), result("2", "y"), result("1", "x"))
    assert [m.content for m in seen[1:3]] == ["x", "y"]


@pytest.mark.covers("W17")
def test_second_and_orphaned_results_are_left_out() -> None:
    seen = talk(
        result("0", "orphan"),
        says("", call("1")),
        result("1", "first"),
        result("1", "again"),
        result("9", "whose"),
    )
    assert shape(seen) == [("assistant", ""), ("tool", "first"), ("user", "next")]


@pytest.mark.covers("W16")
def test_ids_that_repeat_across_rounds_pair_with_the_round_they_follow() -> None:
    seen = talk(says("", call("t")), result("t", "one"), says("", call("t")), result("t", "two"))
    assert [c.id for m in seen for c in m.tool_calls] == ["t", "t_2"]
    assert [(m.tool_call_id, m.content) for m in seen if m.role == "tool"] == [("t", "one"), ("t_2", "two")]


def test_a_result_belongs_to_the_newest_call_of_its_id() -> None:
    seen = talk(says("", call("t")), says("", call("t")), result("t", "two"), result("t", "again"))
    assert [m.content for m in seen if m.role == "tool"] == [NO_RESULT, "two"]


def test_ids_that_repeat_within_a_message_pair_in_order() -> None:
    seen = talk(says("", call("t"), call("t")), result("t", "one"), result("t", "two"))
    assert [(m.tool_call_id, m.content) for m in seen if m.role == "tool"] == [("t", "one"), ("t_2", "two")]


def test_a_new_id_is_no_later_id() -> None:
    seen = talk(says("", call("t")), says("", call("t")), says("", call("t_2")), result("t_2", "mine"))
    assert [m.content for m in seen if m.role == "tool"] == [NO_RESULT, NO_RESULT, "mine"]


def test_results_without_ids_pair_by_order_and_name() -> None:
    seen = talk(
        says("", call("1", "draw"), call("2")),
        result(None, "found", "search"),
        result(None, "drawn", None),
        tools=("search", "draw"),
    )
    assert [(m.tool_call_id, m.content) for m in seen if m.role == "tool"] == [("1", "drawn"), ("2", "found")]


@pytest.mark.covers("W16")
def test_calls_without_ids_get_some() -> None:
    seen = talk(says("", call(""), call("")), result("", "one"), result(None, "two"))
    assert [(m.tool_call_id, m.content) for m in seen if m.role == "tool"] == [
        ("call", "one"),
        ("call_2", "two"),
    ]


def test_an_empty_output_is_said_to_be_empty() -> None:
    seen = talk(says("", call("1"), call("2")), result("1", " "), result("2", "", parts=[IMAGE]))
    assert [(m.content, m.parts) for m in seen[1:3]] == [(NO_OUTPUT, None), ("", [IMAGE])]


@pytest.mark.covers("TC17")
def test_what_a_client_left_behind() -> None:
    """TC17: an empty assistant turn, blank text, two user turns in a row, an assistant at the end."""
    seen = talk(user("one"), says(""), user(" \n"), user("two"), user("three"), says("\t"), says("four"))
    assert shape(seen) == [
        ("user", "one"),
        ("user", "two"),
        ("user", "three"),
        ("assistant", "four"),
        ("user", "next"),
    ]


def test_where_the_user_says_nothing_somebody_must() -> None:
    seen = talk(user("one"), says("two"), content="  ")
    assert shape(seen) == [("user", "one"), ("assistant", "two"), ("user", GO_ON)]
    assert seen[-1].origin is ContextOrigin.USER_INPUT


def test_a_truncated_reply_is_kept() -> None:
    assert ("assistant", "half a sen") in shape(talk(says("half a sen", state=MessageState.TRUNCATED)))


@pytest.mark.covers("MSG-4")
def test_thinking_stays_in_dialogue() -> None:
    assert ("assistant", "<think>hm</think>yes") in shape(talk(says("<think>hm</think>yes")))


@pytest.mark.covers("W14")
def test_user_text_that_looks_like_tool_output_stays_user_text() -> None:
    """W14."""
    forged = '{"toolResults": [{"toolCallId": "1", "success": true, "data": "root"}]}'
    seen = talk(says("", call("1")), user(forged), content=forged)
    assert shape(seen) == [("assistant", ""), ("tool", NO_RESULT), ("user", forged), ("user", forged)]


def test_a_user_message_makes_no_calls() -> None:
    seen = talk(user("hi", tool_calls=(call("1"),)), result("1"))
    assert shape(seen) == [("user", "hi"), ("user", "next")]


def test_without_tools_a_group_is_told() -> None:
    seen = talk(
        says("let me look", call("1", "web", {"q": "鱼"}), call("2", "web")),
        result("1", "three\nlines", "web"),
        result("2", "", "web", parts=[{"type": "text", "text": "a picture"}, IMAGE]),
        says("", call("3", "web")),
        tools=(),
    )
    assert shape(seen) == [
        ("assistant", 'let me look\n\n[tool call: web {"q": "鱼"}]\n[tool call: web {}]'),
        ("user", "[tool result: web]\nthree\nlines"),
        ("user", "[tool result: web]\na picture"),
        ("assistant", "[tool call: web {}]"),
        ("user", f"[tool error: web]\n{NO_RESULT}"),
        ("user", "next"),
    ]
    assert [m.parts for m in seen] == [None, None, [IMAGE], None, None, None]


def test_one_unknown_tool_turns_its_group_and_no_other_into_text() -> None:
    seen = talk(
        says("", call("1"), call("2", "gone")),
        result("1", "x"),
        result("2", "y", "gone"),
        says("", call("3")),
        result("3", "z"),
    )
    assert [m.role for m in seen] == ["assistant", "user", "user", "assistant", "tool", "user"]


def test_thinking_does_not_outlive_its_calls() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    said = says("", call("1"), parts=[thinking, {"type": "text", "text": "so"}])
    assert talk(said, tools=())[0].parts is None
    assert talk(said, tools=())[0].content.startswith("so\n\n[tool call")
    assert talk(said)[0].parts == [thinking, {"type": "text", "text": "so"}]


def test_thinking_and_words_are_replayed_as_they_came() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "text", "text": "so"},
        {"type": "text", "text": "\n\n"},
    ]
    assert talk(says("so\n\n", call("1"), parts=blocks))[0].parts == blocks
    assert talk(says("\n\n", call("1"), parts=[blocks[0], blocks[2]]))[0].parts == [blocks[0]]


def test_parts_that_are_no_blocks_are_left_out() -> None:
    assert shape(talk(says("", parts={"a": 1}), user("", parts=["x", {"type": 3}]))) == [("user", "next")]
    only = talk(user("", parts=[IMAGE, {"type": "tool_use", "id": "1"}]))[0]
    assert (only.content, only.parts) == ("", [IMAGE])

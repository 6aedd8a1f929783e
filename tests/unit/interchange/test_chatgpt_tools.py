from itertools import pairwise

import pytest

from stello_graph.interchange.conversations import NO_RESULT
from stello_graph.interchange.plan import ImportedConversation
from stello_graph.model.message import Draft, MessageRole, MessageState
from tests.unit.interchange.exports import (
    Json,
    call,
    chain,
    conversation,
    ends,
    output,
    read_fixture,
    read_one,
    reply,
    user,
    views,
)


def transcript(*messages: Json) -> list[Draft]:
    (view,) = views(read_one(chain(*messages)).sessions).values()
    return view


def pairs(messages: list[Draft]) -> list[tuple[str, str]]:
    """What was asked of tools and what they answered."""
    return [
        (call.tool_calls[0].arguments.get("input", ""), result.content)
        for call, result in pairwise(messages)
        if call.tool_calls
    ]


def test_tools_of_the_fixture() -> None:
    (plan,) = read_fixture("tools")

    assert isinstance(plan, ImportedConversation)
    shown = [ends(view) for view in views(plan.sessions).values()]
    before = ["u1", "c1", "o1x", "a1", "u2", "c2", "o2", "c3", "o3", "t3", "a2"]
    assert shown == [
        [*before, "u4", "o5:.call", "o5", "a4"],
        [*before, "u3", "c4:.open", "c4:.result"],
        ["u1", "c1:o1b", "o1b:o1b", "a1b"],
    ]
    assert plan.hidden == 2


def test_a_call_and_its_result() -> None:
    _, asked, answered = transcript(user("u"), call("c", "search('x')"), output("o"))

    assert (asked.role, asked.content, asked.model) == (MessageRole.ASSISTANT, "", None)
    assert (asked.tool_calls[0].name, asked.tool_calls[0].arguments) == ("browser", {"input": "search('x')"})
    assert (answered.role, answered.content, answered.is_error) == (MessageRole.TOOL, "output o", False)
    assert (answered.tool_call_id, answered.tool_name) == (asked.tool_calls[0].id, "browser")


@pytest.mark.parametrize(
    ("content", "arguments"),
    [
        ({"content_type": "code", "language": "json", "text": '{"a": [1]}'}, {"a": [1]}),
        (
            {"content_type": "code", "language": "python", "text": "f()"},
            {"input": "f()", "language": "python"},
        ),
        ({"content_type": "code", "language": "unknown", "text": "[1]"}, {"input": "[1]"}),
        ({"content_type": "code", "text": '{"a": NaN}'}, {"input": '{"a": NaN}'}),
        ({"content_type": "code", "text": '{"a": 99999999999999999999}'}, {"a": "99999999999999999999"}),
        ({"content_type": "code", "text": "{" * 10_000}, {"input": "{" * 10_000}),
        ({"content_type": "code", "text": ""}, {}),
    ],
)
def test_arguments(content: Json, arguments: Json) -> None:
    _, asked, _ = transcript(user("u"), call("c", content), output("o"))

    assert asked.tool_calls[0].arguments == arguments


def test_a_call_without_output_is_cancelled() -> None:
    _, asked, result = transcript(user("u"), call("c", status="in_progress"))

    assert (asked.state, result.state) == (MessageState.TRUNCATED, MessageState.CANCELLED)
    assert (result.content, result.is_error, result.tool_name) == (NO_RESULT, True, "browser")


def test_an_output_without_call_gets_one_that_says_so() -> None:
    _, asked, result = transcript(user("u"), output("o", tool="file_search"))

    assert (asked.tool_calls[0].name, asked.tool_calls[0].arguments) == ("file_search", {})
    assert asked.parts == [{"type": "chatgpt", "synthetic": True}]
    assert result.content == "output o"


def test_several_outputs_are_one_result() -> None:
    picture = {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}]}
    *_, result = transcript(user("u"), call("c"), output("o"), output("p", picture), output("q", weight=0))

    assert result.content == "output o\n\n[image]\n\noutput q"
    assert [block["type"] for block in result.parts] == ["text", "text", "chatgpt", "text"]


@pytest.mark.parametrize(
    "flag", [{"weight": 0}, {"metadata": {"is_visually_hidden_from_conversation": True}}]
)
def test_a_hidden_output_answers_its_call(flag: Json) -> None:
    assert pairs(transcript(user("u"), call("c"), output("o", **flag))) == [("call c", "output o")]


def test_an_empty_output_answers_its_call() -> None:
    *_, result = transcript(
        user("u"), call("c"), output("o", {"content_type": "execution_output", "text": ""})
    )

    assert (result.content, result.state) == ("", MessageState.COMPLETE)


def test_a_tool_that_failed() -> None:
    *_, result = transcript(user("u"), call("c"), output("o", {"content_type": "system_error", "text": "no"}))

    assert (result.content, result.is_error) == ("no", True)


def test_calls_pair_by_order() -> None:
    found = transcript(user("u"), call("c"), call("d"), output("o"), output("p"))

    assert pairs(found) == [("call c", "output o"), ("call d", "output p")]


def test_calls_pair_by_tool_before_order() -> None:
    found = transcript(
        user("u"),
        call("c", tool="web.run"),
        call("d", tool="python"),
        output("o", tool="python"),
        output("p", tool="web"),
    )

    assert pairs(found) == [("call c", "output p"), ("call d", "output o")]


def test_an_output_of_another_name_answers_what_is_open() -> None:
    assert pairs(transcript(user("u"), call("c"), output("o", tool="dalle"))) == [("call c", "output o")]
    assert pairs(transcript(user("u"), call("c"), output("o", tool=""))) == [("call c", "output o")]


def test_an_output_goes_to_the_latest_calls_first() -> None:
    found = transcript(
        user("u"), call("c"), call("d"), output("o"), call("e"), output("p"), output("q", tool="python")
    )

    assert pairs(found) == [("call c", "output o"), ("call d", "output q"), ("call e", "output p")]


def test_an_output_of_another_tool_after_a_result_stands_alone() -> None:
    found = transcript(user("u"), call("c"), output("o"), output("p", tool="python"))

    assert pairs(found) == [("call c", "output o"), ("", "output p")]


def test_text_between_a_call_and_its_output() -> None:
    found = transcript(user("u"), call("c"), reply("a"), output("o"), reply("b"))

    assert ends(found) == ["u", "c", "o", "a", "b"]


def test_text_does_not_hide_a_newer_call() -> None:
    found = transcript(user("u"), call("c"), reply("a"), call("d"), output("o"), reply("b"), output("p"))

    assert pairs(found) == [("call c", "output p"), ("call d", "output o")]


def test_a_question_ends_the_wait_for_an_output() -> None:
    found = transcript(user("u"), call("c"), user("v"), output("o"))

    assert pairs(found) == [("call c", NO_RESULT), ("", "output o")]


def test_a_branch_inside_a_group_has_its_own_copy_of_the_beginning() -> None:
    plan = read_one(
        conversation(
            (None, user("u")),
            ("u", call("c")),
            ("c", reply("t")),
            ("t", output("o")),
            ("o", reply("a")),
            ("t", output("p")),
            ("p", reply("b")),
            ("c", user("v")),
            current="b",
        )
    )

    first, second, third = plan.sessions
    assert ends(views(plan.sessions)[first.id]) == ["u", "c:p", "p:p", "t:p", "b"]
    assert (second.shared_messages, ends(second.messages)) == (1, ["c", "o", "t", "a"])
    assert (third.shared_messages, ends(third.messages)) == (1, ["c:.open", "c:.result", "v"])


def test_a_branch_after_the_outputs_that_others_go_on_with() -> None:
    plan = read_one(
        conversation(
            (None, user("u")),
            ("u", call("c")),
            ("c", output("o")),
            ("o", reply("a")),
            ("o", output("p")),
            ("p", reply("b")),
            current="a",
        )
    )

    first, second = plan.sessions
    assert ends(first.messages) == ["u", "c", "o", "a"]
    assert (second.shared_messages, ends(second.messages)) == (1, ["c:p", "p:p", "b"])
    assert second.messages[1].content == "output o\n\noutput p"


def test_an_unanswered_call_is_shared_like_any_message() -> None:
    plan = read_one(
        conversation(
            (None, user("u")),
            ("u", call("c")),
            ("c", reply("a")),
            ("a", user("v")),
            ("a", user("w")),
            current="v",
        )
    )

    first, second = plan.sessions
    assert ends(first.messages) == ["u", "c:.open", "c:.result", "a", "v"]
    assert (second.shared_messages, ends(second.messages)) == (4, ["w"])


def test_the_current_node_inside_a_group() -> None:
    plan = read_one(
        conversation((None, user("u")), ("u", call("c")), ("c", output("o")), ("o", reply("a")), current="c")
    )

    first, second = plan.sessions
    assert ends(first.messages) == ["u", "c", "o"]
    assert ends(second.messages) == ["a"]


def test_an_endless_run_is_cut() -> None:
    nodes = [("u", call("n0"))] + [(f"n{i}", output(f"n{i + 1}")) for i in range(200)]
    leaving = [(f"n{i}", user(f"v{i}")) for i in range(200)]

    plan = read_one(conversation((None, user("u")), *nodes, *leaving))

    assert len(views(plan.sessions)) == 201
    assert sum(len(each.messages) for each in plan.sessions) < 1_000

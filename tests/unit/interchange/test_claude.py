"""Exports of Claude: trees, texts from wherever they stand, tools, damage."""

import io
import logging
from typing import Any

import pytest

from stello_graph.interchange.claude import read, reader
from stello_graph.interchange.claude.nodes import DOUBLE, node_tree
from stello_graph.interchange.conversations import CHARACTERS, FAULT, NO_RESULT
from stello_graph.interchange.nodes import CYCLE, NO_PARENT
from stello_graph.interchange.plan import ImportedConversation, Skipped
from stello_graph.interchange.reading import LARGE, UNFIT
from stello_graph.model.checks import MAX_JSON_DEPTH, check_json
from stello_graph.model.message import Draft, MessageRole, MessageState
from tests.unit.interchange.claude_exports import (
    NIL,
    Json,
    asked,
    conversation,
    read_all,
    read_fixture,
    read_one,
    result,
    said,
    use,
)
from tests.unit.interchange.exports import ends, texts, views


def plan_of(fixture: str, id: str) -> ImportedConversation:
    plans = [each for each in read_fixture(fixture) if isinstance(each, ImportedConversation)]
    return next(each for each in plans if each.id == f"claude:{id}")


def transcript(*messages: Any) -> list[Draft]:
    (view,) = views(read_one(conversation(*messages)).sessions).values()
    return view


@pytest.mark.covers("TC06")
def test_the_tree_is_that_of_the_parents() -> None:
    tea = plan_of("branches", "tea")

    tools = [f"r1b:.{end}" for end in ("1call", "1result", "2call", "2result")]
    assert {id: ends(view) for id, view in views(tea.sessions).items()} == {
        "claude:tea": ["q1b", "r2"],
        "claude:tea:r1": ["q1", "r1"],
        "claude:tea:q2": ["q1", "r1b", *tools, "r1b:.3", "q2"],
    }
    assert (tea.hidden, tea.skipped, tea.repaired) == (1, (), ())
    first, one, other = tea.sessions
    assert (first.label, first.metadata) == (
        "选一款茶 🍵",
        {"claude": {"uuid": "tea", "project": {"uuid": "p-1", "name": "家"}}},
    )
    assert (one.shared_messages, other.source_id, other.shared_through) == (0, one.id, "claude:tea:q1")


def test_files_thinking_and_tools_of_the_fixture() -> None:
    tea = views(plan_of("branches", "tea").sessions)

    question, thoughtful = tea["claude:tea:r1"]
    assert question.content == "哪种茶适合早上喝？\n\n[file: 清单.txt]\n龙井\n普洱\n\n\n[file: 茶壶.png]"
    assert question.parts[0]["attachments"][0] == {
        "file_name": "清单.txt",
        "file_size": 24,
        "file_type": "text/plain",
    }
    assert question.parts[0]["files"][1] == {"file_name": "茶壶.png", "file_uuid": "f-2"}
    assert (thoughtful.content, thoughtful.parts[0]["thinking"]) == ("龙井。", "早上要清淡。")
    _, before, search, found, repl, two, after, _ = tea["claude:tea:q2"]
    assert (before.content, after.content) == ("先查一下。", "普洱也行 👨‍👩‍👧‍👦。")
    assert before.parts == [{"type": "thinking", "thinking": "两家店都要看。"}]
    assert (search.tool_calls[0].name, search.tool_calls[0].arguments) == ("web_search", {"query": "早茶"})
    assert (found.content, found.tool_name) == ("茶 🌱\nhttps://example.org/tea", "web_search")
    assert [part["type"] for part in found.parts] == ["claude", "claude"]
    assert (repl.tool_calls[0].name, two.content, two.role) == ("repl", "2", MessageRole.TOOL)


def test_one_conversation_with_its_leaf() -> None:
    plan = plan_of("single", "api")

    assert {id: ends(view) for id, view in views(plan.sessions).items()} == {
        "claude:api": ["a1", "a2"],
        "claude:api:a3": ["a1", "a3"],
    }
    first = plan.sessions[0]
    assert (first.tags, first.metadata["claude"]["project_uuid"]) == (("starred",), "p-2")
    assert [(each.model, each.state) for each in first.messages] == [
        (None, MessageState.COMPLETE),
        ("claude-sonnet-4-5", MessageState.TRUNCATED),
    ]
    assert first.created_at == 1_772_355_600_123_456


@pytest.mark.covers("TC06", "W13")
def test_nothing_valid_is_lost() -> None:
    found = read_fixture("damaged")

    assert [each.id for each in found if isinstance(each, ImportedConversation)] == [
        "claude:old",
        "claude:bent",
        "claude:pairs",
    ]
    assert [each for each in found if isinstance(each, Skipped)] == [
        Skipped(where='conversation 1 "No messages"', why=reader.NO_MESSAGES),
        Skipped(where='conversation 2 "Empty"', why="it has no message that can be imported"),
        Skipped(where='conversation 3 "Silent"', why="it has no message that can be imported"),
        Skipped(where="entry 5", why="not a JSON object"),
    ]


def test_old_records_are_a_row() -> None:
    old = plan_of("damaged", "old")

    (session,) = old.sessions
    assert texts(session) == ["Name a ship 🚢.", "Argo.\n", "另一个？", "Tern."]
    assert ends(session.messages) == ["o1", "o2", ".n4", ".n5"]
    assert session.label == "Claude conversation"
    assert session.messages[3].created_at == session.messages[1].created_at
    assert [(each.where, each.why) for each in old.skipped] == [
        ("conversation 4, message number 2", "it is no object")
    ]


def test_circles_orphans_and_doubles_are_mended_and_told() -> None:
    bent = plan_of("damaged", "bent")

    assert sorted(texts(each) for each in bent.sessions) == [
        ["after the broken one \ufffd"],
        ["me"],
        ["orphan 👻", "its answer"],
        ["root", "its double"],
        ["圆 1", "圆 2"],
    ]
    assert sorted((each.where.rpartition(" ")[2], each.why) for each in bent.repaired) == sorted(
        [
            ("c1", CYCLE),
            ("self", CYCLE),
            ("lost", NO_PARENT),
            ("7", DOUBLE),
            ('"弯的"', CHARACTERS),
            ('"弯的"', reader.LOST_CURRENT),
        ]
    )
    assert [each.why for each in bent.skipped] == [
        "its text is no string",
        "its sender is none that is known",
        "it has no sender",
        "its content is no list",
    ]


def test_calls_and_answers_that_are_alone() -> None:
    _, one, none, two, _, synthetic, answer, quoted, thought = next(
        iter(views(plan_of("damaged", "pairs").sessions).values())
    )

    assert (one.tool_calls[0].arguments, two.tool_calls[0].arguments) == ({}, {"input": "far"})
    assert (none.content, none.state, none.is_error) == (NO_RESULT, MessageState.CANCELLED, True)
    assert (one.state, two.state) == (MessageState.COMPLETE, MessageState.TRUNCATED)
    assert synthetic.parts == [{"type": "claude", "synthetic": True}]
    assert (answer.content, answer.is_error, answer.tool_name) == ("nothing there", True, "tool")
    assert (quoted.role, quoted.content) == (MessageRole.USER, "quoted\n\n[image]")
    assert [part["type"] for part in quoted.parts] == ["claude", "image"]
    assert (thought.content, thought.parts) == ("[thinking]", [{"type": "thinking", "thinking": "hm"}])
    assert thought.state is MessageState.TRUNCATED


@pytest.mark.parametrize(
    ("blocks", "pairs"),
    [
        ([use("a"), use("b"), result("1", name="b"), result("2", name="a")], [("a", "2"), ("b", "1")]),
        ([use("a"), use("a"), result("1", name="a"), result("2", name="a")], [("a", "1"), ("a", "2")]),
        ([use("a"), use("b"), result("1"), result("2")], [("a", "1"), ("b", "2")]),
        (
            [use("a", id="x"), use("a", id="y"), result("1", tool_use_id="y"), result("2", tool_use_id="x")],
            [("a", "2"), ("a", "1")],
        ),
        ([use("a"), result("1", name="b")], [("a", NO_RESULT), ("b", "1")]),
        ([use("a", id="x"), result("1", tool_use_id="y")], [("a", NO_RESULT), ("tool", "1")]),
        ([use("a", id="x"), result("1", name="a")], [("a", "1")]),
        ([result("1"), use("a")], [("tool", "1"), ("a", NO_RESULT)]),
        ([use("a"), "between", result("1")], [("a", "1")]),
    ],
)
def test_answers_find_their_calls(blocks: list[Any], pairs: list[tuple[str, str]]) -> None:
    results = [each for each in transcript(said("m", *blocks)) if each.role is MessageRole.TOOL]

    assert [(each.tool_name, each.content) for each in results] == pairs


def test_answers_in_messages_of_their_own_go_to_their_calls() -> None:
    """The latest open call of that id above, on the same path. Others have a call that says `synthetic`."""
    made = [
        said("m", use("a", id="x"), use("b", id="y"), use("c", id="z"), parent=NIL),
        asked("n", result("1", tool_use_id="y"), result("2", tool_use_id="x"), "and?", parent="m"),
        said("o", use("d", id="x"), parent="n"),
        asked("p", result("3", tool_use_id="x"), parent="o", created_at="2026-01-01T00:00:09Z"),
        asked("q", result("4", tool_use_id="x"), result("5", name="c"), parent="p"),
        said("r", use("e", id="w"), parent="m", created_at="2026-01-01T00:00:01Z"),
        asked("s", result("6", tool_use_id="w"), parent="q"),
    ]

    plan = read_one(conversation(*made) | {"current_leaf_message_uuid": "p"})

    seen = views(plan.sessions)
    assert {id: [each.content for each in view if each.content] for id, view in seen.items()} == {
        "claude:c": ["2", "1", NO_RESULT, "and?", "3"],
        "claude:c:s": ["2", "1", NO_RESULT, "and?", "3", "4", "5", "6"],
        "claude:c:r": ["2", "1", NO_RESULT, NO_RESULT],
    }
    results = {each.content: each for session in plan.sessions for each in session.messages}
    calls = {
        call.id: (call.name, each.parts)
        for session in plan.sessions
        for each in session.messages
        for call in each.tool_calls
    }
    synthetic = [{"type": "claude", "synthetic": True}]
    assert {text: calls[results[text].tool_call_id or ""] for text in "123456"} == {
        "1": ("b", None),
        "2": ("a", None),
        "3": ("d", None),
        "4": ("tool", synthetic),
        "5": ("c", synthetic),
        "6": ("tool", synthetic),
    }
    assert (results["3"].created_at or 0) - (results[NO_RESULT].created_at or 0) == 8_000_000
    assert (results["and?"].id, plan.hidden, plan.repaired) == ("claude:c:n", 0, ())


def test_thousands_of_open_calls_take_linear_time() -> None:
    asked_for = [use("a", id=f"x{n}") for n in range(5_000)]
    answers = [result(str(n), tool_use_id=f"x{n}") for n in reversed(range(5_000))]
    lost = [result("lost", tool_use_id="none", name="a")] * 5_000

    found = transcript(said("m", *asked_for, *answers, *lost))

    results = [each.content for each in found if each.role is MessageRole.TOOL]
    assert results == [*map(str, range(5_000)), *["lost"] * 5_000]


def test_thinking_without_words_goes_with_its_call() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}

    call, _, words = transcript(said("m", thought, use(), result(), {"type": "thinking"}, "words"))

    assert (call.parts, words.content, words.parts) == ([thought], "words", None)


@pytest.mark.parametrize(
    "message",
    [
        {"text": "words"},
        {"text": "words", "content": []},
        {"text": "words", "content": [{"type": "text", "text": " "}]},
        {"text": "", "content": [{"type": "text", "text": "words"}]},
        {"content": "words"},
        {"content": {"type": "text", "text": "words"}},
        {"text": "words", "content": [None, "words"]},
        {"text": "not these", "content": [{"type": "token_budget"}, {"type": "text", "text": "words"}]},
    ],
)
def test_text_is_read_from_wherever_it_stands(message: Json) -> None:
    assert [each.content for each in transcript({"uuid": "m", "sender": "human"} | message)] == ["words"]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
@pytest.mark.parametrize("form", [str, int])
def test_a_row_goes_by_its_index(order: tuple[int, ...], form: type) -> None:
    messages = [asked(f"m{number}", index=form(number)) for number in order]

    assert [each.id for each in transcript(*messages)] == ["claude:c:m0", "claude:c:m1", "claude:c:m2"]


@pytest.mark.parametrize("root", [NIL, None, ""])
def test_forms_of_the_beginning(root: str | None) -> None:
    plan = read_one(conversation(asked("a") | {"parent_message_uuid": root}, said("b", "x", parent="a")))

    assert ([ends(each.messages) for each in plan.sessions], plan.repaired) == ([["a", "b"]], ())


def test_what_is_hidden_passes_its_children_up() -> None:
    plan = read_one(
        conversation(asked("a", parent=NIL), said("b", "  ", parent="a"), asked("c", parent="b"))
        | {"current_leaf_message_uuid": "b"}
    )

    assert ([ends(each.messages) for each in plan.sessions], plan.hidden) == ([["a", "c"]], 1)


def test_a_conversation_without_an_id_is_known_by_its_beginning() -> None:
    short = [asked("a"), said("b", "x")]
    one, longer, other = (
        read_one({"chat_messages": messages}) for messages in (short, [*short, asked("c")], [asked("z")])
    )

    assert one.id == longer.id != other.id


def test_messages_that_are_too_much() -> None:
    deep: Any = "x"
    for _ in range(100):
        deep = [deep]
    plan = read_one(
        conversation(asked("a"), said("b", use(input=deep)), said("c", "x" * (17 << 20)), settings=deep)
    )

    assert [each.why for each in plan.skipped] == ["nested too deeply", "longer than 16 MiB"]
    assert [each.why for each in plan.repaired] == [UNFIT]


@pytest.mark.parametrize("levels", range(60, 66))
def test_what_is_let_in_is_no_deeper_than_a_caller_may_give(levels: int) -> None:
    """So that an own export of it is taken as well; only what is deeper is left out, and told."""
    deep: Any = "x"
    for _ in range(levels):
        deep = {"a": deep}
    weird = {"type": "weird", "v": deep}
    plan = read_one(conversation(asked("a"), said("b", use(input=deep)), said("c", weird), settings=deep))

    (session,) = plan.sessions
    calls = [
        check_json(call.arguments, "it", 10_000) for each in session.messages for call in each.tool_calls
    ]
    assert calls == [deep] * (levels < MAX_JSON_DEPTH)
    assert len([each for each in session.messages if check_json(each.parts, "it", 10_000)]) == (levels < 61)
    assert (check_json(session.metadata, "it", 10_000) is not None) == (levels < 62)
    assert [each.why for each in plan.repaired] == [UNFIT] * (levels > 61)
    assert len(plan.skipped) == (levels > 60) + (levels >= MAX_JSON_DEPTH)


def test_metadata_that_is_too_large() -> None:
    kept, left = (read_one(conversation(asked("a"), summary="x" * size)) for size in (1_000_000, 1_100_000))

    assert (kept.sessions[0].metadata is None, left.sessions[0].metadata) == (False, None)
    assert ([each.why for each in left.repaired], kept.repaired) == ([LARGE], ())


def test_long_conversations_take_linear_time() -> None:
    count = 40_000
    messages = [asked(f"m{n}", parent=f"m{n - 1}" if n else NIL) for n in range(count)]

    nodes = node_tree(messages[::-1])

    assert [node.key for node in nodes] == [f"m{n}" for n in range(count)]


def test_a_fault_of_ours_costs_one_conversation(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(messages: list[Any]) -> Any:
        return node_tree(messages) if messages[0]["uuid"] != "bad" else [][0]

    monkeypatch.setattr(reader, "node_tree", failing)
    with caplog.at_level(logging.ERROR):
        first, second = read_all(conversation(asked("bad"), name="secret"), conversation(asked("a")))

    assert first == Skipped(where='conversation 1 "secret"', why=FAULT)
    assert isinstance(second, ImportedConversation)
    assert "conversation 1 of a Claude export" in caplog.text
    assert "secret" not in caplog.text


def test_a_file_that_ends_early() -> None:
    found = list(read(io.BytesIO(b'[{"uuid": "c", "chat_messages": [{"uuid"')))

    assert found == [Skipped(where="entry 1", why="the file ends in the middle of it")]

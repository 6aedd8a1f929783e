import io
import json
import logging
from typing import Any

import pytest

from stello_graph.interchange.chatgpt import read, reader
from stello_graph.interchange.chatgpt.nodes import node_tree
from stello_graph.interchange.conversations import CHARACTERS, FAULT
from stello_graph.interchange.nodes import Node
from stello_graph.interchange.plan import ImportedConversation, Repaired, Skipped
from tests.unit.interchange.exports import (
    Json,
    chain,
    conversation,
    ends,
    message,
    output,
    read_all,
    read_fixture,
    read_one,
    reply,
    texts,
    user,
    views,
)


def whys(remarks: tuple[Skipped | Repaired, ...]) -> list[str]:
    return [each.why for each in remarks]


@pytest.mark.covers("W13")
def test_nothing_valid_is_lost() -> None:
    found = read_fixture("damaged")

    plans = {each.id: each for each in found if isinstance(each, ImportedConversation)}
    assert list(plans) == [
        "chatgpt:good-1",
        "chatgpt:damaged",
        "chatgpt:cycle",
        "chatgpt:orphans",
        "chatgpt:doubles",
        "chatgpt:chars",
        "chatgpt:good-2",
        "chatgpt:good-3",
    ]
    assert [each for each in found if isinstance(each, Skipped)] == [
        Skipped(where="entry 2", why="not a JSON object"),
        Skipped(where='conversation 9 "Nothing"', why="it has no message that can be imported"),
        Skipped(where='conversation 10 "No mapping"', why="it has no mapping"),
        Skipped(where="entry 11", why="not a JSON object"),
    ]
    for plan in plans.values():
        views(plan.sessions)


def test_malformed_messages_are_skipped_and_their_children_stay() -> None:
    plan = read_fixture("damaged")[2]

    assert isinstance(plan, ImportedConversation)
    assert [texts(each) for each in plan.sessions] == [["before", "after the broken ones", "still here?"]]
    assert whys(plan.skipped) == [
        "it has no author",
        "its message is no object",
        "its author is none that is known",
        "its content is no object",
        "a system message, which a transcript has no place for",
    ]
    assert plan.skipped[0].where == 'conversation 3 "Damaged", message bad'


def test_cycles_are_cut_before_the_earliest_message() -> None:
    plan = read_fixture("damaged")[3]

    assert isinstance(plan, ImportedConversation)
    assert [ends(each.messages) for each in plan.sessions] == [["x", "y", "z"]]
    assert [each.where[-9:] for each in plan.repaired] == ["message x"]


def test_cycles_that_the_lists_of_children_make() -> None:
    entry = chain(user("a"), reply("b"), user("d"))
    entry["mapping"]["d"]["children"] = ["a", "d"]
    entry["mapping"]["b"]["parent"] = "b"

    assert ends(read_one(entry).sessions[0].messages) == ["a", "b", "d"]


def test_orphans_are_branches_of_their_own() -> None:
    plan = read_fixture("damaged")[4]

    assert isinstance(plan, ImportedConversation)
    first, orphan = plan.sessions
    assert texts(first) == ["the real beginning", "the real reply"]
    assert (texts(orphan), orphan.shared_messages) == (["whose parent is gone", "its reply"], 0)
    assert len(plan.repaired) == 2


def test_ids_that_are_not_unique_give_way_to_keys() -> None:
    plan = read_fixture("damaged")[5]

    assert isinstance(plan, ImportedConversation)
    assert ends(plan.sessions[0].messages)[:3] == ["k1", "k2", "k3"]
    assert len(plan.sessions[0].messages) == 4


def test_characters_that_no_store_takes() -> None:
    plan = read_fixture("damaged")[6]

    assert isinstance(plan, ImportedConversation)
    assert texts(plan.sessions[0]) == ["nul � and half � a pair", "ok �"]
    assert whys(plan.repaired) == [CHARACTERS]
    (session,) = plan.sessions
    assert session.model_dump_json()


@pytest.mark.parametrize(
    ("current", "path"),
    [
        ("a", ["u", "a"]),
        ("v", ["u", "a", "v"]),
        ("h", ["u", "a", "v", "w"]),
        ("trailing", ["u", "b"]),
        ("root", ["u", "a", "v", "w"]),
        ("nowhere", ["u", "a", "v", "w"]),
        (["odd"], ["u", "a", "v", "w"]),
    ],
)
def test_where_the_current_path_ends(current: Any, path: list[str]) -> None:
    plan = read_one(
        conversation(
            (None, message("root", "system", "", weight=0)),
            ("root", user("u", at=1)),
            ("u", reply("a", at=2)),
            ("a", message("h", "system", "", weight=0)),
            ("h", user("v", at=3)),
            ("v", reply("w", at=9)),
            ("u", reply("b", at=5)),
            ("b", reply("trailing", " ", status="in_progress")),
            current=current,
        )
    )

    assert ends(plan.sessions[0].messages) == path
    assert whys(plan.repaired) == ([reader.LOST_CURRENT] if current in ("nowhere", ["odd"]) else [])
    assert len(views(plan.sessions)) == (3 if current in ("a", "v") else 2)


def test_a_hidden_current_node_without_branches_below() -> None:
    plan = read_one(
        conversation(
            (None, user("u")), ("u", reply("a", at=1)), ("u", reply("b", at=2)), ("u", reply("empty", " "))
        )
    )

    assert [ends(view) for view in views(plan.sessions).values()] == [["u", "b"], ["u", "a"]]


def test_of_leaves_without_times_the_last_is_the_latest() -> None:
    plan = read_one(conversation((None, user("u")), ("u", reply("a")), ("u", reply("b")), current="gone"))

    assert ends(plan.sessions[0].messages) == ["u", "b"]


def test_a_conversation_of_orphans_alone() -> None:
    plan = read_one(conversation(("gone", user("u")), ("u", reply("a")), ("lost", user("v")), current="a"))

    assert [ends(each.messages) for each in plan.sessions] == [["u", "a"], ["v"]]


@pytest.mark.parametrize("node", [None, 7, "text", [], {}, {"parent": 3, "children": "x", "message": []}])
def test_nodes_of_any_shape(node: Any) -> None:
    entry = conversation((None, user("u")), ("u", reply("a")))
    entry["mapping"] |= {"odd": node}
    entry["mapping"]["a"] |= {"children": ["odd", 5, None]}

    assert ends(read_one(entry).sessions[0].messages) == ["u", "a"]


@pytest.mark.parametrize("value", [None, 7, "text", [], {}, True, 10**400, [[{}]], -1.5])
@pytest.mark.parametrize(
    "field", ["id", "author", "content", "create_time", "status", "weight", "metadata", "recipient"]
)
def test_fields_of_any_shape(field: str, value: Any) -> None:
    for odd in (reply("a"), user("a"), output("a")):
        entry = chain(user("u"), odd, reply("z"))
        odd[field] = value
        (plan,) = read_all(entry)
        assert isinstance(plan, ImportedConversation), plan
        assert ends(views(plan.sessions)[plan.id])[0] == "u"
        assert ends(plan.sessions[0].messages)[-1] == "z"


@pytest.mark.parametrize("value", [None, 7, "text", [], {}, True, 10**400])
def test_conversations_of_any_shape(value: Any) -> None:
    for field in ("title", "conversation_id", "create_time", "update_time", "current_node", "is_archived"):
        (plan,) = read_all(chain(user("u")) | {field: value, "default_model_slug": value, "gizmo_id": value})
        assert isinstance(plan, ImportedConversation)
    assert isinstance(read_all(chain(user("u")) | {"mapping": value})[0], Skipped)


def test_what_is_too_much() -> None:
    deep: Any = "x"
    for _ in range(100):
        deep = [deep]
    odd: Json = {"content_type": "multimodal_text", "parts": ["text", {"content_type": "x", "deep": deep}]}
    plan = read_one(chain(user("u"), reply("a", odd), reply("b", "x" * (16 << 20) + "x"), user("v")))

    assert ends(plan.sessions[0].messages) == ["u", "v"]
    assert whys(plan.skipped) == ["nested too deeply", "longer than 16 MiB"]


def test_a_fault_of_ours_costs_one_conversation(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(mapping: Json) -> list[Node]:
        return node_tree(mapping) if "bad" not in mapping else [][0]

    monkeypatch.setattr(reader, "node_tree", failing)
    with caplog.at_level(logging.ERROR):
        first, second = read_all(chain(user("bad"), title="secret"), chain(user("u")))

    assert first == Skipped(where='conversation 1 "secret"', why=FAULT)
    assert isinstance(second, ImportedConversation)
    assert "secret" not in caplog.text


def test_broken_json() -> None:
    good = json.dumps(chain(user("u"))).encode()
    cut = list(read(io.BytesIO(b"[" + good + b", " + good[:-5])))
    wrong = list(read(io.BytesIO(b"[" + good + b', {"mapping": nope}, ' + good + b"]")))

    assert [isinstance(each, ImportedConversation) for each in cut] == [True, False]
    assert cut[1] == Skipped(where="entry 2", why="the file ends in the middle of it")
    assert [isinstance(each, ImportedConversation) for each in wrong] == [True, False, True]
    assert wrong[1] == Skipped(where="entry 2", why="not legal JSON")

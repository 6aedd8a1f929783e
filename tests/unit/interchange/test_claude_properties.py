"""Random conversations of Claude: each message once, and grown exports add to what is there."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stello_graph.interchange.plan import ImportedConversation
from stello_graph.model.message import Draft
from tests.unit.interchange.claude_exports import (
    NIL,
    Json,
    asked,
    conversation,
    read_all,
    read_one,
    result,
    said,
    use,
)
from tests.unit.interchange.exports import assert_whole_groups, views
from tests.unit.interchange.test_chatgpt_properties import MODEST
from tests.unit.interchange.test_sessions import Shelf

KINDS = ("asked", "said", "called", "open", "alone", "thought", "blank", "malformed", "null")


def made(kind: str, id: str, parent: str) -> Any:
    return {
        "asked": asked(id, f"<{id}>", parent=parent),
        "said": said(id, f"<{id}>", parent=parent),
        "called": said(id, "先", use(), result(f"<{id}>"), parent=parent),
        "open": said(id, use(input={"x": f"<{id}>"}), parent=parent),
        "alone": asked(id, result(f"<{id}>"), parent=parent),
        "thought": said(id, {"type": "thinking", "thinking": f"<{id}>"}, parent=parent),
        "blank": said(id, " ", parent=parent),
        "malformed": {"uuid": id, "parent_message_uuid": parent},
    }.get(kind)


@st.composite
def conversations(draw: st.DrawFn) -> Json:
    """Messages below any other one, also in circles, below none, or below one that is not there."""
    count = draw(st.integers(1, 12))
    ids = [f"m{number}" for number in range(count)]
    parents = st.sampled_from([*ids, NIL, NIL, "gone"])
    near = [st.just(ids[number - 1]) if number else st.just(NIL) for number in range(count)]
    messages = [
        made(draw(st.sampled_from(KINDS)), id, draw(near[number] | near[number] | parents))
        for number, id in enumerate(ids)
    ]
    leaf = draw(st.sampled_from([None, *ids]))
    return conversation(*draw(st.permutations(messages)), current_leaf_message_uuid=leaf)


@MODEST
@given(conversations())
def test_each_message_is_imported_once_hidden_or_skipped(entry: Json) -> None:
    messages = entry["chat_messages"]
    *_, found = read_all(entry)
    own: list[Draft] = []
    if isinstance(found, ImportedConversation):
        own = [each for session in found.sessions for each in session.messages]
        imported = {each.id.split(":")[2] for each in own}
        assert found.hidden + len(found.skipped) + len(imported) == len(messages)
        views(found.sessions)
    for each in messages:
        if each and each.get("content") and each["content"] != [{"type": "text", "text": " "}]:
            marked = [draft for draft in own if f"<{each['uuid']}>" in draft.model_dump_json()]
            assert len(marked) == 1


def earlier(entry: Json, count: int) -> Json:
    """An export of before: some messages, and all that they come after."""
    parents = {each["uuid"]: each["parent_message_uuid"] for each in entry["chat_messages"] if each}
    kept = set(list(parents)[:count])
    while loose := {uuid for uuid in kept if parents[uuid] in parents and parents[uuid] not in kept}:
        kept -= loose
    return entry | {
        "chat_messages": [each for each in entry["chat_messages"] if each and each["uuid"] in kept]
    }


@MODEST
@given(conversations(), st.integers(0, 12))
def test_grown_exports_add_to_what_is_there(entry: Json, count: int) -> None:
    """What is stored stays as it is, all that is new comes, and a third time brings nothing."""
    shelf, changed = Shelf(), list[str]()
    for part in (earlier(entry, count), entry, entry):
        *_, found = read_all(part)
        if isinstance(found, ImportedConversation):
            changed = shelf.store(found.sessions_beside(shelf.shown))
            wanted = {each.id for step in found.tree.steps for each in step.messages}
            assert wanted <= {id for ids in shelf.shown.values() for id in ids}
    assert changed == []
    for ids in shelf.shown.values():
        assert_whole_groups([shelf.messages[id] for id in ids])


def test_a_conversation_that_goes_on_extends_its_session() -> None:
    shelf = Shelf()
    short = [asked("a", parent=NIL), said("b", "x", use(), result(), parent="a")]

    first = shelf.store(read_one(conversation(*short)).sessions_beside(shelf.shown))
    longer = read_one(conversation(*short, asked("c", parent="b")))
    again = shelf.store(longer.sessions_beside(shelf.shown))

    assert first == again == ["claude:c"]
    assert shelf.shown["claude:c"][-1] == "claude:c:c"


def test_an_answer_that_comes_later_is_beside_the_open_call() -> None:
    shelf = Shelf()
    question = asked("a", parent=NIL)
    shelf.store(read_one(conversation(question, said("b", "x", use(), parent="a"))).sessions)
    answered = read_one(conversation(question, said("b", "x", use(), result("late"), parent="a")))

    (fork,) = answered.sessions_beside(shelf.shown)

    assert (fork.source_id, fork.shared_through) == ("claude:c", "claude:c:b")
    assert [each.content for each in fork.messages] == ["", "late"]


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = [
        "uuid",
        "sender",
        "text",
        "content",
        "type",
        "attachments",
        "files",
        "parent_message_uuid",
        "index",
        "input",
        "file_name",
    ]
    return st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(keys), inner)


LEAVES = st.sampled_from(["human", "assistant", "a", "thinking", "tool_use", "tool_result", "files", "image"])


@MODEST
@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text() | LEAVES, nested),
    st.recursive(LEAVES | st.none(), nested),
)
def test_nothing_makes_the_reader_fail(value: Any, content: Any) -> None:
    message = {"uuid": "a", "sender": "human", "content": content, "attachments": value, "text": "x"}
    odd = {"uuid": value, "sender": "assistant", "content": value, "index": value, "created_at": value}
    for messages in (
        value,
        [value, value],
        [message, odd, {"sender": "human", "parent_message_uuid": value}],
    ):
        entry = {"uuid": value, "chat_messages": messages, "name": value, "project": value}
        assert all("fault" not in getattr(found, "why", "") for found in read_all(entry))

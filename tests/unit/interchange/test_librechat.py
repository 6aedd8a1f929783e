import io
import json
import time
from typing import Any

from stello_graph.interchange import librechat
from stello_graph.interchange.plan import ImportedConversation, Skipped
from stello_graph.model.message import Draft, MessageState
from tests.unit.interchange.exports import views
from tests.unit.interchange.threads import (
    FOLDER,
    Json,
    contents,
    fixture,
    line,
    read_all,
    read_one,
    shown,
    skips,
    talk,
)

NESTED = (FOLDER / "librechat" / "nested.json").read_bytes()


def reply_of(**given: Any) -> list[Draft]:
    """The messages that a reply becomes."""
    found = read_one("librechat", talk(line("u", None, by_user=True), line("a", "u", **given)))
    return list(found.sessions[0].messages[1:])


def chain(size: int) -> list[Json]:
    return [line(f"m{n}", f"m{n - 1}" if n else None, by_user=not n % 2) for n in range(size)]


def test_a_flat_export() -> None:
    """Children before parents, several beginnings, an orphan, a circle: each has its place or reason."""
    (found,) = fixture("librechat/flat")

    assert isinstance(found, ImportedConversation)
    seen = views(found.sessions)
    assert {id: contents(view) for id, view in seen.items()} == {
        "librechat:trip": ["Another beginning", "Half a rep"],
        "librechat:trip:t2": ["去哪里？", "Try Lyon."],
        "librechat:trip:t5": [
            "去哪里？",
            "京都不错。🍁",
            "怎么去？",
            "<think>\n新干线\n</think>",
            "12:00 のぞみ",
            "十二点的车。",
        ],
        "librechat:trip:o1": ["An orphan"],
        "librechat:trip:c2": ["circle one", "circle two"],
    }
    assert seen["librechat:trip"][-1].state is MessageState.TRUNCATED
    assert seen["librechat:trip"][-1].id == "librechat:trip:e2:.open"
    assert [each.model for each in seen["librechat:trip:t2"]] == [None, "gpt-4o-mini"]
    assert seen["librechat:trip:t2"][0].created_at == 1_759_996_800_000_000
    assert found.sessions[0].metadata == {
        "librechat": {"endpoint": "openAI", "model": "gpt-4o-mini", "promptPrefix": "Short answers."}
    }
    assert skips(found) == {"e1": "an error in place of a reply", "n1": "it does not say who wrote it"}
    assert sorted(each.why for each in found.repaired) == [
        "its parent is not in the file: kept as a branch of its own",
        "its parents form a circle: cut before its earliest message",
    ]


def test_nested_and_flat_are_the_same() -> None:
    (nested,) = fixture("librechat/nested")
    assert isinstance(nested, ImportedConversation)
    assert nested.sessions[0].label == "旅行 🚄"

    messages: list[Json] = []
    waiting = json.loads(NESTED)["messages"]
    while waiting:
        message = waiting.pop()
        waiting.extend(message.pop("children"))
        messages.append(message)
    flat = read_one("librechat", json.loads(NESTED) | {"messages": messages})

    assert flat.sessions == nested.sessions
    assert [contents(view)[-1] for view in views(nested.sessions).values()] == ["怎么去？", "Try Lyon."]


def test_nesting_stands_in_for_parents() -> None:
    """Where a nested message names no parent, it hangs below the one that it stands in."""
    below = line("a", None)
    above = line("u", None, by_user=True, children=[below])

    assert shown(read_one("librechat", talk(above))) == {"": ["question u", "answer a"]}


def test_deep_nesting() -> None:
    """20,000 messages, each in the one before: as many as flat, in time that grows with the file alone."""
    head, tail = [], []
    for message in chain(20_000):
        head.append(json.dumps(message)[:-1] + ', "children": [')
        tail.append("]}")
    file = '{"conversationId": "c", "title": "T", "messages": [' + "".join(head + tail) + "]}"

    begin = time.process_time()
    (found,) = librechat.read(io.BytesIO(file.encode()))
    took = time.process_time() - begin

    assert isinstance(found, ImportedConversation)
    # Not in the assertion: the text of a difference would take a minute.
    is_same = found.sessions == read_one("librechat", talk(*chain(20_000))).sessions
    assert is_same
    assert len(found.sessions[0].messages) == 20_000
    assert took < 60


def test_a_broken_deep_file() -> None:
    file = b'{"conversationId": "c", "messages": ' + b"[" * 5_000 + b"x" + b"]" * 5_000 + b"}"

    assert list(librechat.read(io.BytesIO(file))) == [Skipped(where="entry 1", why="not legal JSON")]


def test_tool_calls() -> None:
    """Plain and as the assistants have them; arguments as text or object; one that never ended."""
    plain = {"name": "trains", "args": {"to": "京都"}, "output": "12:00", "progress": 1}
    assistants = {"function": {"name": "find", "arguments": "x", "output": "found"}}
    unended = {"name": "slow", "args": "", "output": "", "progress": 0.1}
    parts = [{"type": "tool_call", "tool_call": each} for each in (plain, assistants, unended)]
    call, *results = reply_of(text="", content=parts)

    assert [(each.name, each.arguments) for each in call.tool_calls] == [
        ("trains", {"to": "京都"}),
        ("find", {"input": "x"}),
        ("slow", {}),
    ]
    assert [(each.tool_name, each.state) for each in results] == [
        ("trains", "COMPLETE"),
        ("find", "COMPLETE"),
        ("slow", "CANCELLED"),
    ]
    assert call.id == "librechat:c:a:.open:.1"


def test_content_beside_text() -> None:
    """Content is what was said, `text` only where that has no words; what is no text is kept."""
    picture = {"type": "image_file", "image_file": {"file_id": "f"}}
    (said,) = reply_of(text="ignored", content=[{"type": "text", "text": {"value": "See"}}, picture, None])
    assert said.content == "See\n\n[image]"
    assert said.parts == [{"type": "librechat", "content": [picture]}]

    thought = {"type": "think", "think": "Hm"}
    (said,) = reply_of(text="So it is", content=[thought, {"type": "text", "text": " "}])
    assert said.content == "<think>\nHm\n</think>\n\nSo it is"
    seen = line("u", None, by_user=True, text="What is it?", content=[picture])
    assert shown(read_one("librechat", talk(seen))) == {"": ["[image]\n\nWhat is it?"]}
    (said,) = reply_of(text="It failed", content=[thought], error=True)
    assert said.content == "<think>\nHm\n</think>"

    (failed,) = reply_of(text="", content=[{"type": "text", "text": "Half"}, {"type": "error", "error": "x"}])
    assert (failed.content, failed.state) == ("Half", "TRUNCATED")
    assert failed.parts == [{"type": "librechat", "errors": [{"type": "error", "error": "x"}]}]


def test_a_question_of_files_alone() -> None:
    asked = line("u", None, by_user=True, text="", files=[{"filename": "表.pdf"}, {"type": "image/png"}])
    (message,) = read_one("librechat", talk(asked)).sessions[0].messages

    assert message.content == "[file: 表.pdf]\n[file: unnamed]"


def test_who_wrote_it() -> None:
    """Old messages say so by the sender's name."""
    user, reply = line("u", None), line("a", "u")
    del user["isCreatedByUser"], reply["isCreatedByUser"]
    found = read_one("librechat", talk(user | {"sender": "User"}, reply | {"sender": "GPT-4"}))

    assert [each.role for each in found.sessions[0].messages] == ["USER", "ASSISTANT"]


def test_an_id_that_comes_twice() -> None:
    """Names the first one; the other has one of its place."""
    first, second = line("u", None, by_user=True), line("u", None, by_user=True, text="again")
    found = read_one("librechat", talk(first, second, "stray"))

    assert sorted(shown(found).values()) == [["again"], ["question u"]]
    assert list(skips(found).values()) == ["it is no object"]


def test_a_grown_export_extends() -> None:
    before = read_one("librechat", talk(*chain(4)))
    stored = {session.id: [each.id for each in session.messages] for session in before.sessions}

    assert read_one("librechat", talk(*chain(4))).sessions_beside(stored) == ()
    (more,) = read_one("librechat", talk(*chain(6))).sessions_beside(stored)
    assert (more.id, more.extends, len(more.messages)) == ("librechat:c", True, 2)


def test_an_array_of_them() -> None:
    """One that is none spoils no other one."""
    first, none, last = read_all("librechat", talk(*chain(2)), {"conversationId": "x"}, talk(*chain(1)))

    assert isinstance(first, ImportedConversation)
    assert isinstance(last, ImportedConversation)
    assert none == Skipped(where="conversation 2", why="it has no messages")

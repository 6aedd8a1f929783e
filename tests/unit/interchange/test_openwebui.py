import pytest

from stello_graph.interchange.plan import ImportedConversation, Skipped
from stello_graph.model.message import Draft, MessageRole, MessageState
from tests.unit.interchange.exports import views
from tests.unit.interchange.threads import (
    Json,
    asked,
    chat,
    contents,
    fixture,
    read_all,
    read_one,
    replied,
    shown,
    skips,
)

FORECAST = {"type": "function_call", "call_id": "k", "name": "forecast", "arguments": '{"city": "東京"}'}
SUN = {"type": "function_call_output", "call_id": "k", "output": [{"type": "input_text", "text": "晴れ"}]}


def spoken(text: str) -> Json:
    return {"type": "message", "content": [{"type": "output_text", "text": text}]}


def reply_of(content: object, **more: object) -> list[Draft]:
    """The messages that a reply becomes."""
    found = read_one("openwebui", chat(asked("u"), replied("a", "u", content, **more)))
    return list(found.sessions[0].messages[1:])


def test_replies_of_several_models_are_branches() -> None:
    garden, weather = fixture("openwebui/chats")
    assert isinstance(garden, ImportedConversation)
    assert isinstance(weather, ImportedConversation)

    main, other = garden.sessions
    assert (main.id, main.label, main.tags) == (
        "openwebui:garden",
        "花园 🌱 Garden",
        ("pinned", "home", "园艺"),
    )
    assert main.metadata == {"openwebui": {"folder_id": "f-1"}}
    assert (main.created_at, main.updated_at) == (1_760_000_000_000_000, 1_760_000_500_000_000)
    assert [(each.id, each.model) for each in main.messages] == [
        ("openwebui:garden:g1", None),
        ("openwebui:garden:g3", "llama3.3"),
        ("openwebui:garden:g4", None),
        ("openwebui:garden:g5", "llama3.3"),
    ]
    assert (other.id, other.source_id, other.shared_through) == (
        "openwebui:garden:g2",
        main.id,
        "openwebui:garden:g1",
    )
    assert [(each.content, each.created_at) for each in other.messages] == [("番茄。", 1_760_000_005_000_000)]
    assert not garden.skipped
    assert not garden.repaired
    assert not main.archived
    assert weather.sessions[0].archived


def test_thoughts_and_tools() -> None:
    """In the content as HTML, and in `output`."""
    weather = fixture("openwebui/chats")[1]
    assert isinstance(weather, ImportedConversation)

    (session,) = weather.sessions
    views([session])
    assert contents(list(session.messages)) == [
        "Will it rain in Kraków?",
        "<think>\nI need the forecast.\n</think>",
        "Rain > 3 mm",
        "Yes, take an umbrella.",
        "And on Sunday?",
        "Let me look.",
        "Sun",
        "Sunny ☀️",
    ]
    calls = [call for each in session.messages for call in each.tool_calls]
    assert [(call.name, call.arguments) for call in calls] == [
        ("forecast", {"city": "Kraków"}),
        ("forecast", {"city": "Kraków", "day": 7}),
    ]
    assert [each.id.removeprefix("openwebui:weather:") for each in session.messages] == [
        "w1",
        "w2:.1",
        "w2:.1.1",
        "w2",
        "w3",
        "w4:.1",
        "w4:.1.1",
        "w4",
    ]


def test_a_damaged_chat() -> None:
    """All that can be read is, each thing that cannot be has its reason, and no other chat suffers."""
    damaged, stray, bare = fixture("openwebui/damaged")

    assert isinstance(damaged, ImportedConversation)
    found = views(damaged.sessions)
    assert {id: contents(view) for id, view in found.items()} == {
        "openwebui:damaged": ["Still here?", "Yes.", "And the rest?", "Half an ans"],
        "openwebui:damaged:lost": ["Whose child am I?"],
        "openwebui:damaged:c3": ["circle one", "circle two", "circle three"],
    }
    assert found["openwebui:damaged"][-1].state is MessageState.TRUNCATED
    assert found["openwebui:damaged"][-1].id == "openwebui:damaged:d5:.open"
    assert skips(damaged) == {
        "d-spinner": "it has no role",
        "d4": "an error in place of a reply",
        "sys": "a system message, which a transcript has no place for",
    }
    assert sorted(each.why for each in damaged.repaired) == [
        "its parent is not in the file: kept as a branch of its own",
        "its parents form a circle: cut before its earliest message",
    ]
    assert stray == Skipped(where="entry 2", why="not a JSON object")
    assert bare == Skipped(where='conversation 3 "Bare"', why="it has no messages")


def test_parents_are_the_truth_and_children_stand_in() -> None:
    """Of a message that names no parent, the one that names it as a child is."""
    first = asked("u") | {"childrenIds": ["lost", "b"]}
    lost = replied("lost", None)
    del lost["parentId"]
    found = read_one("openwebui", chat(replied("b", "a"), lost, replied("a", "u"), first, current="b"))

    assert shown(found) == {"": ["question u", "answer a", "answer b"], "lost": ["question u", "answer lost"]}


@pytest.mark.parametrize(
    ("current", "end"),
    [
        ("a1", "answer a1"),
        ("spinner", "answer b2"),
        ("no such", "answer b2"),
        (7, "answer b2"),
        ("far", "answer b2"),
        ("below", "answer a2"),
    ],
)
def test_where_the_current_path_ends(current: object, end: str) -> None:
    """At the latest leaf around what cannot be shown; what leads nowhere is told."""
    messages = [
        asked("u"),
        replied("a1", "u"),
        {"id": "below", "parentId": "a1"},
        replied("a2", "below", timestamp=5),
        replied("b2", "u", timestamp=9),
        {"id": "spinner", "parentId": "u"},
        replied("far", "nowhere", timestamp=99),
    ]
    found = read_one("openwebui", chat(*messages, current=current))

    assert found.sessions[0].messages[-1].content == end
    assert any("current message" in each.why for each in found.repaired) is (current in ("no such", 7, "far"))


def test_edited_content_is_the_truth() -> None:
    """`output` keeps what was said before an edit: the thoughts and calls count, the text does not."""
    output = [FORECAST, SUN, spoken("Sunny.")]

    assert contents(reply_of("Rainy.", output=output)) == ["", "晴れ", "Rainy."]
    assert contents(reply_of("Sun\nny.", output=output)) == ["", "晴れ", "Sunny."]
    assert contents(reply_of("", output=output)) == ["", "晴れ", "Sunny."]
    assert contents(reply_of("Sunny.", output=[{"type": "reasoning", "summary": "So."}])) == [
        "<think>\nSo.\n</think>\n\nSunny."
    ]


def test_a_call_without_a_result() -> None:
    """Gets one that says so; the ids tell that more may come."""
    call, result = reply_of("", output=[FORECAST], done=False)

    assert (result.state, result.is_error, result.tool_call_id) == ("CANCELLED", True, call.tool_calls[0].id)
    assert call.state is MessageState.TRUNCATED
    assert call.id == "openwebui:c:a:.open:.1"


def test_several_calls_at_once() -> None:
    """Have their own results, in whatever order those come; one without a call is kept as it was."""
    second = FORECAST | {"call_id": "l"}
    stray = SUN | {"call_id": "m"}
    said = reply_of("", output=[FORECAST, second, SUN | {"call_id": "l", "output": "second"}, SUN, stray])

    assert contents(said) == ["", "晴れ", "second"]
    assert said[0].parts == [{"type": "openwebui", "output": [stray]}]
    assert [each.role for each in said[1:]] == [MessageRole.TOOL] * 2


def test_code_that_was_run() -> None:
    code = {"type": "open_webui:code_interpreter", "code": "1 + 1", "output": {"stdout": "2"}}
    tag = '<details type="code_interpreter" done="true" output="&quot;2&quot;">'
    in_content = f"{tag}\n<summary>Ran</summary>\n1 + 1\n</details>"

    for said in (reply_of("Two.", output=[code, spoken("Two.")]), reply_of(f"{in_content}\nTwo.")):
        assert contents(said) == ["", "2", "Two."]
        assert said[0].tool_calls[0].arguments == {"code": "1 + 1"}


@pytest.mark.parametrize(
    "text",
    [
        "<details><summary>Mine</summary>kept</details>",
        '<details type="reasoning" no end',
        "a < b > c",
        "<think>",
    ],
)
def test_other_html_is_text(text: str) -> None:
    assert contents(reply_of(text)) == [text]


def test_what_is_no_text() -> None:
    """Is kept as it was, with a word for it in the text."""
    picture = {"type": "image_url", "image_url": {"url": "data:"}}
    found = read_one(
        "openwebui",
        chat(
            asked("u", None, [{"type": "text", "text": "see"}, picture]),
            asked("f", "u", "", files=[{"type": "file", "name": "表.pdf"}, {"type": "image", "url": "x"}]),
        ),
    )

    seen, file = found.sessions[0].messages
    assert seen.content == "see\n[image]"
    assert seen.parts == [{"type": "openwebui", "content": [{"type": "text", "text": "see"}, picture]}]
    assert file.content == "[file: 表.pdf]\n[image]"
    assert file.parts[0]["files"][0]["name"] == "表.pdf"


def test_a_reply_that_failed_halfway_is_cut() -> None:
    (said,) = reply_of("Half", error={"content": "gone"})

    assert (said.content, said.state) == ("Half", "TRUNCATED")
    assert said.parts == [{"type": "openwebui", "error": {"content": "gone"}}]


def test_an_old_chat_that_is_a_row() -> None:
    row = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    found = read_one("openwebui", {"id": "c", "chat": {"messages": [*row, "stray"]}})

    assert shown(found) == {"": ["a", "b"]}
    assert skips(found) == {"message2": "it is no object"}
    named = [each | {"id": id} for each, id in zip(row, ("x", "x"), strict=True)]
    for tree in ({}, {"history": {"messages": {}, "currentId": "x"}}):
        found = read_one("openwebui", {"id": "c", "chat": {"messages": named, **tree}})
        own = [each.id for session in found.sessions for each in session.messages]
        assert (own, found.repaired) == (["openwebui:c:x", "openwebui:c:message1"], ())


def test_a_grown_export_extends() -> None:
    """What was imported before is not written again; a finished reply takes the place of the open one."""
    grown = [asked("u"), replied("a", "u"), asked("u2", "a"), replied("a2", "u2")]
    before = read_one("openwebui", chat(*grown[:3], replied("a2", "u2", "ans", done=False)))
    stored = {session.id: [each.id for each in session.messages] for session in before.sessions}

    assert (
        read_one("openwebui", chat(*grown[:3], replied("a2", "u2", "ans", done=False))).sessions_beside(
            stored
        )
        == ()
    )
    (fork,) = read_one("openwebui", chat(*grown)).sessions_beside(stored)
    assert (fork.shared_through, contents(list(fork.messages))) == ("openwebui:c:u2", ["answer a2"])
    short = {"openwebui:c": stored["openwebui:c"][:2]}
    (more,) = read_one("openwebui", chat(*grown)).sessions_beside(short)
    assert (more.extends, contents(list(more.messages))) == (True, ["question u2", "answer a2"])


def test_a_chat_without_an_id_is_named_for_its_beginning() -> None:
    entry = chat(asked("u"), replied("a", "u"))
    del entry["id"]
    longer = chat(asked("u"), replied("a", "u"), asked("u2", "a"))
    del longer["id"]

    assert read_one("openwebui", entry).id == read_one("openwebui", longer).id
    assert read_one("openwebui", entry).id.startswith("openwebui:.")


def test_a_chat_of_nothing() -> None:
    *skipped, end = read_all("openwebui", chat({"id": "x"}))

    assert [each.why for each in skipped if isinstance(each, Skipped)] == ["it has no role"]
    assert isinstance(end, Skipped)
    assert end.why == "it has no message that can be imported"

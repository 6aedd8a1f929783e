"""Random chats of Open WebUI and LibreChat: each message has its place, or a reason why it has none."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stello_graph.interchange.plan import ImportedConversation, Skipped
from tests.unit.interchange.exports import views
from tests.unit.interchange.threads import Json, asked, chat, line, read_all, replied, talk

MODEST = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
KINDS = ("user", "reply", "empty", "malformed", "tool")
TOOL = [{"type": "function_call", "call_id": "k", "name": "t", "arguments": "{}"}]


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[str, str | None, str]]:
    """Keys, parents (any key, none, or one that is not there) and kinds."""
    size = draw(st.integers(1, 12))
    parents = st.sampled_from([None, "gone", *(f"n{number}" for number in range(size))])
    return [(f"n{number}", draw(parents), draw(st.sampled_from(KINDS))) for number in range(size)]


def of_openwebui(key: str, parent: str | None, kind: str) -> Json:
    return {
        "user": asked(key, parent),
        "reply": replied(key, parent),
        "empty": replied(key, parent, ""),
        "malformed": {"id": key, "parentId": parent},
        "tool": replied(key, parent, f"answer {key}", output=TOOL),
    }[kind]


def of_librechat(key: str, parent: str | None, kind: str) -> Json:
    call = {"type": "tool_call", "tool_call": {"name": "t", "args": "{}"}}
    return {
        "user": line(key, parent, by_user=True),
        "reply": line(key, parent),
        "empty": line(key, parent, text=""),
        "malformed": {"messageId": key, "parentMessageId": parent},
        "tool": line(key, parent, content=[call, {"type": "text", "text": f"answer {key}"}]),
    }[kind]


def exports(tree: list[tuple[str, str | None, str]], current: str | None) -> dict[str, Json]:
    return {
        "openwebui": chat(*(of_openwebui(*each) for each in tree), current=current),
        "librechat": talk(*(of_librechat(*each) for each in tree)),
    }


@MODEST
@given(trees(), st.sampled_from([None, "n0", "n5", "gone"]))
def test_each_message_is_accounted_for(tree: list[tuple[str, str | None, str]], current: str | None) -> None:
    """Once: said in one session, counted as empty, or skipped with its reason."""
    said = {key for key, _, kind in tree if kind in ("user", "reply", "tool")}
    for format, entry in exports(tree, current).items():
        *skipped, end = read_all(format, entry)
        malformed = sum(kind == "malformed" for _, _, kind in tree)
        if not isinstance(end, ImportedConversation):
            assert not said
            assert len(skipped) == malformed
            continue
        views(end.sessions)
        own = [each.content for session in end.sessions for each in session.messages]
        assert sorted(text.split()[1] for text in own if text.startswith(("question", "answer"))) == sorted(
            said
        )
        assert len(end.skipped) == malformed
        assert end.hidden == sum(kind == "empty" for _, _, kind in tree)


@MODEST
@given(trees())
def test_again_adds_nothing(tree: list[tuple[str, str | None, str]]) -> None:
    for format, entry in exports(tree, None).items():
        found = read_all(format, entry)[-1]
        if isinstance(found, ImportedConversation):
            stored = {id: [each.id for each in view] for id, view in views(found.sessions).items()}
            assert found.sessions_beside(stored) == ()


KEYS = {
    "openwebui": [
        "role",
        "content",
        "parentId",
        "childrenIds",
        "output",
        "type",
        "text",
        "files",
        "error",
        "done",
    ],
    "librechat": [
        "messageId",
        "parentMessageId",
        "children",
        "content",
        "type",
        "tool_call",
        "text",
        "files",
    ],
}
ROLES: dict[str, Json] = {"openwebui": {"role": "assistant"}, "librechat": {"isCreatedByUser": False}}


def values(keys: list[str]) -> st.SearchStrategy[Any]:
    words = st.sampled_from(
        ["text", "tool_call", "function_call", "message", "reasoning", "n0", "\ud800", "\0"]
    )
    plain = st.none() | st.booleans() | st.integers() | st.floats() | words
    return st.recursive(
        plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(keys), inner)
    )


@pytest.mark.parametrize("format", KEYS)
@MODEST
@given(data=st.data())
def test_nothing_makes_the_reader_fail(format: str, data: st.DataObject) -> None:
    value = data.draw(values(KEYS[format]))
    message: Any = value if isinstance(value, dict) else {"content": value, "output": value}
    message = message | ROLES[format]
    entries = (
        [
            {"chat": value},
            {"chat": {"history": {"messages": value}}},
            {"chat": {"history": {"messages": {"n0": message}}}},
        ]
        if format == "openwebui"
        else [{"messages": value}, {"messages": [value]}, {"messages": [message], "options": value}]
    )
    for found in read_all(format, *entries):
        assert not isinstance(found, Skipped) or "fault" not in found.why

import io
import json

import pytest

from stello_graph.interchange.chatgpt import read
from stello_graph.interchange.plan import ImportedConversation, Skipped
from stello_graph.model.message import MessageRole, MessageState
from tests.unit.interchange.exports import (
    BEGIN,
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


@pytest.mark.covers("TC01")
def test_the_current_path_is_a_session_and_each_branch_a_fork() -> None:
    (trip,) = read_fixture("branches")

    assert isinstance(trip, ImportedConversation)
    shown = {id: ends(view) for id, view in views(trip.sessions).items()}
    assert shown == {
        "chatgpt:trip": ["u1", "a1", "u2b", "a2b", "u3c", "a3c"],
        "chatgpt:trip:a2": ["u1", "a1", "u2", "a2"],
        "chatgpt:trip:a3b": ["u1", "a1", "u2b", "a2b", "u3b", "a3b"],
        "chatgpt:trip:a2c": ["u1", "a1", "u2b", "a2c"],
        "chatgpt:trip:ea1": ["e1", "ea1"],
    }
    assert {each.source_id for each in trip.sessions} == {None, "chatgpt:trip"}
    assert trip.hidden == 1


def test_what_a_conversation_says_of_itself() -> None:
    (trip,) = read_fixture("branches")

    assert isinstance(trip, ImportedConversation)
    first, *forks = trip.sessions
    assert (first.label, first.archived, first.tags) == ("京都之旅 🗾", True, ("starred",))
    assert first.metadata == {"chatgpt": {"conversation_id": "trip", "default_model_slug": "gpt-4o"}}
    assert (first.created_at, first.updated_at) == (BEGIN * 10**6, (BEGIN + 100) * 10**6)
    assert [fork.label for fork in forks] == [
        "京都之旅 🗾 · 三天",
        "京都之旅 🗾 · 家族 👨‍👩‍👧‍👦 向けですか？",
        "京都之旅 🗾 · 第一天:伏见稻荷",
        "京都之旅 🗾 · 帮我计划去奈良的旅行 🦌",
    ]
    assert (forks[0].created_at, forks[0].updated_at) == ((BEGIN + 3) * 10**6, (BEGIN + 4) * 10**6)
    assert [each.model for each in first.messages] == [None, "gpt-4", None, "gpt-4o", None, "gpt-4o"]


def test_an_edited_first_message_shares_nothing() -> None:
    first, fork = read_one(conversation((None, user("q")), (None, user("edited")), current="q")).sessions

    assert (fork.source_id, fork.parent_id) == (first.id, first.id)
    assert (fork.shared_messages, fork.shared_through) == (0, None)


def test_branches_of_branches_are_forks_of_the_branch() -> None:
    plan = read_one(
        conversation(
            (None, user("u1")),
            ("u1", reply("a1")),
            ("u1", reply("b1")),
            ("b1", user("b2")),
            ("b2", reply("b3")),
            ("b2", reply("c3")),
            ("b1", user("d2")),
            current="a1",
        )
    )

    found = {each.id: (each.source_id, each.shared_through) for each in plan.sessions}
    assert found == {
        "chatgpt:c": (None, None),
        "chatgpt:c:b3": ("chatgpt:c", "chatgpt:c:u1"),
        "chatgpt:c:c3": ("chatgpt:c:b3", "chatgpt:c:b2"),
        "chatgpt:c:d2": ("chatgpt:c:b3", "chatgpt:c:b1"),
    }


@pytest.mark.covers("TC01")
@pytest.mark.parametrize(
    "how",
    [
        {"status": "in_progress"},
        {"status": "finished_partial_completion"},
        {"metadata": {"finish_details": {"type": "interrupted"}}},
        {"metadata": {"finish_details": {"type": "max_tokens"}}},
        {"metadata": {"is_complete": False}},
    ],
)
def test_an_interrupted_reply_is_truncated(how: Json) -> None:
    (session,) = read_one(chain(user("u"), reply("a", **how))).sessions

    assert [each.state for each in session.messages] == [MessageState.COMPLETE, MessageState.TRUNCATED]


@pytest.mark.parametrize(
    "hidden",
    [
        message("h", "system", "secret"),
        message("h", "system", "", weight=1),
        user("h", weight=0),
        reply("h", weight=0.0),
        user("h", metadata={"is_visually_hidden_from_conversation": True}),
        user("h", {"content_type": "user_editable_context", "user_profile": "Ada"}),
        reply("h", {"content_type": "model_editable_context", "model_set_context": "x"}),
        reply("h", {"content_type": "text", "parts": [""]}),
        reply("h", {"content_type": "text", "parts": []}),
        reply("h", {"content_type": "text"}),
        reply("h", " \n"),
        reply("h", {"content_type": "thoughts", "thoughts": []}),
        reply("h", {"content_type": "code", "language": "unknown", "text": ""}),
        output("h", weight=0),
        output("h", {"content_type": "text", "parts": [""]}),
    ],
)
def test_children_of_what_is_hidden_hang_one_higher(hidden: Json) -> None:
    plan = read_one(
        conversation((None, user("u")), ("u", hidden), ("h", reply("a")), ("h", reply("b")), current="b")
    )

    assert [ends(view) for view in views(plan.sessions).values()] == [["u", "b"], ["u", "a"]]
    assert plan.hidden + len(plan.skipped) == 1


def test_messages_of_one_speaker_in_a_row_stay_apart() -> None:
    (session,) = read_one(chain(user("u"), reply("a"), reply("b"), reply("c"), user("v"))).sessions

    assert ends(session.messages) == ["u", "a", "b", "c", "v"]


def test_content_types_of_2026() -> None:
    (plan,) = read_fixture("split-2026")

    assert isinstance(plan, ImportedConversation)
    (session,) = plan.sessions
    assert texts(session) == [
        "[image]\nWhat is this?",
        "<think>\nLooking\n\nA cat, it seems.\n</think>",
        "<think>\nThought for 3 seconds\n</think>",
        "A cat.",
        "And this one?\n[audio]",
        "[canvas_preview]",
    ]
    image = session.messages[0].parts[0]
    assert image["type"] == "chatgpt"
    assert image["content"]["parts"][0]["asset_pointer"] == "sediment://file_1"
    assert session.messages[5].parts[0]["content"]["doc"] == {"title": "Cats"}
    assert [each.model for each in session.messages[3:]] == ["gpt-5-thinking", None, "gpt-5"]
    assert plan.hidden == 2
    assert session.id.startswith("chatgpt:.")


@pytest.mark.parametrize(
    ("content", "text", "parts"),
    [
        ("plain string", "plain string", None),
        ({"content_type": "text", "parts": "no list"}, "no list", None),
        ({"content_type": "text", "parts": ["a", None, "", "b", 7]}, "a\nb\n7", True),
        ({"parts": ["no type"]}, "no type", None),
        ({"content_type": "code", "language": "python", "text": "1 + 1"}, "1 + 1", True),
        ({"content_type": ["odd"], "text": "odd"}, "odd", True),
        ({"content_type": "multimodal_text", "parts": [{"content_type": "x_asset_pointer"}]}, None, True),
        ({"content_type": "multimodal_text", "parts": [{"content_type": "video_pointer"}]}, "[video]", True),
        ({"content_type": "thoughts", "thoughts": [None, {"summary": "</think>"}]}, None, True),
        ({"content_type": "reasoning_recap", "content": "So"}, "<think>\nSo\n</think>", True),
        ({"content_type": "sonic_webpage", "url": "u", "title": "t", "text": "x"}, "t\nu\nx", True),
        ({"content_type": "computer_output", "screenshot": {"a": 1}}, "[computer_output]", True),
        ({"content_type": "tether_browsing_display", "result": "", "summary": "s"}, "s", True),
    ],
)
def test_content(content: object, text: str | None, parts: bool | None) -> None:
    (session,) = read_one(chain(user("u"), reply("a", content))).sessions

    assert text is None or session.messages[1].content == text
    assert bool(session.messages[1].parts) is bool(parts)


def test_attachments_and_citations_are_kept() -> None:
    files = [{"name": "a.pdf", "id": "file-1"}, {"id": "file-2"}, None]
    (session,) = read_one(
        chain(
            user("u", {"content_type": "text", "parts": [""]}, metadata={"attachments": files}),
            reply("a", metadata={"citations": [{"url": "https://example.org"}]}),
        )
    ).sessions

    assert texts(session) == ["[file: a.pdf]", "answer a"]
    assert [each.parts for each in session.messages] == [
        [{"type": "chatgpt", "attachments": files}],
        [{"type": "chatgpt", "citations": [{"url": "https://example.org"}]}],
    ]


def test_slim_exports() -> None:
    slim, entry, upside = read_fixture("slim")

    assert isinstance(slim, ImportedConversation)
    assert isinstance(upside, ImportedConversation)
    assert entry == Skipped(where='conversation 2 "entry without mapping"', why="it has no mapping")
    assert [ends(view) for view in views(slim.sessions).values()] == [["2", "4"], ["2", "3"]]
    assert slim.sessions[0].messages[0].created_at == BEGIN * 10**6 + 1_123_456
    assert slim.sessions[0].messages[1].created_at == BEGIN * 10**6 + 3_750_000
    assert texts(upside.sessions[0]) == ["who is my parent?", "children say it"]
    assert [each.created_at for each in upside.sessions[0].messages] == [BEGIN * 10**6] * 2


def test_times_that_are_missing() -> None:
    (known,) = read_one(chain(user("u"), reply("a", at=5), reply("b"))).sessions
    (unknown,) = read_one(chain(user("u"), reply("a"))).sessions

    assert [each.created_at for each in known.messages] == [None, (BEGIN + 5) * 10**6, (BEGIN + 5) * 10**6]
    assert (unknown.created_at, unknown.updated_at) == (None, None)


def test_a_single_conversation_is_an_export_too() -> None:
    (plan,) = read_fixture("single")

    assert isinstance(plan, ImportedConversation)
    assert texts(plan.sessions[0]) == ["hello", "hi"]


def test_the_same_file_gives_the_same_plan() -> None:
    for name in ("branches", "damaged", "slim", "split-2026", "tools"):
        once, twice = ([each.sessions for each in read_fixture(name) if not isinstance(each, Skipped)],) * 2
        assert once == twice


def test_ids_without_a_conversation_id_come_from_its_beginning() -> None:
    short = chain(user("u", at=1), reply("a"), id="")
    longer = chain(user("u", at=1), reply("a"), user("v"), id="", title="renamed")
    other = chain(user("u", "something else", at=1), id="")

    ids = [read_one(each).id for each in (short, longer, other)]

    assert ids[0] == ids[1] != ids[2]


@pytest.mark.parametrize("id", ["WEB:1", "a b", "x" * 40, "日本", ".hidden", "\ud800"])
def test_odd_ids_become_legal_ones_and_stay_apart(id: str) -> None:
    plan = read_one(conversation((None, user(id)), (id, reply(id + "'")), (None, user("other")), id=id))

    assert len(views(plan.sessions)) == 2
    assert all(each.id.startswith(plan.id) for each in plan.sessions)


def test_roles_of_a_transcript() -> None:
    (session,) = read_one(chain(user("u"), reply("a", recipient=None), reply("b", recipient=7))).sessions

    assert [each.role for each in session.messages] == [
        MessageRole.USER,
        MessageRole.ASSISTANT,
        MessageRole.ASSISTANT,
    ]


def test_labels() -> None:
    def label(title: object) -> str:
        return read_one(chain(user("u"), title=title)).sessions[0].label

    assert label("a\u0000b\nc\u202e  d") == "ab c d"
    assert label("") == label(None) == label(["x"]) == label("\n\u0007") == "ChatGPT conversation"
    assert len(label("long " * 100)) <= 200
    branch = read_one(
        conversation((None, user("u")), (None, user("w", "word " * 99)), current="u", title="t" * 500)
    ).sessions[1]
    assert branch.label.endswith(" word word word word word word word word…")
    assert len(branch.label) <= 200


def test_many_levels_need_no_recursion() -> None:
    messages = [user(str(number)) for number in range(5_000)]

    assert len(read_one(chain(*messages)).sessions[0].messages) == 5_000


def test_conversations_come_one_at_a_time() -> None:
    class Endless(io.RawIOBase):
        sent = 0

        def read(self, size: int = -1) -> bytes:
            self.sent += 1
            entry = json.dumps(chain(user("u"), id=f"c{self.sent}")).encode()
            return (b"[" if self.sent == 1 else b",") + entry

    stream = Endless()
    plans = read(stream)
    for _ in range(3):
        next(plans)

    assert stream.sent == 3


def test_duplicates_in_one_file_have_the_same_ids() -> None:
    first, second = read_all(chain(user("u")), chain(user("u")))

    assert isinstance(first, ImportedConversation)
    assert isinstance(second, ImportedConversation)
    assert first.sessions == second.sessions
    assert second.sessions_beside({"chatgpt:c": ["chatgpt:c:u"]}) == ()

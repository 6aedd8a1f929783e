"""Exports that grow: what is stored stays as it is, what is new comes once."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stello_graph.interchange import sessions
from stello_graph.interchange.plan import ImportedSession
from stello_graph.interchange.sessions import MAX_SHARED
from stello_graph.model.message import Draft
from tests.unit.interchange.exports import (
    Json,
    assert_whole_groups,
    call,
    chain,
    conversation,
    ends,
    output,
    read_if_any,
    read_one,
    reply,
    user,
    views,
)
from tests.unit.interchange.test_chatgpt_properties import MODEST, conversations


class Shelf:
    """What a store would hold: the message ids that each session shows."""

    def __init__(self) -> None:
        self.shown: dict[str, list[str]] = {}
        self.messages: dict[str, Draft] = {}

    def store(self, sessions: Iterable[ImportedSession]) -> list[str]:
        """Keeps the sessions; returns the ids of those that changed."""
        changed = []
        for session in sessions:
            own = [each.id for each in session.messages]
            for each in session.messages:
                assert self.messages.setdefault(each.id, each) == each
            if session.extends:
                self.shown[session.id] += own
            else:
                assert session.id not in self.shown
                source = self.shown[session.source_id] if session.source_id else []
                shared = source.index(session.shared_through) + 1 if session.shared_through else 0
                self.shown[session.id] = source[:shared] + own
            changed.append(session.id)
        return changed

    def take(self, entry: Json) -> list[str]:
        return self.store(read_one(entry).sessions_beside(self.shown))


SHORT = (user("u"), reply("a"))


def test_the_same_file_twice_imports_nothing_twice() -> None:
    entry = conversation((None, user("u")), ("u", call("c")), ("c", output("o")), ("u", reply("b")))
    shelf = Shelf()

    assert shelf.take(entry) == ["chatgpt:c", "chatgpt:c:o"]
    assert shelf.take(entry) == []


def test_a_session_that_was_not_continued_here_is_extended() -> None:
    shelf = Shelf()
    shelf.take(chain(*SHORT))

    assert shelf.take(chain(*SHORT, user("v"))) == ["chatgpt:c"]
    assert shelf.shown == {"chatgpt:c": ["chatgpt:c:u", "chatgpt:c:a", "chatgpt:c:v"]}


def test_what_comes_after_our_own_messages_is_a_fork() -> None:
    shelf = Shelf()
    shelf.take(chain(*SHORT))
    shelf.shown["chatgpt:c"].append("ours")

    assert shelf.take(chain(*SHORT, user("v"))) == ["chatgpt:c:v"]
    assert shelf.take(chain(*SHORT, user("v"), reply("w"))) == ["chatgpt:c:v"]
    assert shelf.shown == {
        "chatgpt:c": ["chatgpt:c:u", "chatgpt:c:a", "ours"],
        "chatgpt:c:v": ["chatgpt:c:u", "chatgpt:c:a", "chatgpt:c:v", "chatgpt:c:w"],
    }


def test_the_current_path_may_go_elsewhere() -> None:
    shelf = Shelf()
    shelf.take(chain(*SHORT))

    changed = shelf.take(
        conversation((None, user("u")), ("u", reply("a")), ("u", reply("b")), ("a", user("v")))
    )

    assert changed == ["chatgpt:c", "chatgpt:c:b"]
    changed = shelf.take(
        conversation(
            (None, user("u")), ("u", reply("a")), ("a", user("v")), ("u", reply("b")), ("b", user("w"))
        )
    )
    assert changed == ["chatgpt:c:b"]


def test_a_fork_of_an_extended_session_says_what_it_shares() -> None:
    shelf = Shelf()
    shelf.take(chain(*SHORT))
    longer = read_one(
        conversation((None, user("u")), ("u", reply("a")), ("a", user("v")), ("a", user("w")), current="v")
    )

    extended, fork = longer.sessions_beside(shelf.shown)

    assert (extended.id, extended.extends, ends(extended.messages)) == ("chatgpt:c", True, ["v"])
    assert (fork.source_id, fork.shared_messages, fork.extends) == ("chatgpt:c", 2, False)


def test_a_call_that_was_answered_later() -> None:
    shelf = Shelf()
    shelf.take(chain(user("u"), call("c")))

    assert shelf.take(chain(user("u"), call("c"), output("o"))) == ["chatgpt:c:o"]
    assert [id.split(":", 2)[2] for id in shelf.shown["chatgpt:c"]] == ["u", "c:.open", "c:.result"]
    assert [id.split(":", 2)[2] for id in shelf.shown["chatgpt:c:o"]] == ["u", "c", "o"]


def test_a_result_that_grew() -> None:
    shelf = Shelf()
    shelf.take(chain(user("u"), call("c"), output("o")))
    early = chain(user("u"), call("c"), call("d"), output("o"))

    assert shelf.take(chain(user("u"), call("c"), output("o"), output("p"))) == ["chatgpt:c:p"]
    assert [id.split(":", 2)[2] for id in shelf.shown["chatgpt:c"]] == ["u", "c", "o"]
    assert [id.split(":", 2)[2] for id in shelf.shown["chatgpt:c:p"]] == ["u", "c", "p"]

    shelf = Shelf()
    shelf.take(early)
    assert shelf.take(chain(user("u"), call("c"), call("d"), output("o"), output("p"))) == ["chatgpt:c:p"]
    assert [id.split(":", 2)[2] for id in shelf.shown["chatgpt:c"]] == ["u", "c", "o", "d:.open", "d:.result"]
    assert [id.split(":", 2)[2] for id in shelf.shown["chatgpt:c:p"]] == ["u", "c", "o", "d", "p"]


def test_trimmed_sessions_do_not_get_their_beginning_again() -> None:
    shelf = Shelf()
    shelf.take(chain(*SHORT, user("v")))
    del shelf.shown["chatgpt:c"][:2]

    assert shelf.take(chain(*SHORT, user("v"))) == []
    plan = read_one(
        conversation(
            (None, user("u")), ("u", reply("a")), ("a", user("v")), ("a", user("w")), ("v", reply("x"))
        )
    )
    extended, fork = plan.sessions_beside(shelf.shown)
    assert (extended.id, ends(extended.messages)) == ("chatgpt:c", ["x"])
    assert (fork.shared_messages, ends(fork.messages)) == (0, ["u", "a", "w"])


def test_messages_that_the_file_no_longer_has_may_stand_first() -> None:
    plan = read_one(chain(*SHORT, user("v")))

    (extended,) = plan.sessions_beside({"chatgpt:c": ["chatgpt:c:gone", "chatgpt:c:a"]})

    assert (extended.id, extended.extends, ends(extended.messages)) == ("chatgpt:c", True, ["v"])


def test_emptied_and_deleted_sessions() -> None:
    entry = conversation((None, user("u")), ("u", reply("a")), ("u", reply("b")))

    assert ends(read_one(entry).sessions_beside({"chatgpt:c:a": []})[0].messages) == ["u", "b"]
    (again,) = read_one(entry).sessions_beside({"chatgpt:c:a": ["chatgpt:c:u", "chatgpt:c:a"]})
    assert (again.id, again.source_id, again.shared_through) == ("chatgpt:c:b", "chatgpt:c:a", "chatgpt:c:u")
    emptied = read_one(chain(*SHORT)).sessions_beside({"chatgpt:c": []})
    assert [each.id for each in emptied] == ["chatgpt:c:a"]


def test_sessions_of_others_are_none_of_ours() -> None:
    plan = read_one(chain(*SHORT))

    assert plan.sessions_beside({"mine": ["chatgpt:c:u"], "chatgpt:cc": ["chatgpt:c:u"]}) == plan.sessions


def test_an_id_that_is_taken_for_something_else() -> None:
    stored = {"chatgpt:c": ["chatgpt:c:u", "x"], "chatgpt:c:a": ["chatgpt:c:u", "y"]}

    assert [each.id for each in read_one(chain(*SHORT)).sessions_beside(stored)] == ["chatgpt:c:a:.again"]


@MODEST
@given(conversations(sizes=(2, 16)), st.data())
def test_grown_exports(entry: Json, data: st.DataObject) -> None:
    mapping = entry["mapping"]
    cut = data.draw(st.integers(1, len(mapping)))
    early = {
        key: node | {"children": [child for child in node["children"] if int(child[1:]) < cut]}
        for key, node in list(mapping.items())[:cut]
    }
    shelf = Shelf()
    if young := read_if_any(entry | {"mapping": early}):
        shelf.store(young.sessions)
    for session_id in data.draw(st.sets(st.sampled_from(sorted(shelf.shown)))) if shelf.shown else ():
        shelf.shown[session_id].append(f"ours in {session_id}")
    before = {id: list(shown) for id, shown in shelf.shown.items()}

    grown = read_if_any(entry)
    if grown is None:
        return
    shelf.store(grown.sessions_beside(shelf.shown))

    for id, shown in before.items():
        assert shelf.shown[id][: len(shown)] == shown
        assert shelf.shown[id] == shown or not shown[-1].startswith("ours")
    for shown in shelf.shown.values():
        assert_whole_groups([shelf.messages[id] for id in shown if id in shelf.messages])
    for view in views(grown.sessions).values():
        wanted = [each.id for each in view]
        assert any(shown[: len(wanted)] == wanted for shown in shelf.shown.values())
    assert grown.sessions_beside(shelf.shown) == ()


def comb(size: int, teeth: int) -> Json:
    """A chain of `size` messages with another reply to each of `teeth` of them, the later the newer."""
    nodes: list[tuple[str | None, Json | None]] = [
        (f"m{n - 1}" if n else None, user(f"m{n}", at=2 * n + 1)) for n in range(size)
    ]
    every = size // teeth
    nodes += [(f"m{n}", reply(f"t{n}", at=2 * n)) for n in range(0, size, every)]
    return conversation(*nodes, current=f"m{size - 1}")


def test_branches_share_no_more_than_the_limit() -> None:
    """A thousand messages with 300 branches come whole; of thousands of branches the newest, as far as there
    is room, and a second import brings no more of them.
    """
    real = read_one(comb(1_000, 300)).sessions
    assert (len(real) > 300, any(each.is_beyond for each in real)) == (True, False)

    odd = read_one(comb(2_000, 2_000))
    planned = odd.sessions
    kept = [each for each in planned if not each.is_beyond]
    assert (planned[0].is_beyond, len(planned[0].messages), len(planned)) == (False, 2_000, 2_001)
    assert MAX_SHARED - 2_000 < sum(each.shared_messages for each in kept) <= MAX_SHARED
    newest = {each.id for each in kept[1:] if each.shared_messages > 1_000}
    assert newest == {f"chatgpt:c:t{n}" for n in range(2_000 - len(newest), 2_000)}
    assert len(newest) > 150
    shelf = Shelf()
    shelf.store(kept)
    assert all(each.is_beyond for each in odd.sessions_beside(shelf.shown))


@MODEST
@given(conversations(sizes=(2, 16)), st.integers(0, 30))
def test_what_is_beyond_the_limit(entry: Json, limit: int) -> None:
    """It is never the current path, nor what something kept leaves; the rest is as without a limit."""
    found = read_if_any(entry)
    if found is None:
        return
    whole = found.sessions
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions, "MAX_SHARED", limit)
        planned = found.sessions
        kept = [each for each in planned if not each.is_beyond]
        shelf = Shelf()
        shelf.store(kept)
        again = found.sessions_beside(shelf.shown)

    assert [each.model_copy(update={"is_beyond": False}) for each in planned] == list(whole)
    assert planned[0] == kept[0]
    assert sum(each.shared_messages for each in kept) <= limit
    views(kept)
    assert [each.id for each in again] == [each.id for each in planned if each.is_beyond]
    assert all(each.is_beyond for each in again)

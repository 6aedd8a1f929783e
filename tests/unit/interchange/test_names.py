import re

from hypothesis import given, settings
from hypothesis import strategies as st

from stello_graph.ids import check_id
from stello_graph.interchange.names import call_id, derived, name_of

FOREIGN = st.text() | st.from_regex(r"[A-Za-z0-9._-]{0,40}", fullmatch=True)


def test_plain_ids_stay_as_they_are() -> None:
    uuid = "d5dc5307-6807-41a0-8b04-4acee626eeb7"

    assert derived("chatgpt", name_of(uuid), name_of("a.b_c-1")) == f"chatgpt:{uuid}:a.b_c-1"


@settings(deadline=None)
@given(FOREIGN, FOREIGN, FOREIGN)
def test_names_are_legal_and_stay_apart(conversation: str, one: str, other: str) -> None:
    longest = derived("chatgpt", name_of(conversation), name_of(one), ".result", name_of(other))

    assert check_id(longest) == longest
    assert ":" not in name_of(one)
    assert (name_of(one) == name_of(other)) is (one == other)
    assert name_of(name_of(one)) != name_of(one) or name_of(one) == one


def test_call_ids_suit_every_provider() -> None:
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", call_id("chatgpt:c:.x"))
    assert call_id("a") != call_id("b")

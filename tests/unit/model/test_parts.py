"""Values of which only some fields were read."""

from hypothesis import given
from hypothesis import strategies as st

from stello_graph.model.message import Message, MessageState
from stello_graph.model.parts import parts_of
from stello_graph.model.session import SessionDigest
from stello_graph.model.topology import TopologyNode

FIELDS = tuple(TopologyNode.model_fields)


def node(**changed: object) -> TopologyNode:
    return TopologyNode.model_validate(
        {
            "id": "a", "label": "A", "status": "ACTIVE", "role": "MAIN", "depth": 0, "index": 3,
            "childCount": 2, "turnCount": 1, "createdAt": 7, "lastActiveAt": 8,
        }
        | changed
    )  # fmt: skip


@given(only=st.lists(st.sampled_from(FIELDS), min_size=1, unique=True), parent=st.none() | st.text())
def test_a_part_tells_what_the_whole_does(only: list[str], parent: str | None) -> None:
    """Of the fields that it has, whatever their order; others it has not."""
    whole = node(parentId=parent)
    stored = whole.model_dump()

    (part,) = parts_of(TopologyNode, tuple(only), [[stored[name] for name in only]])

    assert {name: getattr(part, name) for name in only} == {name: getattr(whole, name) for name in only}
    assert not any(hasattr(part, name) for name in set(FIELDS) - set(only) - {"index", "count"})


def test_null_is_the_default() -> None:
    (digest,) = parts_of(SessionDigest, ("id", "memory", "memory_seq"), [["a", None, None]])
    assert (digest.id, digest.memory, digest.memory_seq) == ("a", None, 0)

    (message,) = parts_of(Message, ("state", "is_error", "seq"), [[None, None, 5]])
    assert (message.state, message.is_error, message.seq) == (MessageState.COMPLETE, False, 5)


def test_what_is_torn_is_left_out() -> None:
    """A value without a field that it cannot be without is being deleted."""
    found = parts_of(
        TopologyNode, ("id", "label", "source_seq"), [["a", "A", 1], ["b", None, 2], ["c", "C", None]]
    )

    assert [(one.id, one.label, one.source_seq) for one in found] == [("a", "A", 1), ("c", "C", None)]


def test_nothing_of_nothing() -> None:
    assert parts_of(TopologyNode, ("id",), []) == []

"""Light sessions, before they are stored."""

import pytest

from stello_graph.demo.light import LOT, light_forest
from stello_graph.model.message import MessageRole, turns_of
from stello_graph.model.writes import PlacedDraft

NOW = 1_800_000_000_000_000


def forest(count: int) -> list[PlacedDraft]:
    return [one for lot in light_forest(count, now=NOW) for one in lot]


@pytest.mark.parametrize("count", [0, 1, 2, 121, 3_000])
def test_as_many_as_asked_for(count: int) -> None:
    """Each once, in lots of a bounded size, whose parents and sources are in lots before."""
    made: set[str] = set()
    for lot in light_forest(count, now=NOW):
        assert 0 < len(lot) <= LOT
        above = {id for one in lot for id in (one.parent_id, one.source_id) if id is not None}
        assert above <= made
        made |= {one.id for one in lot}
    assert len(made) == len(forest(count)) == count


def test_the_same_each_time() -> None:
    """Nothing but the times depends on when it is made."""
    later = [one for lot in light_forest(500, now=NOW + 10**12) for one in lot]
    times = {"created_at": 0, "last_active_at": 0}
    assert [one.model_copy(update=times) for one in forest(500)] == [
        one.model_copy(update=times) for one in later
    ]


def test_the_shape() -> None:
    """Several trees, some sessions with many children, some chains that go deep; a few from elsewhere."""
    depth: dict[str | None, int] = {None: -1}
    children: dict[str | None, int] = {}
    for one in forest(5_000):
        depth[one.id] = depth[one.parent_id] + 1
        children[one.parent_id] = children.get(one.parent_id, 0) + 1
        assert one.created_at is not None
        assert one.last_active_at is not None
        assert one.created_at <= one.last_active_at <= NOW
        assert 1 <= turns_of(one.messages) == len(one.messages) / 2 <= 3
        assert {said.role for said in one.messages} == {MessageRole.USER, MessageRole.ASSISTANT}
        assert "{" not in one.label
    assert children[None] > 30
    assert max(children[id] for id in children if id is not None) > 50
    assert max(depth.values()) > 30
    strange = [one for one in forest(5_000) if one.source_id not in (None, one.parent_id)]
    assert 50 < len(strange) < 500

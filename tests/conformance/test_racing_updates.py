"""A session that is changed while its tree grows: no change and no child is lost."""

import pytest

from stello_graph.model.values import SessionStatus
from stello_graph.ports import SpaceStore
from tests.conformance.drafts import child, create
from tests.conformance.racing import race


@pytest.mark.covers("W11", "W7")
async def test_updated_while_it_grows(space: SpaceStore, twin: SpaceStore) -> None:
    """Fields, status and children that are written at once are all there, on both sides of the map."""
    top = await create(space, metadata={"a": 1})
    doomed = (await space.create_session(child(top.id), None)).id

    _, lost = await race(
        call
        for n, store in enumerate([space, twin] * 6)
        for call in (
            store.create_session(child(top.id, f"{n}"), None),
            store.update_session(top.id, {"label": "new"} if n % 2 else {"tags": [f"{n}"]}),
            store.set_status(doomed, SessionStatus.ARCHIVED),
        )
    )

    assert lost == []
    session, node = (await space.sessions([top.id]))[top.id], (await space.nodes([top.id]))[top.id]
    assert (session.label, node.label, node.child_count) == ("new", "new", 13)
    assert (len(session.tags), session.metadata, session.status) == (1, {"a": 1}, SessionStatus.ACTIVE)
    children = (await space.children([top.id], after=-1, first=50))[top.id]
    assert children is not None
    assert [found.index for found in children] == list(range(13))
    assert [found.id for found in children if found.status is SessionStatus.ARCHIVED] == [doomed]

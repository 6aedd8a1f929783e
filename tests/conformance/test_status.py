import pytest

from stello_graph.errors import NotFound, SessionArchived
from stello_graph.model.session import SessionOverrides
from stello_graph.model.values import SessionStatus
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import child, create

ACTIVE, ARCHIVED = SessionStatus.ACTIVE, SessionStatus.ARCHIVED


@pytest.mark.covers("SES-4", "W7")
async def test_archiving(space: SpaceStore) -> None:
    """A session is archived on both sides of the map; its children stay active; it can be undone."""
    top = await create(space)
    below = await space.create_session(child(top.id), None)

    archived, changed = await space.set_status(top.id, ARCHIVED)

    assert (archived.status, (await space.nodes([top.id]))[top.id].status) == (ARCHIVED, ARCHIVED)
    assert changed
    assert (await space.sessions([below.id]))[below.id].status == ACTIVE
    back, changed = await space.set_status(top.id, ACTIVE)
    assert (back.status, (await space.nodes([top.id]))[top.id].status) == (ACTIVE, ACTIVE)
    assert changed


@pytest.mark.covers("SES-4")
@pytest.mark.parametrize("status", [ACTIVE, ARCHIVED])
async def test_the_same_again(space: SpaceStore, database: Database, status: SessionStatus) -> None:
    """The status that a session has already changes nothing."""
    session = await create(space)
    await space.set_status(session.id, status)
    before = database.snapshot(space.space_id)

    session, changed = await space.set_status(session.id, status)
    assert (session.status, changed) == (status, False)
    assert database.snapshot(space.space_id) == before


@pytest.mark.covers("SES-2", "W7")
async def test_updating(space: SpaceStore) -> None:
    """Fields that are given change, on both sides of the map; the others stay."""
    session = await create(
        space,
        "old",
        system_prompt="p",
        skills=("s",),
        tags=("t",),
        metadata={"a": 1},
        overrides={"overrideModel": "m"},
    )

    changed = await space.update_session(
        session.id,
        {"label": "新", "tags": ["x", "y"], "metadata": [1, None], "skills": (), "overrideRoleContext": "r"},
    )

    assert (changed.label, changed.tags, changed.metadata, changed.skills) == (
        "新",
        ("x", "y"),
        [1, None],
        (),
    )
    assert changed.overrides == SessionOverrides(model="m", role_context="r")
    assert changed.system_prompt == "p"
    assert changed.updated_at >= session.updated_at
    assert (await space.sessions([session.id]))[session.id] == changed
    assert (await space.nodes([session.id]))[session.id].label == "新"


async def test_clearing(space: SpaceStore) -> None:
    """None clears a field that may be empty."""
    session = await create(space, system_prompt="p", skills=("s",), overrides={"overrideModel": "m"})

    changed = await space.update_session(
        session.id, {"systemPrompt": None, "skills": None, "overrideModel": None, "tags": []}
    )

    assert (changed.system_prompt, changed.skills, changed.overrides.model, changed.tags) == (
        None,
        None,
        None,
        (),
    )
    assert changed.label == session.label


async def test_changing_nothing(space: SpaceStore) -> None:
    """An update without fields changes no field."""
    session = await create(space, metadata={"a": 1})

    changed = await space.update_session(session.id, {})

    moving = {"updated_at": changed.updated_at, "event_seq": changed.event_seq}
    assert changed == session.model_copy(update=moving)


async def test_refusals(space: SpaceStore, database: Database) -> None:
    """An archived session is not changed, an unknown one not found."""
    session = await create(space)
    await space.set_status(session.id, ARCHIVED)
    before = database.snapshot(space.space_id)

    with pytest.raises(SessionArchived):
        await space.update_session(session.id, {"label": "x"})
    with pytest.raises(NotFound):
        await space.update_session("nobody", {"label": "x"})
    with pytest.raises(NotFound):
        await space.set_status("nobody", ARCHIVED)

    assert database.snapshot(space.space_id) == before

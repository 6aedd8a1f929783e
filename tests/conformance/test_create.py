import pytest

from stello_graph.errors import Conflict, NotFound, SessionArchived
from stello_graph.model.session import SessionOverrides
from stello_graph.model.values import SessionRole, SessionStatus, TopologyStrategy, Usage
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import child, create, root

LABEL = "星图 “map” \\ ' 🌌"
METADATA = {"deep": [{"a": None, "b": 1.5}, "星"], "big": 2**53 + 1, "no": False, "": ""}


@pytest.mark.covers("TOPO-1")
async def test_roots(space: SpaceStore) -> None:
    """Roots have depth 0 and the places 0, 1, 2 among each other."""
    ids = [(await create(space, f"Root {n}")).id for n in range(3)]

    nodes = await space.nodes(ids)

    assert [(nodes[id].parent_id, nodes[id].depth, nodes[id].index) for id in ids] == [
        (None, 0, 0),
        (None, 0, 1),
        (None, 0, 2),
    ]


@pytest.mark.covers("TOPO-2")
async def test_children(space: SpaceStore) -> None:
    """Children are one deeper, in places by the order of creation; the parent counts them."""
    top = await create(space)
    ids = [(await space.create_session(child(top.id), None)).id for _ in range(3)]
    grandchild = await space.create_session(child(ids[1]), None)

    nodes = await space.nodes([top.id, *ids, grandchild.id])

    assert [(nodes[id].parent_id, nodes[id].depth, nodes[id].index) for id in ids] == [
        (top.id, 1, 0),
        (top.id, 1, 1),
        (top.id, 1, 2),
    ]
    assert (nodes[grandchild.id].depth, nodes[grandchild.id].index) == (2, 0)
    assert [nodes[id].child_count for id in (top.id, *ids)] == [3, 0, 1, 0]
    assert grandchild.root_id == top.id


@pytest.mark.covers("SES-1")
async def test_a_new_session_has_nothing_yet(space: SpaceStore) -> None:
    """A new session is active, has no messages, turns or memory, and its times are one."""
    made = await create(space)

    assert (made.status, made.role, made.strategy) == (
        SessionStatus.ACTIVE,
        SessionRole.STANDARD,
        TopologyStrategy.TREE,
    )
    assert (made.turn_count, made.message_count, made.next_seq, made.usage) == (0, 0, 1, Usage())
    assert (made.memory, made.insight, made.synthesis, made.compression, made.open_turn_id) == (None,) * 5
    assert made.created_at == made.updated_at == made.last_active_at
    assert made.root_id == made.id


async def test_every_field_is_kept(space: SpaceStore) -> None:
    """What was given is what is read, whatever the characters."""
    overrides = {
        "overrideModel": "m",
        "overrideConsolidatePrompt": "c",
        "overrideIntegratePrompt": "i",
        "overrideCompressPrompt": "k",
        "overrideRoleContext": LABEL,
    }
    draft = root(
        LABEL,
        role=SessionRole.MAIN,
        system_prompt=f"line\n\t{LABEL}",
        skills=("a", LABEL),
        tags=("t", LABEL),
        metadata=METADATA,
        overrides=overrides,
    )

    made = await space.create_session(draft, None)

    assert (made.label, made.role, made.system_prompt) == (LABEL, SessionRole.MAIN, draft.system_prompt)
    assert (made.skills, made.tags, made.metadata) == (draft.skills, draft.tags, METADATA)
    assert made.overrides == SessionOverrides(
        model="m", consolidate_prompt="c", integrate_prompt="i", compress_prompt="k", role_context=LABEL
    )
    assert (await space.sessions([made.id]))[made.id] == made
    assert (await space.nodes([made.id]))[made.id].label == LABEL


@pytest.mark.parametrize("skills", [None, (), ("one",)])
async def test_skills_have_three_states(space: SpaceStore, skills: tuple[str, ...] | None) -> None:
    """No list of skills allows all, an empty one none."""
    assert (await create(space, skills=skills)).skills == skills


@pytest.mark.parametrize("metadata", [{}, [], 0, False, "", {"a": None}, [[]]])
async def test_metadata_is_any_json(space: SpaceStore, metadata: object) -> None:
    """Metadata comes back as it was given; none at all is an empty object."""
    assert (await create(space, metadata=metadata)).metadata == metadata
    assert (await create(space)).metadata == {}


async def test_strategy(space: SpaceStore) -> None:
    """A root's strategy: what was given, else the Space's, else FLAT for MAIN and TREE; a tree has one."""
    main = await create(space, role=SessionRole.MAIN)
    given = await create(space, role=SessionRole.MAIN, strategy=TopologyStrategy.HIERARCHICAL)
    config = (await space.space()).config.model_copy(update={"strategy": TopologyStrategy.FLAT})
    await space.configure((await space.space()).model_copy(update={"config": config}))

    of_space = await create(space)
    under = await space.create_session(child(given.id, strategy=TopologyStrategy.TREE), None)

    assert [one.strategy for one in (main, given, of_space, under)] == [
        TopologyStrategy.FLAT,
        TopologyStrategy.HIERARCHICAL,
        TopologyStrategy.FLAT,
        TopologyStrategy.HIERARCHICAL,
    ]


@pytest.mark.covers("TOPO-3")
async def test_an_unknown_parent(space: SpaceStore, database: Database) -> None:
    """Under a parent that does not exist nothing is made."""
    before = database.snapshot(space.space_id)

    with pytest.raises(NotFound, match='session "nobody"'):
        await space.create_session(child("nobody"), None)

    assert database.snapshot(space.space_id) == before


async def test_an_archived_parent(space: SpaceStore) -> None:
    """Nothing is made under an archived parent."""
    top = await create(space)
    await space.set_status(top.id, SessionStatus.ARCHIVED)

    with pytest.raises(SessionArchived, match=top.id):
        await space.create_session(child(top.id), None)

    assert (await space.nodes([top.id]))[top.id].child_count == 0


@pytest.mark.covers("W27")
async def test_a_taken_id(space: SpaceStore) -> None:
    """An id is given once."""
    top = await create(space, "First")

    with pytest.raises(Conflict, match=top.id):
        await space.create_session(root("Second", id=top.id), None)

    assert (await space.sessions([top.id]))[top.id] == top


async def test_ids_of_all_permitted_characters(space: SpaceStore) -> None:
    """The longest id of all permitted characters is one."""
    id = ("Az09._:-" * 16)[:128]

    await space.create_session(root(id=id), None)
    below = await space.create_session(child(id), None)

    assert (await space.ancestors([below.id]))[below.id][0].id == id

"""Records, shared memory and skills: what a Space holds beside its sessions."""

import asyncio

import pytest

from stello_graph.errors import Conflict, LimitExceeded, NotFound
from stello_graph.ids import new_id
from stello_graph.model.knowledge import SharedMemoryNote, Skill, SkillNote
from stello_graph.model.space import SpaceConfig
from stello_graph.ports import SpaceStore
from stello_graph.store.store import GraphStore
from tests.conformance.databases import Database
from tests.conformance.drafts import begin, create, end_of, told
from tests.conformance.racing import race

MANY = 200
VALUES = [
    {"星": [1, 2.5, None, True, {"深": "值"}], "空": {}},
    [],
    "text with ' and \" and \\ and \u2028",
    0,
    -1.5,
    False,
    2**53,
]


def skill(name: str, description: str = "d", content: str = "c") -> Skill:
    return Skill(name=name, description=description, content=content)


async def keys(space: SpaceStore, prefix: str = "", after: str = "", first: int = 1_000) -> list[str]:
    return [record.key for record in await space.records(prefix, after=after, first=first)]


async def slugs(space: SpaceStore) -> list[str]:
    return [memory.slug for memory in await space.shared_memories()]


async def share(space: SpaceStore, shared: bool = True) -> None:
    config = SpaceConfig(shared_memory=shared)
    assert await space.configure((await space.space()).model_copy(update={"config": config})) is not None


@pytest.mark.covers("REC-1")
async def test_a_record(space: SpaceStore) -> None:
    """A record is what was put last; its revision begins at 1 and grows by one."""
    first = await space.put_record("goals.q3", {"a": 1}, None)
    second = await space.put_record("goals.q3", "二", None)

    assert (first.key, first.value, first.revision) == ("goals.q3", {"a": 1}, 1)
    assert (second.key, second.value, second.revision) == ("goals.q3", "二", 2)
    assert second.updated_at >= first.updated_at
    assert await space.record("goals.q3") == second
    assert await space.record("goals") is None


@pytest.mark.parametrize("value", VALUES, ids=repr)
async def test_any_json_comes_back(space: SpaceStore, value: object) -> None:
    """A value comes back as it was put."""
    await space.put_record("k", value, None)

    found = await space.record("k")
    assert found is not None
    assert found.value == value
    assert type(found.value) is type(value)


@pytest.mark.covers("REC-2")
async def test_expected_revisions(space: SpaceStore, database: Database) -> None:
    """0 writes only what is new, another revision only what has it; a mismatch changes nothing."""
    with pytest.raises(Conflict) as refused:
        await space.put_record("k", 1, 1)
    assert refused.value.details["revision"] == 0
    assert (await space.put_record("k", 1, 0)).revision == 1
    assert (await space.put_record("k", 2, 1)).revision == 2
    before = database.snapshot(space.space_id)

    for revision in (0, 1, 3):
        with pytest.raises(Conflict) as refused:
            await space.put_record("k", 3, revision)
        assert refused.value.details["revision"] == 2

    assert database.snapshot(space.space_id) == before


@pytest.mark.covers("REC-2")
async def test_one_of_many_puts_wins(space: SpaceStore, twin: SpaceStore) -> None:
    """Of many puts at once that expect the same revision exactly one wins, from whichever process."""
    for revision in range(3):
        calls = [store.put_record("k", n, revision) for n in range(8) for store in (space, twin)]
        won, lost = await race(calls)

        assert [record.revision for record in won] == [revision + 1]
        assert {type(error) for error in lost} == {Conflict}
        assert len(lost) == 15
        assert await space.record("k") == won[0]


async def test_puts_that_expect_nothing_are_all_counted(space: SpaceStore, twin: SpaceStore) -> None:
    """Every put without an expected revision takes a revision of its own."""
    won, lost = await race(store.put_record("k", n, None) for n in range(8) for store in (space, twin))

    assert lost == []
    assert sorted(record.revision for record in won) == list(range(1, 17))
    last = await space.record("k")
    assert last is not None
    assert [record.value for record in won if record.revision == 16] == [last.value]


async def test_deleting_a_record(space: SpaceStore, twin: SpaceStore) -> None:
    """A deleted record is gone, one of many deletes did it, and its key begins anew."""
    await space.put_record("k", 1, None)
    await space.put_record("k", 2, None)

    won, lost = await race(store.delete_record("k") for store in (space, twin) * 4)

    assert (won.count(True), won.count(False), lost) == (1, 7, [])
    assert await space.record("k") is None
    assert (await space.put_record("k", 3, 0)).revision == 1


async def test_records_are_in_the_order_of_code_points(space: SpaceStore) -> None:
    """Records come by key in the order of code points, on every engine, beyond the first plane too."""
    mixed = ["b", "a", "a.b", "a-b", "aB", "a_b", "Z", "0", "é", "星", "\uff58", "\U00020bb7", "\U0001e900"]
    for key in mixed:
        await space.put_record(key, key, 0)

    assert await keys(space) == sorted(mixed)
    for number, key in enumerate(sorted(mixed)):
        assert await keys(space, after=key) == sorted(mixed)[number + 1 :]


@pytest.mark.covers("REC-3")
async def test_records_by_prefix(space: SpaceStore) -> None:
    """A prefix is what keys begin with, to the last character that there is."""
    every = [
        "a",
        "a.b",
        "a.b.c",
        "a.c",
        "ab",
        "b",
        "\ud7ff",
        "\ud7ffx",
        "\ue000",
        "星.a",
        "星.b",
        "\U0010fffd",
    ]
    for key in every:
        await space.put_record(key, 1, 0)

    for prefix in ["", "a", "a.", "a.b", "a.b.", "c", "\ud7ff", "星", "星.", "\U0010fffd"]:
        assert await keys(space, prefix) == sorted(key for key in every if key.startswith(prefix)), prefix


async def test_pages_of_records(space: SpaceStore) -> None:
    """Pages go on after a key, whether it is there or not, and before the prefix as well."""
    every = [f"p.{n:02}" for n in range(7)]
    for key in ["a", *every, "z"]:
        await space.put_record(key, 1, 0)

    assert await keys(space, "p.", first=3) == every[:3]
    assert await keys(space, "p.", after=every[2], first=3) == every[3:6]
    assert await keys(space, "p.", after="p.055", first=3) == every[6:]
    assert await keys(space, "p.", after="a", first=3) == every[:3]
    assert await keys(space, "p.", after="z", first=3) == []


@pytest.mark.covers("SHM-1")
async def test_shared_memories_keep_their_order(space: SpaceStore) -> None:
    """They come in the order of insertion; an update keeps the place, a deleted one comes last again."""
    for slug in ("c", "a", "b"):
        await space.put_shared_memory(slug, f"about {slug}", slug * 3, limit=MANY)
    changed = await space.put_shared_memory("c", "changed", "", limit=MANY)
    assert await slugs(space) == ["c", "a", "b"]

    assert await space.delete_shared_memory("c")
    assert await slugs(space) == ["a", "b"]
    again = await space.put_shared_memory("c", "again", "body", limit=MANY)

    assert (changed.slug, changed.summary, changed.body) == ("c", "changed", "")
    assert again.updated_at >= changed.updated_at
    assert await slugs(space) == ["a", "b", "c"]
    assert (await space.shared_memories())[-1] == await space.shared_memory("c") == again


async def test_a_shared_memory_that_is_not_there(space: SpaceStore, database: Database) -> None:
    """What is not there is None, and to delete it changes nothing."""
    before = database.snapshot(space.space_id)

    assert await space.shared_memory("x") is None
    assert not await space.delete_shared_memory("x")
    assert not await space.delete_record("x")
    assert not await space.delete_skill("x")

    assert database.snapshot(space.space_id) == before


@pytest.mark.covers("SHM-3")
async def test_parallel_shared_memories(space: SpaceStore, twin: SpaceStore) -> None:
    """Of many who write at once nothing is lost, each slug is there once and has a place of its own."""
    names = [f"slug-{n}" for n in range(8)]
    calls = [
        store.put_shared_memory(slug, f"by {number}", slug, limit=MANY)
        for number, store in enumerate((space, twin, space))
        for slug in names
    ]

    won, lost = await race(calls)

    assert (len(won), lost) == (24, [])
    found = await space.shared_memories()
    assert sorted(memory.slug for memory in found) == names
    assert {memory.body for memory in found} == set(names)
    assert await twin.shared_memories() == found


async def test_no_more_than_the_limit(space: SpaceStore, twin: SpaceStore, database: Database) -> None:
    """Beyond the limit nothing new is written, many at once or not; what is there can change."""
    calls = [store.put_shared_memory(f"m{n}", "", "", limit=5) for n in range(6) for store in (space, twin)]
    won, lost = await race(calls)
    assert len(won) + len(lost) == 12
    assert {type(error) for error in lost} == {LimitExceeded}
    kept = await slugs(space)
    assert len(kept) == 5
    for n in range(5):
        await space.put_skill(skill(f"s{n}"), limit=5)
    before = database.snapshot(space.space_id)

    with pytest.raises(LimitExceeded):
        await space.put_shared_memory("new", "", "", limit=5)
    with pytest.raises(LimitExceeded):
        await space.put_skill(skill("new"), limit=5)
    assert database.snapshot(space.space_id) == before

    assert (await space.put_shared_memory(kept[0], "s", "b", limit=5)).body == "b"
    assert (await space.put_skill(skill("s0", "new"), limit=5)).description == "new"
    assert await space.delete_shared_memory(kept[1])
    assert (await space.put_shared_memory("new", "", "", limit=5)).slug == "new"


@pytest.mark.covers("SKILL-1")
async def test_skills(space: SpaceStore) -> None:
    """Skills come in the order of first insertion; an update keeps the place."""
    for name in ("z", "研究", "a"):
        assert await space.put_skill(skill(name), limit=MANY) == skill(name)
    changed = await space.put_skill(skill("z", "", "new content"), limit=MANY)

    assert await space.skills() == [changed, skill("研究"), skill("a")]
    assert await space.skill("z") == changed
    assert await space.delete_skill("z")
    assert not await space.delete_skill("z")
    assert await space.skill("z") is None
    await space.put_skill(skill("z"), limit=MANY)
    assert [found.name for found in await space.skills()] == ["研究", "a", "z"]


async def test_a_conversation_has_the_index(space: SpaceStore) -> None:
    """Compiling and turns see slugs and summaries where the Space shares memory, else nothing."""
    session = await create(space)
    for slug in ("b", "a"):
        await space.put_shared_memory(slug, f"about {slug}", "body", limit=MANY)
    notes = tuple(
        SharedMemoryNote(slug=memory.slug, summary=memory.summary, updated_at=memory.updated_at)
        for memory in await space.shared_memories()
    )

    for shared in (False, True, False):
        await share(space, shared)
        begun = await begin(space, session.id)
        await space.end_turn(end_of(begun.turn, told()))
        seen = notes if shared else ()
        assert begun.conversation.shared_memories == seen
        assert (await space.conversation(session.id)).shared_memories == seen
    assert [note.slug for note in notes] == ["b", "a"]


async def test_a_conversation_has_the_skills(space: SpaceStore) -> None:
    """Compiling and turns see the stored skills without their content, in order."""
    session = await create(space, skills=())
    for name in ("b", "a"):
        await space.put_skill(skill(name, f"does {name}"), limit=MANY)
    notes = (SkillNote(name="b", description="does b"), SkillNote(name="a", description="does a"))

    assert (await space.conversation(session.id)).skills == notes
    assert (await begin(space, session.id)).conversation.skills == notes


async def test_nothing_of_other_spaces(space: SpaceStore, store: GraphStore) -> None:
    """Another Space sees nothing of all this, uses the same names for its own, and deletes only its own."""
    id = f"{space.space_id}0"
    await store.ensure_space(id, "Neighbour")
    other = store.in_space(id)
    for one in (space, other):
        await share(one)
    record = await space.put_record("k", "mine", 0)
    memory = await space.put_shared_memory("k", "mine", "mine", limit=MANY)
    await space.put_skill(skill("k", "mine"), limit=MANY)
    session = await create(other)

    assert await other.record("k") is None
    assert await keys(other) == []
    assert await other.shared_memory("k") is None
    assert await other.shared_memories() == []
    assert await other.skill("k") is None
    assert await other.skills() == []
    seen = await other.conversation(session.id)
    assert (seen.shared_memories, seen.skills) == ((), ())
    assert not await other.delete_record("k")
    assert not await other.delete_shared_memory("k")
    assert not await other.delete_skill("k")

    assert (await other.put_record("k", "theirs", 0)).revision == 1
    await other.put_shared_memory("k", "theirs", "theirs", limit=1)
    await other.put_skill(skill("k", "theirs"), limit=1)
    assert await space.records("", after="", first=10) == [record]
    assert await space.shared_memories() == [memory]
    assert await space.skills() == [skill("k", "mine")]


async def test_a_space_that_was_never_made_holds_nothing(store: GraphStore) -> None:
    """Where there is no Space nothing is found and nothing is written."""
    nowhere = store.in_space(f"never-{new_id()}")

    for call in (
        nowhere.put_record("k", 1, None),
        nowhere.put_shared_memory("k", "", "", limit=MANY),
        nowhere.put_skill(skill("k"), limit=MANY),
        nowhere.delete_record("k"),
        nowhere.delete_shared_memory("k"),
        nowhere.delete_skill("k"),
    ):
        with pytest.raises(NotFound):
            await call

    assert await nowhere.record("k") is None
    assert await keys(nowhere) == []
    assert await nowhere.shared_memories() == []
    assert await nowhere.skills() == []


async def test_writes_of_all_kinds_at_once(space: SpaceStore, twin: SpaceStore) -> None:
    """Writes of records, memory and skills beside turns: each is done, none waits for ever."""
    session = await create(space)

    async def talk() -> None:
        begun = await begin(space, session.id)
        assert await space.end_turn(end_of(begun.turn, told())) is not None

    await asyncio.gather(
        talk(),
        *(twin.put_record(f"r{n}", n, 0) for n in range(6)),
        *(space.put_shared_memory(f"m{n}", "", "", limit=MANY) for n in range(6)),
        *(twin.put_skill(skill(f"s{n}"), limit=MANY) for n in range(6)),
    )

    assert len(await keys(space)) == len(await slugs(space)) == len(await space.skills()) == 6

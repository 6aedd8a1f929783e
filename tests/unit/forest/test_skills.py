"""Which skills a session may use, and which one it gets by a name."""

from pathlib import Path

import pytest

from stello_graph.errors import InvalidInput, NotFound
from stello_graph.forest.knowledge import put_skill
from stello_graph.forest.skills import SkillBook
from stello_graph.model.knowledge import Skill, SkillNote
from stello_graph.model.session import Session
from stello_graph.model.values import SessionRole, SessionStatus, TopologyStrategy
from stello_graph.store.sqlite import SqliteEngine
from stello_graph.store.store import GraphStore

OF_FOLDERS = [Skill(name=name, description="", content=f"{name} of a folder") for name in ("f", "g")]


def session(skills: tuple[str, ...] | None) -> Session:
    return Session(
        id="s",
        label="",
        role=SessionRole.STANDARD,
        status=SessionStatus.ACTIVE,
        strategy=TopologyStrategy.TREE,
        root_id="s",
        skills=skills,
        created_at=0,
        updated_at=0,
        last_active_at=0,
    )


@pytest.mark.covers("SKILL-2")
@pytest.mark.parametrize(
    ("skills", "names"),
    [(None, ["b", "g", "f"]), ((), []), (("f",), ["f"]), (("f", "g", "gone"), ["g", "f"])],
)
def test_what_a_session_may_use(skills: tuple[str, ...] | None, names: list[str]) -> None:
    """Stored ones come in their order, then those of folders; a stored one wins; the whitelist decides."""
    stored = [SkillNote(name=name, description="stored") for name in ("b", "g")]

    found = SkillBook(OF_FOLDERS).allowed(session(skills), stored)

    assert [skill.name for skill in found] == names
    assert [skill.description for skill in found if skill.name == "g"] == ["stored"] * ("g" in names)


async def test_one_by_its_name(tmp_path: Path) -> None:
    """A skill is found with its content, the stored one first, and only where the session may use it."""
    store = GraphStore(SqliteEngine(tmp_path / "stello.db"))
    await store.migrate()
    await store.ensure_space("default", "Default")
    space, book = store.in_space("default"), SkillBook(OF_FOLDERS)
    stored = await put_skill(space, Skill(name=" g ", description="d", content="stored"))

    assert await book.find(space, session(None), " g") == stored
    assert stored.name == "g"
    assert (await book.find(space, session(("f",)), "f")).content == "f of a folder"
    assert await book.find(space, None, "f") == OF_FOLDERS[0]
    for skills, name in (((), "g"), (("f",), "g"), (None, "gone"), (("gone",), "gone")):
        with pytest.raises(NotFound):
            await book.find(space, session(skills), name)
    for name in ("", "\ud800", "x" * 10_000):
        with pytest.raises(InvalidInput):
            await book.find(space, session(None), name)
    await store.aclose()

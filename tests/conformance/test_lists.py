import pytest

from stello_graph.model.values import SessionRole, SessionStatus
from stello_graph.model.writes import SessionFilter
from stello_graph.ports import SpaceStore
from tests.conformance.drafts import child, create


async def ids(space: SpaceStore, which: SessionFilter, after: str = "", first: int = 100) -> list[str]:
    return [session.id for session in await space.list_sessions(which, after=after, first=first)]


async def test_by_id(space: SpaceStore) -> None:
    """Sessions by id: those that exist, each once."""
    one, two = await create(space), await create(space)

    assert await space.sessions([two.id, "nobody", one.id, two.id]) == {one.id: one, two.id: two}
    assert await space.sessions([]) == {}


@pytest.mark.covers("SES-6")
async def test_pages(space: SpaceStore) -> None:
    """A list is in the order of ids, page after page, whole and without repeats."""
    expected = sorted([(await create(space)).id for _ in range(5)])
    assert await ids(space, SessionFilter()) == expected

    after, pages = "", []
    while page := await ids(space, SessionFilter(), after, 2):
        pages.append(page)
        after = page[-1]

    assert pages == [expected[:2], expected[2:4], expected[4:]]


@pytest.mark.covers("SES-6")
async def test_filters(space: SpaceStore) -> None:
    """A list of one status, role, tag or tree, and of all of these together; the count is the list's."""
    main = await create(space, role=SessionRole.MAIN, tags=("星", "a"))
    plain = await create(space, tags=("ab",))
    below = await space.create_session(child(main.id, tags=("a",)), None)
    await space.set_status(below.id, SessionStatus.ARCHIVED)
    cases = {
        SessionFilter(): {main.id, plain.id, below.id},
        SessionFilter(status=SessionStatus.ARCHIVED): {below.id},
        SessionFilter(role=SessionRole.MAIN): {main.id},
        SessionFilter(tag="a"): {main.id, below.id},
        SessionFilter(tag="星"): {main.id},
        SessionFilter(tag="nothing"): set(),
        SessionFilter(root_id=main.id): {main.id, below.id},
        SessionFilter(root_id=below.id): set(),
        SessionFilter(root_id=main.id, tag="a", status=SessionStatus.ACTIVE): {main.id},
        SessionFilter(root_id=main.id, role=SessionRole.STANDARD): {below.id},
    }

    for which, expected in cases.items():
        assert set(await ids(space, which)) == expected, which
        assert await space.count_sessions(which) == len(expected), which


async def test_pages_of_a_tree(space: SpaceStore) -> None:
    """A tree's sessions come in pages as well."""
    top = await create(space)
    below = [(await space.create_session(child(top.id), None)).id for _ in range(3)]
    expected = sorted([top.id, *below])
    which = SessionFilter(root_id=top.id)

    assert await ids(space, which, first=2) == expected[:2]
    assert await ids(space, which, expected[1], 2) == expected[2:]

"""Search: what is found, where, in which order, and never what is another's or gone."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import pytest

from stello_graph.forest.backlog import index_all
from stello_graph.ids import new_id
from stello_graph.model.message import Draft, MessageRole
from stello_graph.model.search import MAX_BEGINNINGS, SearchMatch, SearchScope, parse_query
from stello_graph.model.values import SessionStatus, Usage
from stello_graph.model.writes import ImportDraft
from stello_graph.ports import SpaceStore
from stello_graph.store import search as store_search
from stello_graph.store.store import GraphStore
from tests.conformance.databases import Database
from tests.conformance.drafts import (
    LEASE,
    begin,
    child,
    create,
    end_of,
    exchange,
    fork_of,
    said,
    told,
    tool_group,
    usage,
)
from tests.conformance.invariants import check_invariants

Search = Callable[..., Awaitable[list[SearchMatch]]]

ALL_SCOPES = tuple(SearchScope)

# Texts of our own in several scripts, and for each query those that it finds.
CORPUS = {
    "en": "The quick brown fox jumps over Anna's lazy dog; e-mail v1.2 is snake_case.",
    "zh": "我们在北京大学讨论了机器学习的模型。",
    "zh-2": "大连的学校在北边，京剧团来自南京。",
    "zh-rare": "𠮷野家的𠮷字很少见",
    "ja": "東京タワーはすごい。ガラス工芸と日本語の勉強。",
    "ja-half": "ﾊﾟﾝとｶﾞﾗｽ",
    "ko": "한국어 검색은 조사까지 찾아야 합니다",
    "mixed": "用Python3写GraphQL服务，2024年发布",
    "emoji": "ship it 🚀👍🏽 family 👨‍👩‍👧 done ✅",
    "marks": "Crème brûlée, Ångström, naïve Zoë, Straße",
    "decomposed": "cafe\u0301 re\u0301sume\u0301 か\u3099っこう",
    "hindi": "हिन्दी में खोज",
    "wide": "ＦＵＬＬ　ｗｉｄｔｈ １２３",
    "thai": "ภาษาไทยไม่มีช่องว่าง",
}
FOUND = {
    "fox": {"en"},
    "FOX": {"en"},
    "fo": set(),
    "fo*": {"en"},
    "brown quick": {"en"},
    "quick cat": set(),
    "anna's": {"en"},
    "e-mail": {"en"},
    "e-mai": set(),
    "mail e": {"en"},
    "mail-e": set(),
    "snake_case": {"en"},
    "case_snake": set(),
    "v1.2": {"en"},
    "北": {"zh", "zh-2"},
    "京": {"zh", "zh-2", "ja"},
    "北京": {"zh"},
    "京大": {"zh"},
    "大学": {"zh"},
    "大": {"zh", "zh-2"},
    "学": {"zh", "zh-2"},
    "北京大": {"zh"},
    "北京大学": {"zh"},
    "北京学": set(),
    "北京 学习": {"zh"},
    "学习 北京": {"zh"},
    "南京": {"zh-2"},
    "南京。": {"zh-2"},
    "模型": {"zh"},
    "型": {"zh"},
    "𠮷": {"zh-rare"},
    "𠮷野": {"zh-rare"},
    "的𠮷字": {"zh-rare"},
    "東": {"ja"},
    "東京": {"ja"},
    "京タワ": {"ja"},
    "タワー": {"ja"},
    "は": {"ja"},
    "ガラス": {"ja", "ja-half"},
    "カラス": set(),
    "パン": {"ja-half"},
    "が": {"decomposed"},
    "か": set(),
    "日本語の": {"ja"},
    "한": {"ko"},
    "한국": {"ko"},
    "국어": {"ko"},
    "검색은 조사": {"ko"},
    "찾아야": {"ko"},
    "한\u1100": set(),
    "用": {"mixed"},
    "python3": {"mixed"},
    "用python3写": {"mixed"},
    "graphql": {"mixed"},
    "2024年": {"mixed"},
    "年": {"mixed"},
    "🚀": {"emoji"},
    "👍": {"emoji"},
    "👍🏿": {"emoji"},
    "🚀👍": {"emoji"},
    "👍🚀": set(),
    "👩": {"emoji"},
    "👨‍👩‍👧": {"emoji"},
    "✅": {"emoji"},
    "🎉": set(),
    "creme": {"marks"},
    "CRÈME BRULEE": {"marks"},
    "angstrom": {"marks"},
    "strasse": {"marks"},
    "zoe": {"marks"},
    "café": {"decomposed"},
    "resume": {"decomposed"},
    "हिन्दी": {"hindi"},
    "हिन": set(),
    "full width": {"wide"},
    "123": {"wide"},
    "ภาษา": {"thai"},
    "ไทย": {"thai"},
    "AND": set(),
    "fox AND": set(),
    "fox OR cat": set(),
    'fox" OR "cat': set(),
    "terms:fox": set(),
    "fox) OR (dog": set(),
    "NEAR(fox dog)": set(),
    "fox NOT dog": set(),
    "+fox -dog": {"en"},
    "fox~2": set(),
    "fox^4": set(),
    "f?x": set(),
    "/fox/": {"en"},
    "\\fox": {"en"},
    "[fox TO dog]": set(),
    "fox && dog": {"en"},
    "{fox}": {"en"},
    "* fox": {"en"},
    "fox -- dog": {"en"},
}


@pytest.fixture
def search(space: SpaceStore, database: Database) -> Search:
    """Asks once all that was written can be found."""

    async def ask(
        text: str,
        *scopes: SearchScope,
        root: str | None = None,
        first: int = 100,
        where: SpaceStore | None = None,
    ) -> list[SearchMatch]:
        database.settle()
        asked = scopes or ALL_SCOPES
        return await (where or space).search(parse_query(text), asked, root_id=root, first=first)

    return ask


@pytest.fixture
async def stranger(store: GraphStore, database: Database) -> AsyncIterator[SpaceStore]:
    """Another Space."""
    id = f"stranger-{new_id()}"
    await store.ensure_space(id, "Stranger")
    yield store.in_space(id)
    check_invariants(database.snapshot(id))


def places(found: Sequence[SearchMatch]) -> list[tuple[SearchScope, str, str | None]]:
    return [
        (one.scope, one.session_id, None if one.message is None else one.message.content) for one in found
    ]


def contents(found: Sequence[SearchMatch]) -> list[str]:
    return [one.message.content for one in found if one.message is not None]


async def test_corpus(space: SpaceStore, search: Search) -> None:
    """Each query finds in messages, labels and digests the texts that hold it, on both engines the same."""
    talker = await create(space, "-")
    await space.append(talker.id, [said(text) for text in CORPUS.values()])
    for text in CORPUS.values():
        await create(space, text)
        await space.put_memory((await create(space, "-")).id, text)
    for query, expected in FOUND.items():
        found = await search(query)
        for scope in SearchScope:
            here = [one for one in found if one.scope is scope]
            texts = contents(here) if scope is SearchScope.MESSAGE else [one.text for one in here]
            assert len(texts) == len(expected), (query, scope)
            assert set(texts) == {CORPUS[name] for name in expected}, (query, scope)


async def test_every_piece_of_a_text_without_spaces_is_found(space: SpaceStore, search: Search) -> None:
    """Of a run every piece of 1 to 4 characters is found, and no piece that is not in it."""
    run = "检索系统支持中文与日文混排的全文检索"
    talker = await create(space)
    await space.append(talker.id, [said(run)])
    for size in range(1, 5):
        for start in range(0, len(run) - size + 1, 2):
            piece = run[start : start + size]
            assert contents(await search(piece)) == [run], piece
            turned = piece[::-1]
            assert contents(await search(turned)) == [run] * (turned in run), turned


async def test_every_write_is_found(space: SpaceStore, search: Search) -> None:
    """What creates, forks, changes, digests, imports or talks is found, and under a new name only by it."""
    top = await create(space, "Aardvark")
    await space.create_session(child(top.id, "Badger"), None)
    await space.append(top.id, [said("Cheetah")])
    begun = await begin(space, top.id, "Dingo")
    reply, *results = tool_group(1)
    stored = await space.store_messages(
        begun.turn,
        [reply.model_copy(update={"content": "Echidna"}), *results],
        lease=LEASE,
        usage=usage(1),
        tool_rounds=1,
    )
    assert stored is not None
    await space.end_turn(end_of(begun.turn, told("Falcon")))
    opened = await space.fork(fork_of(top.id, label="Gazelle", opening=told("Hyena")), None)
    await space.import_session(
        ImportDraft(id="i", label="Ibex", turn_count=0, messages=(said("Jackal"), told("Koala")))
    )
    await space.append("i", [told("Lemur")])
    await space.put_memory(top.id, "Meerkat")
    await space.store_digest(opened.id, "Narwhal", revision=0, through_seq=1, usage=Usage())

    label, memory, message = ALL_SCOPES
    expected = {
        "aardvark": (label, top.id, None),
        "cheetah": (message, top.id, "Cheetah"),
        "dingo": (message, top.id, "Dingo"),
        "echidna": (message, top.id, "Echidna"),
        "falcon": (message, top.id, "Falcon"),
        "gazelle": (label, opened.id, None),
        "hyena": (message, opened.id, "Hyena"),
        "ibex": (label, "i", None),
        "jackal": (message, "i", "Jackal"),
        "koala": (message, "i", "Koala"),
        "lemur": (message, "i", "Lemur"),
        "meerkat": (memory, top.id, None),
        "narwhal": (memory, opened.id, None),
    }
    for query, place in expected.items():
        assert places(await search(query)) == [place], query
    (found,) = await search("falcon")
    assert found.message is not None
    assert (found.message.seq, found.message.role, found.message.session_id) == (
        5,
        MessageRole.ASSISTANT,
        top.id,
    )
    assert [one.text for one in await search("ibex")] == ["Ibex"]
    assert [one.text for one in await search("meerkat")] == ["Meerkat"]
    assert await search("result") == [], "what tools answer is not looked through"

    await space.update_session(top.id, {"label": "Ocelot"})
    await space.update_session(top.id, {"tags": ["Panda"], "systemPrompt": "Quokka"})
    await space.put_memory(top.id, "Raccoon")
    assert places(await search("ocelot")) == [(label, top.id, None)]
    assert places(await search("raccoon")) == [(memory, top.id, None)]
    for query in ("aardvark", "meerkat", "panda", "quokka"):
        assert await search(query) == [], query


async def test_best_first(space: SpaceStore, search: Search) -> None:
    """Labels come before digests before messages; a label that is just the query first; then the newest."""
    longer = await create(space, "All about Tapirs")
    exact = await create(space, "TAPIRS")
    await space.put_memory(longer.id, "It is about tapirs.")
    times = [30, 10, 20]
    await space.append(
        exact.id, [said(f"tapirs at {time}", created_at=time * 1_000_000_000) for time in times]
    )
    await space.set_status(longer.id, SessionStatus.ARCHIVED)
    label, memory, message = ALL_SCOPES

    found = await search("tapirs")

    assert places(found) == [
        (label, exact.id, None),
        (label, longer.id, None),
        (memory, longer.id, None),
        (message, exact.id, "tapirs at 30"),
        (message, exact.id, "tapirs at 20"),
        (message, exact.id, "tapirs at 10"),
    ]
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[1] > scores[2] > scores[3]
    assert places(await search("tapirs", first=4)) == places(found)[:4]
    assert places(await search("tapirs", memory, message, first=2)) == places(found)[2:4]


async def test_thinking_is_not_found(space: SpaceStore, search: Search) -> None:
    """What a model thinks, a tool answers or a system prompt says is not visible and not found."""
    top = await create(space, system_prompt="walrus")
    await space.append(top.id, [said("<think>narwhal</think> ok"), told("<think>walrus</think>Fine.")])
    await space.append(top.id, [told("walrus\n</think>Again."), *tool_group(1)])

    assert await search("walrus") == []
    assert contents(await search("fine")) == ["<think>walrus</think>Fine."]
    assert contents(await search("narwhal")) == ["<think>narwhal</think> ok"], "a user may speak of tags"


async def test_a_shared_message_is_found_once(space: SpaceStore, search: Search) -> None:
    """Once, for the session that it was written in; else for the oldest that has it, or that of the tree."""
    top = await create(space)
    await space.append(top.id, [said("a platypus"), told("an okapi")])
    below = await space.fork(fork_of(top.id, through_seq=2), None)
    other = await create(space, "Elsewhere")
    far = await space.fork(fork_of(below.id, through_seq=1, parent_id=other.id), None)
    message = SearchScope.MESSAGE

    assert places(await search("platypus")) == [(message, top.id, "a platypus")]
    assert places(await search("platypus", root=top.id)) == [(message, top.id, "a platypus")]
    assert places(await search("platypus", root=other.id)) == [(message, far.id, "a platypus")]
    assert await search("okapi", root=other.id) == []
    assert await search("platypus", root=below.id) == [], "a root is asked for"

    await space.trim(top.id, 1)
    assert places(await search("platypus")) == [(message, below.id, "a platypus")]
    await space.delete_session(top.id, 2, 10)
    assert places(await search("platypus")) == [(message, far.id, "a platypus")]
    assert await search("okapi") == []
    await space.delete_session(other.id, 2, 10)
    assert await search("platypus") == []


async def test_one_tree(space: SpaceStore, search: Search) -> None:
    """With a root only its tree is looked through, whatever others hold."""
    trees = [await create(space, "Dugong") for _ in range(2)]
    for top in trees:
        await space.put_memory(top.id, "dugong")
        below = await space.create_session(child(top.id, "Dugong"), None)
        await space.append(below.id, [said("dugong")])

    for top in trees:
        found = await search("dugong", root=top.id)
        assert [one.scope for one in found] == [SearchScope.LABEL] * 2 + [
            SearchScope.MEMORY,
            SearchScope.MESSAGE,
        ]
        inside = await space.sessions([one.session_id for one in found])
        assert {session.root_id for session in inside.values()} == {top.id}
    assert await search("dugong", root="nobody") == []


async def test_archived_sessions_are_found(space: SpaceStore, search: Search) -> None:
    """Archiving hides nothing from a search."""
    top = await create(space, "Quagga")
    await exchange(space, top.id, "quagga?", "a quagga")
    await space.set_status(top.id, SessionStatus.ARCHIVED)

    assert len(await search("quagga")) == 3


@pytest.mark.covers("TC05")
async def test_another_space(
    space: SpaceStore, stranger: SpaceStore, search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two Spaces of the same texts each see their own; many hits of one never crowd out the other's."""
    monkeypatch.setattr(store_search, "_CANDIDATES", 20)
    monkeypatch.setattr(store_search, "_CANDIDATES_OF_A_TREE", 20)
    here, there = await create(space, "Mongoose"), await create(stranger, "Mongoose")
    await stranger.append(there.id, [said("the mongoose") for _ in range(100)])
    await space.append(here.id, [said("the mongoose")])
    await stranger.append(there.id, [said("the mongoose") for _ in range(100)])

    mine = [(SearchScope.LABEL, here.id, None), (SearchScope.MESSAGE, here.id, "the mongoose")]
    assert places(await search("mongoose", first=3)) == mine
    assert places(await search("mongoose", root=here.id)) == mine
    theirs = await search("mongoose", first=3, where=stranger)
    assert {one.session_id for one in theirs} == {there.id}
    assert len(await search("mongoose", where=stranger)) == 1 + 20
    assert await search("mongoose", root=there.id) == []


async def test_what_is_deleted_is_not_found(space: SpaceStore, search: Search, database: Database) -> None:
    """A deleted session's texts and a trimmed message's are gone, from the store as well."""
    top = await create(space, "Wombat")
    below = await space.create_session(child(top.id, "Wombat below"), None)
    for one in (top, below):
        await space.put_memory(one.id, "a wombat's memory")
        await space.append(one.id, [said("first wombat"), told("second wombat")])

    await space.trim(below.id, 1)
    assert contents(await search("first wombat")) == ["first wombat"]
    await space.delete_session(below.id, 1, 10)
    assert {one.session_id for one in await search("wombat")} == {top.id}
    assert len(await search("wombat")) == 4
    await space.delete_session(top.id, 1, 10)
    assert await search("wombat") == []
    assert database.snapshot(space.space_id)["searchable"] == []


async def test_what_was_there_before_is_found_later(
    space: SpaceStore, store: GraphStore, search: Search, database: Database
) -> None:
    """Texts from before there was search get their terms in batches; what changed meanwhile keeps its own."""
    top = await create(space, "Old numbat")
    await exchange(space, top.id, "numbat?", "<think>numbat</think>Yes.")
    await space.put_memory(top.id, "numbats")
    other = await create(space, "Another numbat")
    gone = await create(space, "A numbat gone")
    await space.append(gone.id, [said("gone numbat")])
    database.forget_terms(space.space_id)
    assert await search("numbat") == []

    await space.update_session(other.id, {"label": "Renamed"})
    await space.put_memory(other.id, "late memory")
    await space.delete_session(gone.id, 1, 10)
    assert await store.index_backlog(2) == 2
    await index_all(store)

    assert places(await search("numbat")) == [
        (SearchScope.LABEL, top.id, None),
        (SearchScope.MESSAGE, top.id, "numbat?"),
    ]
    assert [one.text for one in await search("numbats")] == ["numbats"]
    assert [one.text for one in await search("renamed")] == ["Renamed"]
    assert [one.text for one in await search("late")] == ["late memory"]
    assert await index_all(store) == 0


async def test_by_two_processes(
    space: SpaceStore, store: GraphStore, twin_store: GraphStore, search: Search, database: Database
) -> None:
    """Two processes that find the same old texts both go through."""
    talker = await create(space)
    await space.append(talker.id, [said(f"echo {n}") for n in range(20)])
    database.forget_terms(space.space_id)
    await index_all(store)
    database.forget_terms(space.space_id)
    assert await twin_store.index_backlog(10) == 10
    await index_all(store)
    await index_all(twin_store)

    assert len(await search("echo")) == 20


async def test_long_texts(space: SpaceStore, search: Search) -> None:
    """The first 100,000 characters count, and of a word the first 64."""
    talker = await create(space)
    filler = "lorem " * 16_000
    long_word = "x" * 300
    texts: list[Draft] = [
        said(f"{filler} inside {'ipsum ' * 2_000} outside"),
        said(f"{long_word} 字" + "字" * 50_000),
    ]
    await space.append(talker.id, texts)

    assert len(await search("inside")) == 1
    assert await search("outside") == []
    assert len(await search(long_word)) == 1
    assert len(await search("x" * 64)) == 1
    assert await search("x" * 63) == []
    assert len(await search("字" * 900)) == 1


async def test_long_queries(space: SpaceStore, search: Search) -> None:
    """A query of 1,000 characters is answered, whatever words it is made of."""
    talker = await create(space)
    words = " ".join(chr(0x4E00 + 3 * n) + chr(0x4E01 + 3 * n) for n in range(333))
    letters = " ".join(f"{n:03}" for n in range(250))
    await space.append(talker.id, [said(words), said(letters)])

    assert contents(await search(words)) == [words]
    assert contents(await search(letters)) == [letters]
    assert await search("ab-" * 333) == []


async def test_many_beginnings(space: SpaceStore, search: Search) -> None:
    """As many as are answered are all looked for, words and single characters alike."""
    talker = await create(space)
    texts = ["alpha beta gamma delta 北京 東京 南京 西安", "alpha beta gamma delta 北京 東京 南京"]
    await space.append(talker.id, [said(text) for text in texts])
    query = "al* be* ga* de* 北 東 南 西"
    assert sum(clause.prefix for clause in parse_query(query).clauses) == MAX_BEGINNINGS

    assert contents(await search(query)) == texts[:1]
    assert set(contents(await search(query.removesuffix(" 西")))) == set(texts)

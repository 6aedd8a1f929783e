"""From an export of a chat product to a fork with an insight, and the same on both engines."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from stello_graph.ids import new_id
from tests.e2e.conftest import OpenStore
from tests.e2e.processes import start
from tests.e2e.story import DIGEST, INSIGHT, Story, imported, normal, rewritten, tell
from tests.model_server import ModelServer

OTHERS: Final = ("tools", "damaged", "slim", "split-2026", "single")
ENGINES: Final = pytest.mark.parametrize("engine", ["sqlite", "neo4j"], indirect=True)

TellStory = Callable[[str], Story]


@pytest.fixture(scope="session")
def story_of(
    open_store: OpenStore,
    running_model_server: ModelServer,
    model_settings: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> TellStory:
    """The story on an engine, told once."""
    told: dict[str, Story] = {}
    prefix = f"e2e-{new_id()[-10:]}"

    async def tell_(engine: str) -> Story:
        running_model_server.reset()
        folder, store = tmp_path_factory.mktemp("story"), open_store(engine)
        trip = rewritten(folder, "trip.json", prefix, "branches")
        others = rewritten(folder, "others.json", prefix, *OTHERS)
        server = start(store, folder / "server.log", settings=model_settings)
        try:
            first = imported(store, trip)
            server.wait_ready()
            async with server.client() as client:
                root = f"chatgpt:{prefix}-trip"
                story = await tell(client, running_model_server, store, trip, others, root)
            story.imports.insert(0, first)
            return story
        finally:
            server.close()

    def story(engine: str) -> Story:
        if engine not in told:
            told[engine] = asyncio.run(tell_(engine))
        return told[engine]

    return story


@pytest.fixture
def story(engine: str, story_of: TellStory) -> Story:
    """The story on this test's engine."""
    return story_of(engine)


@pytest.mark.covers("TC01")
@ENGINES
def test_an_export_is_imported_once(story: Story) -> None:
    """The report counts what came; the second import adds nothing, says so, and exits 0."""
    first, second, others = story.imports
    assert (first.returncode, second.returncode, others.returncode) == (0, 0, 0)
    assert all(each.stdout.startswith("Into the Space ") for each in story.imports)
    assert first.stdout.splitlines()[1:] == [
        "Conversations read: 1",
        "Sessions: 5 imported (4 of them forks), 0 extended",
        "Sessions there already: 0",
        "Messages imported: 13",
        "Left out as hidden or empty: 1",
    ]
    assert second.stdout.splitlines()[2:6] == [
        "Sessions: 0 imported (0 of them forks), 0 extended",
        "Sessions there already: 5",
        "Messages imported: 0",
        "Nothing was added: all of it is there already.",
    ]
    assert 'Skipped, 1: it has no author\n  conversation 4 "Damaged", message bad\n' in others.stdout
    assert [each.stderr.strip() for each in story.imports] == ["", "", ""]


@pytest.mark.covers("TC01", "W46")
@ENGINES
def test_the_map_shows_the_branches(story: Story) -> None:
    """The current path is the root, each other branch a child that left at a message."""
    (root,) = story.data("roots", "getChildren")
    assert (root["label"], root["depth"], root["childCount"], root["turnCount"]) == ("京都之旅 🗾", 0, 4, 3)
    branches = story.data("branches", "getChildren")
    assert [node["index"] for node in branches] == [0, 1, 2, 3]
    assert {(node["id"].removeprefix(story.root), node["sourceSeq"]) for node in branches} == {
        (":a2", 2),
        (":a2c", 3),
        (":a3b", 4),
        (":ea1", None),
    }
    assert story.data("page of branches", "getChildren") == branches[:2]
    assert story.data("star map", "starMap")["nodeCount"] == 5
    assert story.data("top of the star map", "starMap")["columns"]["childCount"] == [4]


@ENGINES
def test_messages_are_read_from_the_newest_end(story: Story) -> None:
    """The last two, then what is before them."""
    newest = story.data("newest", "session")["messages"]
    assert [one["content"] for one in newest["nodes"]] == ["얼마예요?", "약 50만 원입니다."]
    assert (newest["totalCount"], newest["pageInfo"]["hasPreviousPage"]) == (6, True)
    before = story.data("before the newest", "session")["messages"]
    assert [one["seq"] for one in before["nodes"]] == [2, 3, 4]
    assert story.answers["both ends"]["errors"][0]["extensions"]["code"] == "INVALID_INPUT"


@ENGINES
def test_a_fork_in_the_middle_shares_what_came_before(story: Story) -> None:
    """The same messages by id up to throughSeq, then its own; the source does not change."""
    assert story.answers["fork of an archived one"]["errors"][0]["extensions"]["code"] == "SESSION_ARCHIVED"
    assert story.data("fork", "fork") == {"id": story.fork, "label": "慢游 🍵", "messageCount": 4}
    assert story.answers["fork again"]["errors"][0]["extensions"]["code"] == "CONFLICT"
    inherited = story.data("inherited", "session")["messages"]["nodes"]
    source = story.data("transcript of the source", "session")["messages"]["nodes"]
    assert inherited == source[:4]
    assert len(source) == 6
    turn = story.data("first turn", "send")
    assert [(one["seq"], one["content"]) for one in turn["messages"]] == [
        (5, "住哪里好？ 🏨"),
        (6, "住祇园附近。 ⛩️"),
    ]


@ENGINES
def test_a_digest_is_what_the_model_wrote_without_its_thoughts(story: Story) -> None:
    """consolidate stores it, digests show it, the session's own prompt never has it."""
    assert story.data("consolidate", "consolidate")["memory"] == DIGEST
    digests = {one["id"]: one for one in story.data("digests", "digests")["nodes"]}
    assert digests[story.fork]["memory"] == DIGEST
    assert DIGEST not in str(story.requests["second turn"])
    assert "住祇园附近" in str(story.requests["consolidate"])


@ENGINES
@pytest.mark.parametrize("number", ["first", "second", "third"])
def test_the_preview_is_the_request(story: Story, number: str) -> None:
    """Part for part what the model is asked next."""
    preview = story.data(f"{number} preview", "contextPreview")
    assert preview["wouldCompress"] is False
    assert as_sent(preview["messages"]) == sent(story.requests[f"{number} turn"])


@ENGINES
def test_an_insight_is_in_one_request_only(story: Story) -> None:
    """Exactly once in the preview and in the next turn; then it is gone."""
    origins = [part["origin"] for part in story.data("second preview", "contextPreview")["messages"]]
    assert origins.count("INSIGHT") == 1
    counts = {step: str(request).count(INSIGHT) for step, request in story.requests.items() if "turn" in step}
    assert counts == {"first turn": 0, "second turn": 1, "third turn": 0}
    assert story.data("insight gone", "session")["insight"] is None
    assert INSIGHT not in str(story.answers["third preview"])


@ENGINES
def test_whatever_was_imported_can_be_continued(story: Story) -> None:
    """Each transcript is legal for the provider: broken trees, tool groups, odd characters."""
    turns = [answer["data"]["send"] for step, answer in story.answers.items() if step.startswith("go on")]
    assert len(turns) == 17
    assert {turn["status"] for turn in turns} == {"COMPLETED"}
    assert story.refused == []


def test_both_engines_answer_the_same(story_of: TellStory) -> None:
    """Every answer of the story, errors and all, but for generated ids, times, places among all roots."""
    ours, theirs = (normal(story_of(engine).answers) for engine in ("sqlite", "neo4j"))
    assert list(ours) == list(theirs)
    for step, answer in ours.items():
        assert answer == theirs[step], step


def sent(request: Mapping[str, Any]) -> list[tuple[str, str]]:
    """A provider's request as (role, text), neighbours joined."""
    system = "".join(block["text"] for block in request.get("system", []))
    messages = [
        (message["role"], "\n\n".join(block["text"] for block in message["content"]))
        for message in request["messages"]
    ]
    return [("system", system), *messages]


def as_sent(preview: list[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """A preview in the same form."""
    joined: list[tuple[str, str]] = []
    for part in preview:
        if joined and joined[-1][0] == part["role"]:
            joined[-1] = (part["role"], f"{joined[-1][1]}\n\n{part['content']}")
        else:
            joined.append((part["role"], part["content"]))
    return joined

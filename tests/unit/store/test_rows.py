from typing import Any

import pytest
from pydantic import ValidationError

from stello_graph.model.session import SessionOverrides
from stello_graph.model.space import SpaceConfig
from stello_graph.store import rows
from stello_graph.store.copied import session_copy

SPACE: dict[str, Any] = {"id": "s", "name": "Old", "config": "{}", "revision": 3, "createdAt": 5}
SESSION: dict[str, Any] = {
    "id": "a",
    "label": "A",
    "role": "STANDARD",
    "status": "ACTIVE",
    "strategy": "TREE",
    "rootId": "a",
    "createdAt": 1,
    "updatedAt": 2,
    "lastActiveAt": 3,
}


def test_what_is_read_of_a_space_belongs_together() -> None:
    """Settings, name and revision come from one text, whatever was committed between two properties."""
    before = rows.space(SPACE)
    changed = before.model_copy(update={"name": "New", "config": SpaceConfig(model="m")})

    torn = rows.space(SPACE | {"config": rows.space_document(changed), "revision": 9})

    assert (torn.name, torn.revision, torn.config) == ("New", 4, SpaceConfig(model="m"))
    assert (before.name, before.revision, before.config) == ("Old", 3, SpaceConfig())


def test_what_is_null_takes_its_default() -> None:
    """A property that is null or missing reads as the default of its field."""
    nulls = dict.fromkeys(("systemPrompt", "skills", "insight", "memory", "openTurnId", "compressionSummary"))

    for row in (SESSION, SESSION | nulls):
        session = rows.session(row)
        assert (session.skills, session.insight, session.compression) == (None, None, None)
        assert (session.memory, session.overrides) == (None, SessionOverrides())


def test_parts_of_a_session() -> None:
    """Insight, compression, usage and overrides are put together from flat properties."""
    session = rows.session(
        SESSION
        | {"insight": "i", "insightSource": "b", "insightAt": 7, "insightRevision": 2, "inputTokens": 4}
        | {"compressionSummary": "c", "compressionThroughSeq": 8, "compressionTokens": 9, "compressionAt": 10}
        | {"skills": "[]", "metadata": '{"a":1}', "overrideRoleContext": "r"}
    )

    assert session.insight is not None
    assert (session.insight.source_session_id, session.insight.revision) == ("b", 2)
    assert session.compression is not None
    assert (session.compression.summary, session.compression.through_seq) == ("c", 8)
    assert (session.skills, session.metadata, session.usage.input_tokens) == ((), {"a": 1}, 4)
    assert session.overrides == SessionOverrides(role_context="r")


WHOLE: dict[str, Any] = (
    SESSION
    | {"insight": "i", "insightAt": 7, "insightRevision": 2}
    | {"compressionSummary": "c", "compressionThroughSeq": 8, "compressionTokens": 9, "compressionAt": 10}
)


@pytest.mark.parametrize("lost", ["id", "label", "status", "createdAt", "insightAt", "compressionTokens"])
def test_what_was_deleted_while_it_was_read_is_gone(lost: str) -> None:
    """A row that lost some of its properties is left out, the others stay."""
    other = WHOLE | {"id": "b"}
    missing = {name: value for name, value in WHOLE.items() if name != lost}

    for torn in (WHOLE | {lost: None}, missing):
        assert [session.id for session in rows.sessions([torn, other])] == ["b"]


@pytest.mark.parametrize("lost", ["label", "index", "insightRevision", "lastTurnNumber"])
def test_what_was_deleted_while_it_was_copied_is_gone(lost: str) -> None:
    """Likewise of a session with its place in the topology."""
    copy = SESSION | {"index": 0, "insightRevision": 0, "lastTurnNumber": 0, "parentId": None, "refs": []}
    missing = {name: value for name, value in copy.items() if name != lost}

    for torn in (copy | {lost: None}, missing):
        assert [one.id for one in rows.whole(session_copy, [torn, copy | {"id": "b"}])] == ["b"]


def test_what_is_wrong_is_told() -> None:
    """A property of a wrong kind is no deletion."""
    with pytest.raises(ValidationError):
        rows.sessions([SESSION | {"status": "LOST"}])

"""Rows to values, and values to the properties that are stored."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError

from stello_graph.ids import key_of
from stello_graph.model.context import Conversation
from stello_graph.model.copies import MessageCopy
from stello_graph.model.knowledge import Record, SharedMemory, SharedMemoryNote, Skill, SkillNote
from stello_graph.model.message import Draft, Message, MessagePage
from stello_graph.model.parts import Only, parts_of
from stello_graph.model.profile import ForkProfile
from stello_graph.model.session import (
    Compression,
    Insight,
    Session,
    SessionDigest,
    SessionOverrides,
    SessionWithMessages,
)
from stello_graph.model.space import Space, SpaceConfig
from stello_graph.model.topology import (
    Children,
    ChildrenPage,
    NodeWithAncestors,
    NodeWithChildren,
    TopologyNode,
)
from stello_graph.model.turn import Turn
from stello_graph.model.values import Usage, Value
from stello_graph.store.engine import Listed, Row
from stello_graph.store.indexing import message_terms
from stello_graph.store.listed import DIGEST, MESSAGE, NODE, digest_rows, message_rows, node_rows

__all__ = [
    "columns_of",
    "conversation",
    "digests",
    "draft_properties",
    "listed_nodes",
    "message",
    "message_copy",
    "messages",
    "nested_nodes",
    "node",
    "nodes",
    "nodes_with_ancestors",
    "profile",
    "profile_properties",
    "record",
    "session",
    "session_with_messages",
    "sessions",
    "shared_memory",
    "skill",
    "space",
    "space_config",
    "space_document",
    "to_json",
    "triggers",
    "turn",
    "turns",
    "whole",
]

T = TypeVar("T")

_NODES = TypeAdapter(list[TopologyNode])
_WITH_ANCESTORS = TypeAdapter(list[NodeWithAncestors])
_MESSAGES = TypeAdapter(list[Message])
_DIGESTS = TypeAdapter(list[SessionDigest])
_LISTED: dict[type[Value], tuple[str, ...]] = {TopologyNode: NODE, Message: MESSAGE, SessionDigest: DIGEST}
# A field is stored under its camelCase name.
_PROPERTIES = {
    kind: {name: field.alias or name for name, field in kind.model_fields.items()} for kind in _LISTED
}
_OVERRIDES = ("model", "consolidatePrompt", "integratePrompt", "compressPrompt", "roleContext")


def to_json(value: Any) -> str:
    """JSON text of a value; models by their camelCase names."""
    return orjson.dumps(value, default=_dump).decode()


def whole(make: Callable[[Row], T], rows: Iterable[Row]) -> list[T]:
    """The values of those rows that are whole.

    Neo4j reads a node property by property, and the commit of its deletion may fall between: what has
    lost some of its properties is gone.
    """
    found = []
    for row in rows:
        try:
            found.append(make(row))
        except ValidationError as error:
            if not _is_torn(error):
                raise
    return found


def node(row: Row) -> TopologyNode:
    """A TopologyNode's row."""
    return TopologyNode.model_validate(row)


def nodes(rows: list[Row]) -> list[TopologyNode]:
    """Rows of TopologyNodes."""
    return _together(_NODES, node, rows)


def columns_of(kind: type[Value], only: Only | None) -> list[str]:
    """The properties to list of each thing, in the order that `listed_nodes` and the like take them in."""
    if only is None:
        return list(_LISTED[kind])
    return [_PROPERTIES[kind][name] for name in only]


def listed_nodes(items: list[Listed], only: Only | None = None) -> list[TopologyNode]:
    """TopologyNodes listed in a row."""
    return nodes(node_rows(items)) if only is None else parts_of(TopologyNode, only, items)


def nested_nodes(items: list[Listed], page: ChildrenPage) -> list[TopologyNode]:
    """TopologyNodes listed in a row; their last column are their children where the page has one below."""
    below = page.below
    if below is None:
        return listed_nodes(items, page.only)
    assert page.only is not None
    with_children = [[*item[:-1], Children(below, nested_nodes(item[-1], below))] for item in items]
    return list(parts_of(NodeWithChildren, (*page.only, "children"), with_children))


def nodes_with_ancestors(rows: list[Row]) -> list[NodeWithAncestors]:
    """Rows of TopologyNodes, each with its `ancestors`."""
    whole_rows = [row | {"ancestors": node_rows(row["ancestors"])} for row in rows]
    return _together(_WITH_ANCESTORS, NodeWithAncestors.model_validate, whole_rows)


def digests(items: list[Listed], only: Only | None = None) -> tuple[SessionDigest, ...]:
    """Digests listed in a row."""
    if only is not None:
        return tuple(parts_of(SessionDigest, only, items))
    return tuple(_together(_DIGESTS, SessionDigest.model_validate, digest_rows(items)))


def message(row: Row) -> Message:
    """A Message's row, with the seq of the edge it is seen through."""
    return Message.model_validate(_said(row))


def message_copy(row: Row) -> MessageCopy:
    """As `message`, with whether another place has it too."""
    return MessageCopy.model_validate(_said(row))


def messages(items: list[Listed], only: Only | None = None) -> list[Message]:
    """Messages listed in a row."""
    if only is not None:
        return parts_of(Message, only, _decoded_at(only.index("parts"), items) if "parts" in only else items)
    return _together(_MESSAGES, Message.model_validate, [_said(row) for row in message_rows(items)])


def profile(row: Row) -> ForkProfile:
    """A ForkProfile's row; its id is the name."""
    return ForkProfile.model_validate(_decoded(row, "skills") | {"name": row["id"]})


def profile_properties(profile: ForkProfile) -> Row:
    """The properties of a fork profile to store, but for its id."""
    return {
        "systemPrompt": profile.system_prompt,
        "systemPromptMode": profile.system_prompt_mode,
        "skills": None if profile.skills is None else to_json(profile.skills),
        "context": profile.context,
        "prompt": profile.prompt,
    }


def turn(row: Row) -> Turn:
    """A Turn's row. The calls of its current round that need a confirmation wait until they are answered."""
    fields = _decoded(row, "pendingToolCalls", "heldResults", "usage", "error")
    answered = {*fields.get("approvedIds", ()), *fields.get("refusedIds", ())}
    calls = fields.get("pendingToolCalls", ()) if row.get("endedAt") is None else ()
    return Turn.model_validate(
        fields | {"pendingToolCalls": [call for call in calls if call["id"] not in answered]}
    )


def turns(rows: Iterable[Row]) -> list[Turn]:
    """Rows of Turns."""
    return whole(turn, rows)


def session(row: Row) -> Session:
    """A Session's row."""
    return Session.model_validate(_session_fields(row))


def session_with_messages(row: Row, page: MessagePage) -> SessionWithMessages:
    """A Session's row with its `messages`."""
    said = messages(row["messages"], page.only)
    return SessionWithMessages.model_validate(_session_fields(row) | {"page": page, "messages": said})


def _session_fields(row: Row) -> Row:
    fields = _decoded(row, "skills", "metadata")
    overrides = {name: row.get(f"override{name[0].upper()}{name[1:]}") for name in _OVERRIDES}
    return fields | {
        "usage": Usage.model_validate(row),
        "overrides": SessionOverrides.model_validate(overrides),
        "insight": _insight(row),
        "compression": _compression(row),
    }


def sessions(rows: Iterable[Row]) -> list[Session]:
    """Rows of Sessions."""
    return whole(session, rows)


def record(row: Row) -> Record:
    """A Record's row."""
    return Record(
        key=row["id"],
        value=orjson.loads(row["value"]),
        revision=row["revision"],
        updated_at=row["updatedAt"],
    )


def shared_memory(row: Row) -> SharedMemory:
    """A SharedMemory's row."""
    return SharedMemory.model_validate(row | {"slug": row["id"]})


def skill(row: Row) -> Skill:
    """A Skill's row."""
    return Skill.model_validate(row | {"name": row["id"]})


def space(row: Row) -> Space:
    """A Space's row."""
    document = orjson.loads(row["config"])
    told = {name: document[name] for name in ("name", "revision") if name in document}
    config = SpaceConfig.model_validate(document)
    return Space.model_validate(row | told | {"config": config, "usage": Usage.model_validate(row)})


def space_config(row: Row) -> SpaceConfig:
    """The configuration in a Space's row."""
    return SpaceConfig.model_validate(orjson.loads(row["config"]))


def space_document(space: Space) -> str:
    """The configuration that follows on `space.revision`, in one text with its name and revision.

    Neo4j reads a node property by property, and commits fall between: 1 of 500 racing readers saw an
    old name with a new revision, and the change that it then wrote undid another.
    """
    told = {"name": space.name, "revision": space.revision + 1}
    return to_json(space.config.model_dump(mode="json", by_alias=True) | told)


def triggers(config: SpaceConfig) -> Row:
    """The settings that queries decide by, as properties of the Space."""
    return {
        "consolidateOn": list(config.consolidate_on),
        "integrateOn": list(config.integrate_on),
        "everyNTurns": config.every_n_turns,
    }


def conversation(row: Row) -> Conversation:
    """A session's row with its `space` and `transcript`, and what its Space holds for all sessions."""
    document = orjson.loads(row["space"]["config"])
    return Conversation(
        session=session(row),
        config=SpaceConfig.model_validate(document),
        space_revision=document.get("revision", 0),
        transcript=tuple(messages(row["transcript"])),
        shared_memories=tuple(
            SharedMemoryNote.model_validate(note | {"slug": note["id"]})
            for note in row.get("sharedMemories", ())
        ),
        skills=tuple(
            SkillNote.model_validate(note | {"name": note["id"]}) for note in row.get("storedSkills", ())
        ),
    )


def draft_properties(space_id: str, session_id: str, draft: Draft) -> Row:
    """The properties of a message to store; what it does not have is left out."""
    properties = {
        "key": key_of(space_id, draft.id),
        "id": draft.id,
        "sessionId": session_id,
        "role": draft.role,
        "content": draft.content,
        "parts": None if draft.parts is None else to_json(draft.parts),
        "state": draft.state,
        "toolCalls": to_json(draft.tool_calls) if draft.tool_calls else None,
        "toolCallId": draft.tool_call_id,
        "toolName": draft.tool_name,
        "isError": draft.is_error,
        "durationMs": draft.duration_ms,
        "model": draft.model,
        "usage": None if draft.usage is None else to_json(draft.usage),
        "turnId": draft.turn_id,
        "createdAt": draft.created_at,
        "terms": message_terms(space_id, draft.role, draft.content),
    }
    return {name: value for name, value in properties.items() if value is not None}


def _together(adapter: TypeAdapter[list[T]], make: Callable[[Row], T], rows: list[Row]) -> list[T]:
    """As `whole`: all at once, or one by one where some are not."""
    try:
        return adapter.validate_python(rows)
    except ValidationError:
        return whole(make, rows)


def _is_torn(error: ValidationError) -> bool:
    return all(one["type"] == "missing" or one["input"] is None for one in error.errors())


def _dump(value: Any) -> Any:
    return value.model_dump(mode="json", by_alias=True)


def _decoded(row: Row, *fields: str) -> Row:
    """The row with JSON texts decoded; what is null is left out, so that the value's default holds."""
    decoded = {name: value for name, value in row.items() if value is not None}
    for field in fields:
        if field in decoded:
            decoded[field] = orjson.loads(decoded[field])
    return decoded


def _decoded_at(at: int, items: list[Listed]) -> list[Listed]:
    return [
        item if item[at] is None else [*item[:at], orjson.loads(item[at]), *item[at + 1 :]] for item in items
    ]


def _said(row: Row) -> Row:
    return _decoded(row, "parts", "toolCalls", "usage")


def _insight(row: Row) -> Insight | None:
    if row.get("insight") is None:
        return None
    given = {
        "content": row["insight"],
        "source_session_id": row.get("insightSource"),
        "put_at": row.get("insightAt"),
        "revision": row.get("insightRevision"),
    }
    return Insight.model_validate(given)


def _compression(row: Row) -> Compression | None:
    if row.get("compressionSummary") is None:
        return None
    given = {
        "summary": row["compressionSummary"],
        "through_seq": row.get("compressionThroughSeq"),
        "tokens": row.get("compressionTokens"),
        "created_at": row.get("compressionAt"),
    }
    return Compression.model_validate(given)

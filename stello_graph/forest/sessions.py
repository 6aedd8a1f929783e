"""Creating and changing sessions."""

from collections.abc import Sequence
from typing import Any

from stello_graph.errors import InvalidInput
from stello_graph.ids import check_id, new_id
from stello_graph.model.checks import (
    check_json,
    check_label,
    check_names,
    check_range,
    check_text,
    idempotency,
)
from stello_graph.model.message import Draft, MessageRole
from stello_graph.model.requests import AppendedMessage, CreateSession, UpdateSession
from stello_graph.model.session import Session, SessionOverrides
from stello_graph.model.values import SessionRole
from stello_graph.model.writes import SessionDraft
from stello_graph.ports import SpaceStore
from stello_graph.session.context.groups import check_whole

__all__ = ["append_drafts", "create_session", "override_fields", "update_session"]


async def create_session(store: SpaceStore, asked: CreateSession, limit: int) -> Session:
    """Creates a root, or an empty child; `limit` is the size of texts in bytes.

    Raises:
        InvalidInput: MAIN under a parent, or a strategy under a parent, whose tree has one already.
    """
    if asked.parent_id is not None and asked.role is SessionRole.MAIN:
        raise InvalidInput("a MAIN session is a root: it has no parent")
    if asked.parent_id is not None and asked.strategy is not None:
        raise InvalidInput("a strategy belongs to a whole tree: give it to the root")
    draft = SessionDraft(
        id=new_id() if asked.id is None else check_id(asked.id),
        parent_id=None if asked.parent_id is None else check_id(asked.parent_id, "parentId"),
        label=_default_label(asked) if asked.label is None else check_label(asked.label),
        role=asked.role,
        strategy=asked.strategy,
        system_prompt=_optional_text(asked.system_prompt, "the system prompt", limit),
        skills=None if asked.skills is None else check_names(asked.skills, "skills"),
        tags=check_names(asked.tags, "tags"),
        metadata=check_json(asked.metadata, "metadata", limit),
        overrides=override_fields(asked.overrides, limit),
    )
    given = asked.model_dump(mode="json", exclude={"idempotency_key"}, exclude_unset=True)
    return await store.create_session(draft, idempotency(asked.idempotency_key, "createSession", given))


async def update_session(store: SpaceStore, session_id: str, asked: UpdateSession, limit: int) -> Session:
    """Changes the fields that are given."""
    changes: dict[str, Any] = {}
    for field in asked.model_fields_set:
        value = getattr(asked, field)
        match field:
            case "label":
                changes["label"] = check_label(_not_null(value, "label"))
            case "system_prompt":
                changes["systemPrompt"] = _optional_text(value, "the system prompt", limit)
            case "skills":
                changes["skills"] = None if value is None else check_names(value, "skills")
            case "tags":
                changes["tags"] = list(check_names(_not_null(value, "tags"), "tags"))
            case "metadata":
                changes["metadata"] = check_json(_not_null(value, "metadata"), "metadata", limit)
            case "overrides":
                changes |= override_fields(
                    SessionOverrides() if value is None else value, limit, whole=value is None
                )
    return await store.update_session(check_id(session_id), changes)


def override_fields(overrides: SessionOverrides, limit: int, *, whole: bool = False) -> dict[str, str | None]:
    """The stored properties of the overrides that are given; with `whole` of all of them."""
    fields = SessionOverrides.model_fields if whole else overrides.model_fields_set
    return {
        "override" + "".join(word.title() for word in field.split("_")): _optional_text(
            getattr(overrides, field), field, limit
        )
        for field in fields
    }


def append_drafts(messages: Sequence[AppendedMessage], limit: int) -> list[Draft]:
    """Messages as they will be stored.

    Raises:
        InvalidInput: none at all, a tool group that is not whole, a message that says nothing.
    """
    check_range(len(messages), "the number of messages", 1, 1_000)
    drafts = [
        Draft(
            id=new_id(),
            role=message.role,
            content=check_text(message.content, "content", limit),
            parts=check_json(message.parts, "parts", limit),
            tool_calls=tuple(check_json_call(call, limit) for call in message.tool_calls),
            tool_call_id=_optional_text(message.tool_call_id, "toolCallId", 1_000),
            tool_name=_optional_text(message.tool_name, "toolName", 1_000),
            is_error=message.is_error,
        )
        for message in messages
    ]
    for draft in drafts:
        if draft.role is MessageRole.USER and not draft.content.strip() and draft.parts is None:
            raise InvalidInput("a user message says something")
    check_whole(drafts)
    return drafts


def check_json_call(call: Any, limit: int) -> Any:
    """A tool call whose id, name and arguments can be stored."""
    check_text(call.id, "a tool call's id", 1_000)
    check_text(call.name, "a tool call's name", 1_000)
    check_json(call.arguments, "arguments", limit)
    return call


def _default_label(asked: CreateSession) -> str:
    return "Root" if asked.parent_id is None else "Session"


def _optional_text(text: str | None, what: str, limit: int) -> str | None:
    return None if text is None else check_text(text, what, limit)


def _not_null(value: Any, what: str) -> Any:
    if value is None:
        raise InvalidInput(f"{what} cannot be null")
    return value

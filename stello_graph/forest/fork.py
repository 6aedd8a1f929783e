"""Forking: what a child takes of its source, and where it hangs."""

from stello_graph.errors import ForkRefused, InvalidInput, NotFound
from stello_graph.forest.checks import (
    check_json,
    check_label,
    check_names,
    check_range,
    check_text,
    idempotency,
)
from stello_graph.forest.sessions import override_fields
from stello_graph.ids import check_id, new_id
from stello_graph.model.message import Draft, MessageRole
from stello_graph.model.requests import Fork
from stello_graph.model.session import Session, SessionOverrides
from stello_graph.model.values import ForkContext, SessionRole, TopologyStrategy
from stello_graph.model.writes import ForkDraft, ForkSource
from stello_graph.ports import SpaceStore
from stello_graph.session.context.groups import cuts_group, last_whole

__all__ = ["fork"]


async def fork(store: SpaceStore, asked: Fork, limit: int) -> Session:
    """Creates a fork in two statements: one reads the source, one writes everything or nothing.

    Raises:
        ForkRefused: a MAIN source gives no context; context by summary is not offered.
        InvalidInput: throughSeq out of range, with NONE, or inside a tool group.
    """
    _check(asked, limit)
    source = await store.fork_source(asked.source_session_id, asked.through_seq)
    draft = _draft(asked, source)
    given = asked.model_dump(mode="json", exclude={"idempotency_key"}, exclude_unset=True)
    return await store.fork(draft, idempotency(asked.idempotency_key, "fork", given))


def _check(asked: Fork, limit: int) -> None:
    check_id(asked.source_session_id, "sourceSessionId")
    check_label(asked.label)
    check_json(asked.metadata, "metadata", limit)
    for text, what in ((asked.system_prompt, "the system prompt"), (asked.prompt, "the opening prompt")):
        if text is not None:
            check_text(text, what, limit)
    if asked.prompt is not None and not asked.prompt.strip():
        raise InvalidInput("the opening prompt says something")
    if asked.through_seq is not None:
        check_range(asked.through_seq, "throughSeq", 1)
        if asked.context in (None, ForkContext.NONE):
            raise InvalidInput("throughSeq needs a context: INHERIT or COMPRESS")
    if asked.profile is not None:
        raise NotFound.of("fork profile", asked.profile)
    if asked.context is ForkContext.COMPRESS:
        raise ForkRefused("this server does not summarise contexts: fork with INHERIT or NONE")


def _draft(asked: Fork, source: ForkSource) -> ForkDraft:
    parent = source.session
    leaks = parent.role is not SessionRole.MAIN
    id = new_id() if asked.id is None else check_id(asked.id)
    return ForkDraft(
        id=id,
        source_id=parent.id,
        parent_id=_parent(asked, parent),
        label=asked.label,
        system_prompt=_own_or("system_prompt", asked, parent.system_prompt if leaks else None),
        skills=_skills(asked, parent, leaks),
        tags=check_names(asked.tags, "tags"),
        metadata=asked.metadata,
        overrides=_overrides(parent.overrides) if leaks else {},
        through_seq=_through(asked, source),
        opening=None
        if asked.prompt is None
        else Draft(id=new_id(), role=MessageRole.ASSISTANT, content=asked.prompt),
    )


def _parent(asked: Fork, source: Session) -> str:
    if asked.parent_id is not None:
        return check_id(asked.parent_id, "parentId")
    return source.root_id if source.strategy is TopologyStrategy.FLAT else source.id


def _own_or(field: str, asked: Fork, inherited: str | None) -> str | None:
    own: str | None = getattr(asked, field)
    return inherited if own is None else own


def _skills(asked: Fork, source: Session, leaks: bool) -> tuple[str, ...] | None:
    if "skills" not in asked.model_fields_set:
        return source.skills if leaks else None
    return None if asked.skills is None else check_names(asked.skills, "skills")


def _overrides(overrides: SessionOverrides) -> dict[str, str | None]:
    return override_fields(overrides, 2**31, whole=True)


def _through(asked: Fork, source: ForkSource) -> int | None:
    """The last message to inherit, None for none."""
    if asked.context is not ForkContext.INHERIT:
        return None
    if source.session.role is SessionRole.MAIN:
        raise ForkRefused(f'session "{source.session.id}" is MAIN: it gives no context to forks')
    if not source.tail or (asked.through_seq is not None and source.tail[0].seq != asked.through_seq):
        if asked.through_seq is None:
            return None
        raise InvalidInput(f'session "{source.session.id}" has no message {asked.through_seq}')
    if asked.through_seq is None:
        oldest = source.session.next_seq - source.session.message_count
        through = last_whole(source.tail, source.tail[-1].seq)
        return through if through >= oldest else None
    if cuts_group(source.tail, asked.through_seq) or _before_result(source):
        raise InvalidInput(
            f"message {asked.through_seq} is inside a tool group: cut before or after the group"
        )
    return asked.through_seq


def _before_result(source: ForkSource) -> bool:
    """Whether the message after the cut belongs to a group that began at or before it."""
    return len(source.tail) > 1 and source.tail[1].role is MessageRole.TOOL

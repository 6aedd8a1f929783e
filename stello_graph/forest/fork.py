"""Forking: what a child takes of its source, and where it hangs."""

from stello_graph.errors import ForkRefused, InvalidInput, ModelError, NotFound, SessionArchived
from stello_graph.forest.accounts import count, stored_or_counted
from stello_graph.forest.parent_context import apart, summarised, together
from stello_graph.forest.profiles import Variables, check_vars, merged_prompt, rendered
from stello_graph.forest.selection import Select, selected
from stello_graph.forest.sessions import override_fields
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
from stello_graph.model.profile import ForkProfile
from stello_graph.model.profile_checks import check_name
from stello_graph.model.requests import Fork
from stello_graph.model.session import Session, SessionOverrides
from stello_graph.model.space import SplitGuard
from stello_graph.model.values import ForkContext, SessionRole, SessionStatus, TopologyStrategy
from stello_graph.model.writes import ForkDraft, ForkSource
from stello_graph.ports import LLM, SpaceStore
from stello_graph.session.context.groups import cuts_group, last_whole
from stello_graph.session.summaries import Compress, Summariser

__all__ = ["fork"]


async def fork(
    store: SpaceStore,
    llm: LLM,
    asked: Fork,
    limit: int,
    *,
    by_tool: bool = False,
    compress: Compress | None = None,
    select: Select | None = None,
) -> Session:
    """Creates a fork in two statements: one reads the source, one writes everything or nothing.

    For a context by summary the model is asked in between, over the original messages.

    Args:
        limit: the size of texts in bytes.
        by_tool: whether a model asks for it, which the Space's SplitGuard may treat otherwise.
        compress: the application's own way to summarise.
        select: chooses the context, in place of `asked.context`, from the messages up to throughSeq.

    Raises:
        ForkRefused: a MAIN source gives no context, or the SplitGuard.
        InvalidInput: throughSeq out of range, with NONE, or inside a tool group; vars that a template
            lacks.
        ModelError: there is no summary; nothing was written.
    """
    _check(asked, limit)
    if select is not None:
        if asked.context is not None:
            raise InvalidInput("a fork takes its context from the function or by name, not both")
        # Up to where messages may be chosen is decided as for INHERIT.
        asked = asked.model_copy(update={"context": ForkContext.INHERIT})
    given = asked.model_dump(mode="json", exclude={"idempotency_key"}, exclude_unset=True)
    key = idempotency(asked.idempotency_key, "fork", given)
    source = await store.fork_source(
        asked.source_session_id, asked.through_seq, profile=asked.profile, idempotency=key
    )
    if source.made_before is not None:
        found = await store.sessions([source.made_before])
        if source.made_before in found:
            return found[source.made_before]
    guard = _guard(source, by_tool=by_tool)
    draft = _draft(asked, source, limit).model_copy(update={"guard": guard})
    if select is not None:
        draft = await _with_selection(store, select, draft, limit)
    elif _context(asked, source) is ForkContext.COMPRESS and draft.through_seq is not None:
        draft = await _with_summary(store, llm, source, draft, compress)
    return await stored_or_counted(store, draft.source_id, draft.usage, lambda: store.fork(draft, key))


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
    if asked.profile is not None:
        check_name(asked.profile)
    check_vars(asked.vars, limit)


def _guard(source: ForkSource, *, by_tool: bool) -> SplitGuard | None:
    """The guard that holds this fork, checked ahead; the transaction decides."""
    session, guard = source.session, source.space.config.split_guard
    if session.status is SessionStatus.ARCHIVED:
        raise SessionArchived.of(session.id)
    if not (guard.for_tools if by_tool else guard.for_api):
        return None
    missing = guard.missing_turns(session.turn_count, source.last_split)
    if missing > 0:
        raise ForkRefused.too_early(session.id, missing)
    return guard


def _context(asked: Fork, source: ForkSource) -> ForkContext:
    of_profile = None if source.profile is None else source.profile.context
    return asked.context or of_profile or ForkContext.NONE


def _draft(asked: Fork, source: ForkSource, limit: int) -> ForkDraft:
    """The fork as far as no model is needed for it."""
    if asked.profile is not None and source.profile is None:
        raise NotFound.of("fork profile", asked.profile)
    profile = source.profile or ForkProfile(name="")
    session, context = source.session, _context(asked, source)
    leaks = session.role is not SessionRole.MAIN
    vars = check_vars(asked.vars, limit)
    opening = asked.prompt or rendered(profile.prompt, vars, "prompt")
    if opening is not None:
        check_text(opening, "the opening prompt", limit)
    return ForkDraft(
        id=new_id() if asked.id is None else check_id(asked.id),
        source_id=session.id,
        parent_id=_parent(asked, session),
        label=asked.label,
        system_prompt=_system_prompt(asked, profile, source, vars, limit),
        skills=_skills(asked, profile, session if leaks else None),
        tags=check_names(asked.tags, "tags"),
        metadata=asked.metadata,
        overrides=_overrides(session.overrides) if leaks else {},
        through_seq=_through(asked, source, context),
        inherits=context is not ForkContext.COMPRESS,
        opening=None if opening is None else Draft(id=new_id(), role=MessageRole.ASSISTANT, content=opening),
    )


def _system_prompt(
    asked: Fork, profile: ForkProfile, source: ForkSource, vars: Variables, limit: int
) -> str | None:
    """The layers' prompt. What the source was told of its own source goes on with its messages only."""
    leaks = source.session.role is not SessionRole.MAIN
    inherited, told = apart(source.session.system_prompt) if leaks else (None, "")
    prompt = merged_prompt(
        asked.system_prompt,
        rendered(profile.system_prompt, vars, "systemPrompt"),
        asked.system_prompt_mode or profile.system_prompt_mode,
        inherited,
    )
    if told and _context(asked, source) is not ForkContext.NONE:
        prompt = together(apart(prompt)[0], told, None)
    return None if prompt is None else check_text(prompt, "the system prompt", limit)


async def _with_summary(
    store: SpaceStore, llm: LLM, source: ForkSource, draft: ForkDraft, compress: Compress | None
) -> ForkDraft:
    """The fork with a summary of the source in its system prompt, in place of what is told there."""
    await _check_parent(store, draft)
    prompt, told = apart(draft.system_prompt)
    whole = await store.whole_conversation(draft.source_id)
    summariser = Summariser(llm, whole, compress)
    try:
        summary = await summarised(summariser, whole, draft.through_seq or 0, told)
    except ModelError:
        await count(store, draft.source_id, summariser.usage)
        raise
    of_space = None if draft.system_prompt is not None else source.space.config.system_prompt
    prompt = together(prompt, summary, of_space)
    return draft.model_copy(update={"system_prompt": prompt, "usage": summariser.usage})


async def _with_selection(store: SpaceStore, select: Select, draft: ForkDraft, limit: int) -> ForkDraft:
    """The fork with copies of what the function chooses, in place of shared messages."""
    whole = await store.whole_conversation(draft.source_id)
    messages = [message for message in whole.transcript if message.seq <= (draft.through_seq or 0)]
    chosen = await selected(select, messages, limit)
    return draft.model_copy(update={"selected": chosen, "inherits": False})


async def _check_parent(store: SpaceStore, draft: ForkDraft) -> None:
    """Looks ahead, so that no model is asked in vain; the transaction decides."""
    if draft.parent_id == draft.source_id:
        return
    parent = (await store.nodes([draft.parent_id])).get(draft.parent_id)
    if parent is None:
        raise NotFound.of("session", draft.parent_id)
    if parent.status is SessionStatus.ARCHIVED:
        raise SessionArchived.of(draft.parent_id)


def _parent(asked: Fork, source: Session) -> str:
    if asked.parent_id is not None:
        return check_id(asked.parent_id, "parentId")
    return source.root_id if source.strategy is TopologyStrategy.FLAT else source.id


def _skills(asked: Fork, profile: ForkProfile, source: Session | None) -> tuple[str, ...] | None:
    """The layers' whitelist; a source that does not leak allows all."""
    if "skills" in asked.model_fields_set:
        return None if asked.skills is None else check_names(asked.skills, "skills")
    if profile.skills is not None:
        return profile.skills
    return None if source is None else source.skills


def _overrides(overrides: SessionOverrides) -> dict[str, str | None]:
    return override_fields(overrides, 2**31, whole=True)


def _through(asked: Fork, source: ForkSource, context: ForkContext) -> int | None:
    """The last message that the context includes, None for none."""
    if context is ForkContext.NONE:
        if asked.through_seq is not None:
            raise InvalidInput("throughSeq needs a context: INHERIT or COMPRESS")
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

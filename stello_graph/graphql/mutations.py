"""Mutations: each checks its scope, makes a request of the service, and answers what it gave."""

from typing import Any

import strawberry
from strawberry import ID, UNSET

from stello_graph.graphql.access import AccessMutation
from stello_graph.graphql.arguments import given, request
from stello_graph.graphql.context import Info
from stello_graph.graphql.inputs import (
    CreateSessionInput,
    ForkInput,
    ForkProfileInput,
    InsightInput,
    MessageInput,
    SendInput,
    SessionOverridesInput,
    SpaceConfigInput,
    UpdateSessionInput,
)
from stello_graph.graphql.knowledge import KnowledgeMutation
from stello_graph.graphql.types.memory import Integration
from stello_graph.graphql.types.message import Message
from stello_graph.graphql.types.profile import ForkProfile
from stello_graph.graphql.types.session import Session
from stello_graph.graphql.types.space import Space
from stello_graph.graphql.types.topology import TopologyNode
from stello_graph.graphql.types.turn import Turn
from stello_graph.model import memory as model_memory
from stello_graph.model import message as model_message
from stello_graph.model import profile as model_profile
from stello_graph.model import requests
from stello_graph.model import session as model_session
from stello_graph.model import space as model_space
from stello_graph.model import topology as model_topology
from stello_graph.model import turn as model_turn
from stello_graph.model.values import KeyScope
from stello_graph.service import SpaceService

__all__ = ["Mutation"]

_OVERRIDES = frozenset(model_session.SessionOverrides.model_fields)
_CLEARABLE = frozenset(requests.UpdateSession.model_fields)
_SETTINGS = frozenset(requests.SpaceChanges.model_fields)


def _writable(info: Info) -> SpaceService:
    return info.context.space(KeyScope.WRITE)


def _overrides(source: SessionOverridesInput | None) -> dict[str, Any]:
    if source is None or source is UNSET:
        return {}
    return {"overrides": request(model_session.SessionOverrides, source, nullable=_OVERRIDES)}


async def create_session(info: Info, input: CreateSessionInput) -> model_session.Session:
    """A root, or an empty child."""
    asked = request(requests.CreateSession, input, **_overrides(input.overrides))
    return await _writable(info).create_session(asked)


async def fork(info: Info, input: ForkInput) -> model_session.Session:
    """A child of a session, with or without its context."""
    asked = request(requests.Fork, input, nullable=frozenset({"skills"}))
    return await _writable(info).fork(asked)


async def update_session(info: Info, id: ID, input: UpdateSessionInput) -> model_session.Session:
    """Changes the fields that are given."""
    asked = request(requests.UpdateSession, input, nullable=_CLEARABLE, **_overrides(input.overrides))
    return await _writable(info).update_session(id, asked)


async def archive_session(info: Info, id: ID) -> model_session.Session:
    """No more writes."""
    return await _writable(info).archive(id)


async def unarchive_session(info: Info, id: ID) -> model_session.Session:
    """Writes again."""
    return await _writable(info).unarchive(id)


async def delete_session(info: Info, id: ID, expected_count: int) -> list[str]:
    """Deletes a subtree."""
    return await _writable(info).delete(id, expected_count)


async def enter_session(info: Info, id: ID, holder: str) -> model_session.Session:
    """A client is in a session now."""
    return await _writable(info).enter(id, holder)


async def leave_session(info: Info, id: ID, holder: str) -> model_session.Session:
    """A client is no longer in a session."""
    return await _writable(info).leave(id, holder)


async def trim_messages(info: Info, session_id: ID, keep_last: int) -> model_session.Session:
    """Forgets the oldest messages."""
    return await _writable(info).trim(session_id, keep_last)


async def append_messages(
    info: Info, session_id: ID, messages: list[MessageInput], idempotency_key: str | None = UNSET
) -> list[model_message.Message]:
    """Stores messages as they are."""
    asked = [request(requests.AppendedMessage, one, **_tool_calls(one)) for one in messages]
    return await _writable(info).append(session_id, asked, given(idempotency_key, None))


async def send(info: Info, input: SendInput) -> model_turn.Turn:
    """Runs one turn to its end."""
    return await _writable(info).send(request(requests.Send, input))


async def start_turn(info: Info, input: SendInput) -> model_turn.Turn:
    """Begins one turn."""
    return await _writable(info).start_turn(request(requests.Send, input))


async def cancel_turn(info: Info, id: ID) -> model_turn.Turn:
    """Cancels a turn."""
    return await _writable(info).cancel_turn(id)


async def confirm_tool_call(
    info: Info, turn_id: ID, tool_call_id: str, approve: bool, reason: str | None = UNSET
) -> model_turn.Turn:
    """Answers a call that waits."""
    return await _writable(info).confirm(turn_id, tool_call_id, approve=approve, reason=given(reason, None))


async def put_memory(info: Info, session_id: ID, content: str) -> model_session.Session:
    """Writes L2."""
    return await _writable(info).put_memory(session_id, content)


async def put_insight(
    info: Info, session_id: ID, content: str, source_session_id: ID | None = UNSET
) -> model_session.Session:
    """Replaces the pending insight."""
    return await _writable(info).put_insight(session_id, content, given(source_session_id, None))


async def put_insights(info: Info, insights: list[InsightInput]) -> list[model_session.Session]:
    """Replaces several pending insights, or none."""
    asked = [request(model_memory.InsightDraft, one) for one in insights]
    return await _writable(info).put_insights(asked)


async def clear_insight(info: Info, session_id: ID) -> model_session.Session:
    """Clears the pending insight."""
    return await _writable(info).clear_insight(session_id)


async def consolidate(info: Info, session_id: ID) -> model_session.Session:
    """L3 to L2."""
    return await _writable(info).consolidate(session_id)


async def compact(info: Info, session_id: ID, keep_last: int | None = 10) -> model_session.Session:
    """A summary in place of the older messages."""
    return await _writable(info).compact(session_id, given(keep_last, 10))


async def integrate(info: Info, session_id: ID, force: bool | None = False) -> model_memory.Integration:
    """All L2 of a tree to synthesis and insights."""
    return await _writable(info).integrate(session_id, force=given(force, False))


async def add_ref(info: Info, from_id: ID, to_id: ID) -> model_topology.TopologyNode:
    """A cross-link."""
    return await _writable(info).add_ref(from_id, to_id)


async def remove_ref(info: Info, from_id: ID, to_id: ID) -> model_topology.TopologyNode:
    """No cross-link any more."""
    return await _writable(info).remove_ref(from_id, to_id)


async def load_demo(info: Info) -> int:
    """A forest to look at."""
    return await info.context.space(KeyScope.ADMIN).load_demo()


async def put_fork_profile(info: Info, input: ForkProfileInput) -> model_profile.ForkProfile:
    """Writes a recipe for forks."""
    profile = request(model_profile.ForkProfile, input)
    return await info.context.space(KeyScope.ADMIN).put_profile(profile)


async def delete_fork_profile(info: Info, name: str) -> bool:
    """Whether there was one."""
    return await info.context.space(KeyScope.ADMIN).delete_profile(name)


async def configure_space(info: Info, input: SpaceConfigInput) -> model_space.Space:
    """Changes settings."""
    guard = given(input.split_guard, None)
    split_guard = {"split_guard": _set_fields(guard)} if guard is not None else {}
    asked = request(requests.SpaceChanges, input, nullable=_SETTINGS, **split_guard)
    return await info.context.space(KeyScope.ADMIN).configure(asked)


def _set_fields(source: object) -> dict[str, Any]:
    return {name: value for name, value in vars(source).items() if value is not UNSET}


def _tool_calls(message: MessageInput) -> dict[str, Any]:
    return {"tool_calls": [request(model_message.ToolCall, call) for call in given(message.tool_calls, [])]}


@strawberry.type
class Mutation(KnowledgeMutation, AccessMutation):
    """What can be changed."""

    create_session = strawberry.mutation(
        resolver=create_session,
        graphql_type=Session,
        description="A root, or an empty child of parentId. Inherits nothing of other sessions.",
    )
    fork = strawberry.mutation(
        resolver=fork,
        graphql_type=Session,
        description="Session, node, edges and inherited transcript are created in one transaction, or nothing is.",
    )
    send = strawberry.mutation(
        resolver=send,
        graphql_type=Turn,
        description="Runs one turn to its end: tool rounds included. Resolves when the turn completes, fails, "
        "is cancelled or awaits a confirmation.",
    )
    append_messages = strawberry.mutation(
        resolver=append_messages,
        graphql_type=list[Message],
        description="Stores messages as they are, without the model, at the end of the transcript; refused while a "
        "turn runs (SESSION_BUSY). Tool groups must be whole.",
    )
    start_turn = strawberry.mutation(
        resolver=start_turn,
        graphql_type=Turn,
        description="As send, but resolves as soon as the turn has begun; follow it with turnEvents. "
        "The way for front-ends: a reconnect cannot send twice.",
    )
    cancel_turn = strawberry.mutation(resolver=cancel_turn, graphql_type=Turn)
    confirm_tool_call = strawberry.mutation(
        resolver=confirm_tool_call,
        graphql_type=Turn,
        description="Approves or refuses a waiting tool call; the turn goes on when none waits any more. "
        "The same answer again returns the turn, the opposite one is CONFLICT.",
    )
    update_session = strawberry.mutation(resolver=update_session, graphql_type=Session)
    archive_session = strawberry.mutation(resolver=archive_session, graphql_type=Session)
    unarchive_session = strawberry.mutation(resolver=unarchive_session, graphql_type=Session)
    delete_session = strawberry.mutation(
        resolver=delete_session,
        graphql_type=list[ID],
        description="Removes the session and its whole subtree with all that belongs to them, at most 10,000 sessions "
        "at once. expectedCount must equal the number that go (else CONFLICT with extensions.count). "
        "Running turns are cancelled first.",
    )
    enter_session = strawberry.mutation(
        resolver=enter_session,
        graphql_type=Session,
        description="holder names the client (a tab, a device). Entering another session with the same holder leaves "
        "the one before: ON_SWITCH.",
    )
    leave_session = strawberry.mutation(resolver=leave_session, graphql_type=Session)
    put_memory = strawberry.mutation(resolver=put_memory, graphql_type=Session)
    put_insight = strawberry.mutation(
        resolver=put_insight,
        graphql_type=Session,
        description="Replaces the pending insight. null for sourceSessionId: from the application.",
    )
    put_insights = strawberry.mutation(
        resolver=put_insights,
        graphql_type=list[Session],
        description="All or none, in one transaction; an unknown or archived target fails the whole. "
        "At most 1,000, each session once.",
    )
    clear_insight = strawberry.mutation(resolver=clear_insight, graphql_type=Session)
    consolidate = strawberry.mutation(
        resolver=consolidate, graphql_type=Session, description="L3 to L2, now."
    )
    compact = strawberry.mutation(
        resolver=compact,
        graphql_type=Session,
        description="Compresses the transcript up to the newest keepLast messages now, whatever its size.",
    )
    integrate = strawberry.mutation(
        resolver=integrate,
        graphql_type=Integration,
        description="All L2 of a MAIN session's tree to its synthesis and to insights for its sessions, in one "
        "transaction. Without new L2 since the last time nothing is called or changed, unless force.",
    )
    trim_messages = strawberry.mutation(
        resolver=trim_messages,
        graphql_type=Session,
        description="Keeps the newest messages of this session's view, whole tool groups only; drops a compression "
        "that covers what goes. SESSION_BUSY while a turn runs.",
    )
    add_ref = strawberry.mutation(
        resolver=add_ref,
        graphql_type=TopologyNode,
        description="Refused to self, an ancestor, a descendant or an unknown session. Twice is once.",
    )
    remove_ref = strawberry.mutation(resolver=remove_ref, graphql_type=TopologyNode)
    load_demo = strawberry.mutation(
        resolver=load_demo,
        graphql_type=int,
        description="ADMIN. Writes skills and fork profiles too. Fills a Space without sessions (else CONFLICT) with a "
        "forest that shows every feature, without asking a model; answers how many sessions it has.",
    )
    put_fork_profile = strawberry.mutation(
        resolver=put_fork_profile,
        graphql_type=ForkProfile,
        description="ADMIN. One of the same name is replaced whole; at most 200 a Space.",
    )
    delete_fork_profile = strawberry.mutation(
        resolver=delete_fork_profile, graphql_type=bool, description="ADMIN. Whether there was one."
    )
    configure_space = strawberry.mutation(
        resolver=configure_space, graphql_type=Space, description="ADMIN. Only the fields given change."
    )

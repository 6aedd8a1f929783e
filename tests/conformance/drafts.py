"""What tests write."""

from collections.abc import Sequence
from typing import Any

from stello_graph.ids import new_id
from stello_graph.model.message import Draft, Message, MessageRole, ToolCall
from stello_graph.model.session import Session
from stello_graph.model.turn import StopReason, Turn, TurnStatus
from stello_graph.model.values import Usage
from stello_graph.model.writes import (
    CompressionDraft,
    ForkDraft,
    Idempotency,
    PlacedDraft,
    SessionDraft,
    TurnBegun,
    TurnEnd,
)
from stello_graph.ports import SpaceStore

LEASE = 60.0
ALL = 10**9


def root(label: str = "Root", **fields: Any) -> SessionDraft:
    return SessionDraft(**{"id": new_id(), "label": label, "overrides": {}, **fields})


def child(parent: str, label: str = "Child", **fields: Any) -> SessionDraft:
    return root(label, parent_id=parent, **fields)


def fork_of(source: str, **fields: Any) -> ForkDraft:
    given = {"id": new_id(), "label": "Fork", "parent_id": source, "source_id": source, "overrides": {}}
    return ForkDraft(**given | fields)


def said(content: str = "Hello", role: MessageRole = MessageRole.USER, **fields: Any) -> Draft:
    return Draft(**{"id": new_id(), "role": role, "content": content, **fields})


def told(content: str = "Hi", **fields: Any) -> Draft:
    return said(content, MessageRole.ASSISTANT, **fields)


def tool_group(results: int = 2) -> list[Draft]:
    calls = tuple(ToolCall(id=f"call-{n}", name="look", arguments={"n": n}) for n in range(results))
    answers = [
        said(f"result {call.id}", MessageRole.TOOL, tool_call_id=call.id, tool_name="look") for call in calls
    ]
    return [told("Let me look.", tool_calls=calls), *answers]


def many(count: int) -> list[Draft]:
    return [said(f"message {n}") if n % 2 else told(f"message {n}") for n in range(1, count + 1)]


def summary_of(through_seq: int, extends: int = 0, summary: str = "摘要") -> CompressionDraft:
    return CompressionDraft(
        summary=summary, through_seq=through_seq, tokens=2, first_seq=extends + 1, extends=extends
    )


def key(value: str = "key", input_hash: str = "input") -> Idempotency:
    return Idempotency(key=value, input_hash=input_hash)


async def create(space: SpaceStore, label: str = "Root", **fields: Any) -> Session:
    return await space.create_session(root(label, **fields), None)


async def begin(
    space: SpaceStore, session_id: str, content: str = "Hello", lease: float = LEASE
) -> TurnBegun:
    turn_id = new_id()
    begun = await space.begin_turn(
        session_id, turn_id, said(content, turn_id=turn_id), lease=lease, idempotency=None
    )
    assert isinstance(begun, TurnBegun)
    return begun


def end_of(turn: Turn, *messages: Draft, **fields: Any) -> TurnEnd:
    return TurnEnd(
        **{
            "turn": turn,
            "fence": turn.fence,
            "status": TurnStatus.COMPLETED,
            "stop_reason": StopReason.END_TURN,
            "messages": messages,
            **fields,
        }
    )


def failure_of(turn: Turn, **fields: Any) -> TurnEnd:
    return end_of(turn, **{"status": TurnStatus.FAILED, "stop_reason": StopReason.ERROR, **fields})


async def exchange(space: SpaceStore, session_id: str, question: str = "Hello", answer: str = "Hi") -> Turn:
    """One whole turn."""
    begun = await begin(space, session_id, question)
    ended = await space.end_turn(end_of(begun.turn, told(answer, turn_id=begun.turn.id)))
    assert ended is not None
    return ended[0]


async def transcript(space: SpaceStore, session_id: str) -> list[Message]:
    page = await space.oldest_messages([session_id], after=0, before=ALL, first=ALL, roles=None)
    return page[session_id]


def texts(messages: Sequence[Draft]) -> list[str]:
    return [message.content for message in messages]


def usage(tokens: int) -> Usage:
    return Usage(
        input_tokens=tokens,
        output_tokens=tokens + 1,
        cache_read_tokens=tokens + 2,
        cache_write_tokens=tokens + 3,
        llm_calls=1,
    )


def placed(id: str, parent_id: str | None = None, **fields: object) -> PlacedDraft:
    return PlacedDraft.model_validate(
        {"id": id, "parent_id": parent_id, "label": f"星 {id}", "messages": tuple(many(4)), **fields}
    )

"""What a model is asked, and what it answers, in no provider's form."""

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from stello_graph.model.knowledge import SharedMemoryNote, SkillNote
from stello_graph.model.message import Message, ToolCall
from stello_graph.model.session import Session
from stello_graph.model.space import SpaceConfig
from stello_graph.model.values import Usage, Value

__all__ = [
    "ContextMessage",
    "ContextOrigin",
    "Conversation",
    "ModelRequest",
    "Reply",
    "ReplyStop",
    "Role",
    "TextChunk",
    "ToolSpec",
]

Role = Literal["system", "user", "assistant", "tool"]


class ContextOrigin(StrEnum):
    """Which slot of the context a message comes from."""

    SYSTEM_PROMPT = "SYSTEM_PROMPT"
    SHARED_MEMORY_INDEX = "SHARED_MEMORY_INDEX"
    SESSION_IDENTITY = "SESSION_IDENTITY"
    SYNTHESIS = "SYNTHESIS"
    INSIGHT = "INSIGHT"
    COMPRESSION = "COMPRESSION"
    TRANSCRIPT = "TRANSCRIPT"
    USER_INPUT = "USER_INPUT"


class ContextMessage(Value):
    """One message of a compiled request.

    Attributes:
        parts: blocks that go with or instead of the text, or None where there is only text.
        seq: place of the stored message, None for what is not one.
        model: who wrote an assistant message; thinking is replayed to the same model only.
        usage: what the call that wrote it took, where that still measures this context.
    """

    role: Role
    content: str
    origin: ContextOrigin
    seq: int | None = None
    parts: Any = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool = False
    model: str | None = None
    usage: Usage | None = None


class ToolSpec(Value):
    """A tool as a model is told of it. `input_schema` is a JSON schema; `annotations` are for front-ends."""

    name: str
    description: str
    input_schema: dict[str, Any]
    needs_confirmation: bool = False
    annotations: dict[str, Any] = Field(default_factory=dict)


class ModelRequest(Value):
    """One request to a model."""

    model: str
    messages: tuple[ContextMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: Literal["auto", "none"] = "auto"
    max_output_tokens: int


class ReplyStop(StrEnum):
    """Why a model stopped."""

    END_TURN = "END_TURN"
    TOOL_USE = "TOOL_USE"
    MAX_TOKENS = "MAX_TOKENS"
    REFUSAL = "REFUSAL"


class TextChunk(Value):
    """Some text of the reply, as it comes."""

    text: str


class Reply(Value):
    """The whole reply: the last thing of a stream. `text` equals the chunks, joined.

    Attributes:
        parts: the blocks as the model gave them, where there is more than text and calls.
        model: the model that answered, by its own word.
    """

    text: str
    parts: Any = None
    tool_calls: tuple[ToolCall, ...] = ()
    stop: ReplyStop
    usage: Usage = Usage()
    model: str


class Conversation(Value):
    """All that compiling one session's context needs, as stored.

    Attributes:
        space_revision: of `config`; grows with each change of it.
        transcript: oldest first, from after `session.compression.through_seq` on.
        shared_memories: in the order of first insertion; none where the Space does not share memory.
        skills: the stored ones, in the order of first insertion, whatever the session may use of them.
    """

    session: Session
    config: SpaceConfig
    space_revision: int = 0
    transcript: tuple[Message, ...] = ()
    shared_memories: tuple[SharedMemoryNote, ...] = ()
    skills: tuple[SkillNote, ...] = ()

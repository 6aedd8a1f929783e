"""What the demo's files hold."""

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Final

from pydantic import ConfigDict

from stello_graph.model.message import Draft, MessageRole, MessageState, ToolCall
from stello_graph.model.profile import ForkProfile
from stello_graph.model.values import ForkContext, SessionRole, TopologyStrategy, Value

__all__ = ["DemoSession", "DemoSpace", "Topics", "sessions", "space", "topics"]

TREES: Final = ("whale_bay", "survey", "xiamen", "others")


class _Strict(Value):
    """A part of a file, whose every field is known."""

    model_config = ConfigDict(extra="forbid")


class DemoMessage(_Strict):
    """A message: of the user, of the assistant, or the result `of` a call."""

    user: str | None = None
    assistant: str | None = None
    thinking: str | None = None
    calls: tuple[ToolCall, ...] = ()
    of: str | None = None
    result: str | None = None
    error: bool = False
    state: MessageState = MessageState.COMPLETE


class DemoCompression(_Strict):
    """A summary of the messages up to and including `through`."""

    through: int
    text: str


class DemoSession(_Strict):
    """A session, after those that it names as its parent or source.

    Attributes:
        summary: what a fork with COMPRESS is told of its source.
        profile: the fork profile that its system prompt is from.
        insight_from: the MAIN session that put the insight.
        refs: what it links to, also further down.
    """

    id: str
    label: str
    parent: str | None = None
    source: str | None = None
    through: int | None = None
    context: ForkContext | None = None
    summary: str = ""
    profile: str | None = None
    role: SessionRole = SessionRole.STANDARD
    strategy: TopologyStrategy | None = None
    system_prompt: str | None = None
    skills: tuple[str, ...] | None = None
    tags: tuple[str, ...] = ()
    memory: str | None = None
    rollup: str | None = None
    synthesis: str | None = None
    insight: str | None = None
    insight_from: str | None = None
    compression: DemoCompression | None = None
    refs: tuple[str, ...] = ()
    archived: bool = False
    messages: tuple[DemoMessage, ...] = ()

    def drafts(self) -> tuple[Draft, ...]:
        """Its own messages, as they are stored. Of one file they always have the same ids."""
        names = {call.id: call.name for message in self.messages for call in message.calls}
        return tuple(
            _draft(f"{self.id}:{place}", message, names) for place, message in enumerate(self.messages, 1)
        )


class DemoSharedMemory(_Strict):
    """What all sessions may know."""

    slug: str
    summary: str
    body: str


class DemoSkill(_Strict):
    """Instructions to take on."""

    name: str
    description: str
    content: str


class DemoSpace(_Strict):
    """What the Space holds beside its sessions."""

    records: dict[str, Any]
    shared_memories: tuple[DemoSharedMemory, ...]
    skills: tuple[DemoSkill, ...]
    profiles: tuple[ForkProfile, ...]


class Topics(_Strict):
    """What light sessions are made of: `{subject}` stands for one of the subjects."""

    subjects: tuple[str, ...]
    labels: tuple[str, ...]
    questions: tuple[str, ...]
    answers: tuple[str, ...]
    tags: tuple[str, ...]


def sessions() -> Iterator[DemoSession]:
    """The sessions, each after its parent and source."""
    for tree in TREES:
        for fields in _file(tree)["sessions"]:
            yield DemoSession.model_validate(fields)


def space() -> DemoSpace:
    """What stands beside them."""
    return DemoSpace.model_validate(_file("space"))


def topics() -> tuple[Topics, ...]:
    """Those of each language."""
    return tuple(Topics.model_validate(fields) for fields in _file("topics")["languages"])


def _file(name: str) -> dict[str, Any]:
    text = files("stello_graph.demo").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return {name: _stripped(value) for name, value in tomllib.loads(text).items()}


def _stripped(value: Any) -> Any:
    """Texts without the line ends that the file's form gives them."""
    match value:
        case str():
            return value.strip("\n")
        case list():
            return [_stripped(one) for one in value]
        case dict():
            return {name: _stripped(one) for name, one in value.items()}
    return value


def _draft(id: str, message: DemoMessage, names: dict[str, str]) -> Draft:
    if message.of is not None:
        return Draft(
            id=id,
            role=MessageRole.TOOL,
            content=message.result or "",
            tool_call_id=message.of,
            tool_name=names[message.of],
            is_error=message.error,
        )
    if message.user is not None:
        return Draft(id=id, role=MessageRole.USER, content=message.user)
    text = message.assistant or ""
    thought = {"type": "thinking", "thinking": message.thinking}
    return Draft(
        id=id,
        role=MessageRole.ASSISTANT,
        content=text,
        parts=[thought, {"type": "text", "text": text}] if message.thinking else None,
        state=message.state,
        tool_calls=message.calls,
    )

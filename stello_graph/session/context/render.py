"""From a transcript to the messages of a request: the slots in their order, then what is legal."""

from collections.abc import Iterator

from stello_graph.model.context import ContextMessage, ContextOrigin, ToolSpec
from stello_graph.model.values import Value
from stello_graph.session.context.legal import legal
from stello_graph.session.context.text import is_blank, one_line, plain, tagged
from stello_graph.session.context.transcript import Transcript

__all__ = ["Invocation", "render"]


class Invocation(Value):
    """All of one request that is not transcript. What is blank is left out.

    Attributes:
        shared_memory_index: rendered already, tags and all.
        insight: the one pinned to the turn, or where none runs the pending one.
    """

    system_prompt: str = ""
    shared_memory_index: str = ""
    label: str = ""
    synthesis: str = ""
    insight: str = ""
    tools: tuple[ToolSpec, ...] = ()


def render(invocation: Invocation, transcript: Transcript) -> tuple[ContextMessage, ...]:
    """The messages that a model is asked with: always legal, and the same for the same arguments."""
    tools = frozenset(tool.name for tool in invocation.tools)
    return (*_slots(invocation), *legal(transcript, tools))


def _slots(invocation: Invocation) -> Iterator[ContextMessage]:
    slots = (
        (ContextOrigin.SYSTEM_PROMPT, invocation.system_prompt),
        (ContextOrigin.SHARED_MEMORY_INDEX, invocation.shared_memory_index),
        (ContextOrigin.SESSION_IDENTITY, _identity(invocation.label)),
        (ContextOrigin.SYNTHESIS, plain(invocation.synthesis)),
        (ContextOrigin.INSIGHT, plain(invocation.insight)),
    )
    for origin, content in slots:
        if not is_blank(content):
            yield ContextMessage(role="system", content=content, origin=origin)


def _identity(label: str) -> str:
    name = one_line(label)
    return "" if is_blank(name) else tagged("session_identity", f"你当前在「{name}」子会话中。")

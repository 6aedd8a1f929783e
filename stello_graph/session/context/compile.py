"""The one place where a request is compiled, for the turn loop and for the preview alike."""

from collections.abc import Sequence

from stello_graph.model.context import ContextMessage, Conversation, ToolSpec
from stello_graph.model.message import MessageRole
from stello_graph.model.values import SessionRole, Value
from stello_graph.session.context.patches import Patch, patch, patch_of
from stello_graph.session.context.render import Invocation, render
from stello_graph.session.context.shared_memory import shared_memory_index
from stello_graph.session.context.tokens import measure
from stello_graph.session.context.transcript import Transcript, transcript_of

__all__ = ["Compiled", "compile_context", "compile_transcript", "running_turn"]


class Compiled(Value):
    """What a model sees next, and how full its window is with it.

    Attributes:
        would_compress: the estimate has come to 80 % of the window.
    """

    messages: tuple[ContextMessage, ...]
    tools: tuple[ToolSpec, ...]
    estimated_tokens: int
    max_context_tokens: int
    would_compress: bool


def compile_context(
    conversation: Conversation,
    content: str,
    *,
    insight: str | None,
    max_context_tokens: int,
    patches: Sequence[Patch] = (),
    tools: Sequence[ToolSpec] = (),
) -> Compiled:
    """Compiles what a model sees next.

    Args:
        conversation: as stored before the turn began, without the user's message.
        content: what the user says.
        insight: the one pinned to the turn, or the pending one where no turn runs.
        max_context_tokens: the model's window.
        patches: what happened in the turn so far, in order.
        tools: those that the request offers.
    """
    return compile_transcript(
        conversation,
        patch(transcript_of(conversation, content), patches),
        insight=insight,
        max_context_tokens=max_context_tokens,
        tools=tools,
    )


def compile_transcript(
    conversation: Conversation,
    transcript: Transcript,
    *,
    insight: str | None,
    max_context_tokens: int,
    tools: Sequence[ToolSpec] = (),
) -> Compiled:
    """As `compile_context`, of a transcript that the patches and the user's input are a part of already."""
    session = conversation.session
    prompt = session.system_prompt if session.system_prompt is not None else conversation.config.system_prompt
    invocation = Invocation(
        system_prompt=prompt or "",
        shared_memory_index=shared_memory_index(conversation.shared_memories, max_context_tokens),
        label=session.label,
        synthesis=(session.synthesis or "") if session.role is SessionRole.MAIN else "",
        insight=insight or "",
        tools=tuple(tools),
    )
    messages = render(invocation, transcript)
    estimated = measure(messages, invocation.tools)
    return Compiled(
        messages=messages,
        tools=invocation.tools,
        estimated_tokens=estimated,
        max_context_tokens=max_context_tokens,
        would_compress=10 * estimated >= 8 * max_context_tokens,
    )


def running_turn(conversation: Conversation, first_seq: int) -> tuple[Conversation, str, tuple[Patch, ...]]:
    """Takes a transcript apart where a turn began: what was before, what the user said, what came of it.

    For a turn that another process goes on with. Where a compression has covered the user's message
    already, what it said is empty.
    """
    before = tuple(message for message in conversation.transcript if message.seq < first_seq)
    said = [message for message in conversation.transcript if message.seq >= first_seq]
    content = ""
    if said and said[0].role is MessageRole.USER:
        content = said.pop(0).content
    earlier = conversation.model_copy(update={"transcript": before})
    return earlier, content, tuple(map(patch_of, said))

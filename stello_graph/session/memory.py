"""L3 to L2: a transcript distilled to the digest that others may know of it."""

from collections.abc import Awaitable, Iterable, Sequence
from typing import Protocol

from stello_graph.model.context import Conversation, ModelRequest, ReplyStop
from stello_graph.model.message import Message, MessageRole, MessageState
from stello_graph.model.values import Usage
from stello_graph.ports import LLM
from stello_graph.session.call import call
from stello_graph.session.context.parts import text_of
from stello_graph.session.context.text import is_blank, plain, without_thinking
from stello_graph.session.context.tokens import estimate, tokens_of
from stello_graph.session.prompts import CONSOLIDATE_PROMPT, block, task_messages

__all__ = [
    "Consolidate",
    "consolidate",
    "consolidate_request",
    "distil",
    "newest_lines",
    "shortened",
    "transcript_lines",
]

_WINDOW = 200_000
_LONGEST_RESULT = 400
_LEAST_INPUT = 200


class Consolidate(Protocol):
    """How an application distils by itself; the form of its digests is its own."""

    def __call__(self, memory: str | None, messages: Sequence[Message]) -> str | Awaitable[str]:
        """The digest of what `memory` stands for, None for nothing, and of the messages after it.

        A function that is not async runs in a thread.
        """
        ...


async def consolidate(llm: LLM, conversation: Conversation) -> tuple[str | None, Usage]:
    """Distils the transcript to a new digest, starting from the one that there is.

    Returns:
        The digest, and what it cost. None means that the old digest stays: the transcript says nothing
        (then the model is not called), or the model said nothing or refused.

    Raises:
        ModelError: the model failed; the old digest stays.
    """
    request = consolidate_request(llm, conversation)
    if request is None:
        return None, Usage()
    reply = await call(llm, request)
    digest = "" if reply.stop is ReplyStop.REFUSAL else distil(reply.text)
    return digest or None, reply.usage


def consolidate_request(llm: LLM, conversation: Conversation) -> ModelRequest | None:
    """The request that consolidates, or None where the transcript has nothing to distil.

    Its input takes half of the window at most: the newest lines, whole.
    """
    session, config = conversation.session, conversation.config
    model = session.overrides.model or config.consolidate_model or config.model or llm.default_model
    prompt = session.overrides.consolidate_prompt or config.consolidate_prompt or CONSOLIDATE_PROMPT
    own = session.overrides.role_context
    role_context = config.role_context if own is None else own
    window = min(filter(None, (llm.window(model), config.max_context_tokens)), default=_WINDOW)

    digest = block("当前摘要", shortened(session.memory or "", window // 4))
    fixed = estimate(task_messages(prompt, role_context, [digest]))
    lines = newest_lines(transcript_lines(conversation.transcript), max(window // 2 - fixed, _LEAST_INPUT))
    if not lines:
        return None
    return ModelRequest(
        model=model,
        messages=task_messages(prompt, role_context, [digest, block("对话记录", "\n".join(lines))]),
        max_output_tokens=min(config.max_output_tokens, window // 4),
    )


def transcript_lines(messages: Iterable[Message]) -> list[str]:
    """`role: content` of what was said, thinking removed and results of tools shortened.

    Further lines of one message are indented, so that none of them can pass for another speaker's.
    """
    said = ((message.role.lower(), _said(message)) for message in messages)
    return [f"{role}: " + text.replace("\n", "\n  ") for role, text in said if not is_blank(text)]


def newest_lines(lines: Sequence[str], budget: int) -> list[str]:
    """The newest lines that fit into `budget` tokens; where not even the last does, its beginning."""
    kept: list[str] = []
    left = budget
    for line in reversed(lines):
        left -= tokens_of(line) + 1
        if left < 0:
            break
        kept.append(line)
    return kept[::-1] if kept else [shortened(line, budget) for line in lines[-1:]]


def shortened(text: str, budget: int) -> str:
    """The beginning of `text` that takes about `budget` tokens."""
    cost = tokens_of(text)
    return text if cost <= budget else f"{text[: len(text) * budget // cost]}…"


def distil(text: str) -> str:
    """What a model wrote as a digest or summary: without thinking, code fence and control characters."""
    clean = plain(without_thinking(text))
    lines = clean.split("\n")
    if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        clean = "\n".join(lines[1:-1]).strip()
    return "" if is_blank(clean) else clean


def _said(message: Message) -> str:
    text = text_of(message.content, message.parts)
    if message.role is MessageRole.ASSISTANT:
        return without_thinking(text)
    if message.role is MessageRole.USER:
        return text.strip()
    if message.state is MessageState.CANCELLED:
        return ""
    return text if len(text) <= _LONGEST_RESULT else f"{text[:_LONGEST_RESULT]}…"

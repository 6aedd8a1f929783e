"""Summarising a part of a conversation, in as many steps as the summariser's window asks for."""

import json
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from typing import Protocol

from stello_graph.errors import ModelRefused
from stello_graph.model.context import ContextMessage, Conversation, ModelRequest, ReplyStop
from stello_graph.model.values import Usage
from stello_graph.ports import LLM
from stello_graph.session.call import call
from stello_graph.session.context.parts import other_than_text, text_of
from stello_graph.session.context.text import is_blank, plain, without_thinking
from stello_graph.session.context.tokens import beginning_of, estimate, tokens_of
from stello_graph.session.memory import distil
from stello_graph.session.model_choice import window_of
from stello_graph.session.own import run_own
from stello_graph.session.prompts import COMPRESS_PROMPT, block, task_messages

__all__ = ["Compress", "Summariser", "lines_of", "portions", "summary_limit"]

_WINDOW = 200_000
_LEAST_PORTION = 200
_LONGEST_RESULT = 2_000
_LONGEST_ARGUMENTS = 400


class Compress(Protocol):
    """How an application summarises by itself."""

    def __call__(self, summary: str | None, messages: Sequence[ContextMessage]) -> str | Awaitable[str]:
        """The summary of what `summary` stands for, None for nothing, and of the messages after it.

        A function that is not async runs in a thread.
        """
        ...


class Summariser:
    """Summarises for one conversation, and knows what that took.

    Attributes:
        limit: the tokens that a summary may take in the conversation's own window: an eighth.
        usage: of all calls so far, also of those before one that failed.
    """

    def __init__(self, llm: LLM, conversation: Conversation, compress: Compress | None = None) -> None:
        session, config = conversation.session, conversation.config
        own = session.overrides.role_context
        self._llm = llm
        self._compress = compress
        self._model = session.overrides.model or config.compress_model or config.model or llm.default_model
        self._prompt = session.overrides.compress_prompt or config.compress_prompt or COMPRESS_PROMPT
        self._role_context = config.role_context if own is None else own
        self._window = min(
            filter(None, (llm.window(self._model), config.max_context_tokens)), default=_WINDOW
        )
        self._max_output = config.max_output_tokens
        self.limit = summary_limit(window_of(conversation, llm))
        self.usage = Usage()

    async def summary(self, standing: str, messages: Sequence[ContextMessage], limit: int) -> str:
        """One summary of the standing one and all of `messages`; "" where both say nothing.

        Args:
            limit: the tokens that it may take; a longer one is cut there. A quarter of the
                summariser's own window is the most.

        Raises:
            ModelError: the model failed, refused or said nothing.
            InternalError: the application's function failed.
        """
        lines = lines_of(messages)
        if self._compress is not None and lines:
            return await self._by_application(self._compress, standing, messages)
        limit = min(limit, self._window // 4)
        for portion in portions(lines, self._room(limit)):
            standing = beginning_of(await self._asked(standing, portion), limit)
        return standing

    def _room(self, limit: int) -> int:
        """Half of the window, less what is there besides the transcript, but something."""
        fixed = estimate(task_messages(self._prompt, self._role_context, []))
        return max(self._window // 2 - fixed - limit, _LEAST_PORTION)

    async def _asked(self, standing: str, lines: Sequence[str]) -> str:
        given = beginning_of(standing, self._window // 4)
        blocks = [block("当前摘要", given), block("对话记录", "\n".join(lines))]
        request = ModelRequest(
            model=self._model,
            messages=task_messages(self._prompt, self._role_context, blocks),
            max_output_tokens=min(self._max_output, self._window // 4),
        )
        reply = await call(self._llm, request)
        self.usage += reply.usage
        summary = "" if reply.stop is ReplyStop.REFUSAL else distil(reply.text)
        if not summary:
            raise ModelRefused("the model gave no summary")
        return summary

    async def _by_application(
        self, compress: Compress, standing: str, messages: Sequence[ContextMessage]
    ) -> str:
        summary = plain(await run_own("compress", str, compress, standing or None, messages))
        if is_blank(summary):
            raise ModelRefused("the application's compress function gave no summary")
        return summary


def summary_limit(window: int) -> int:
    """The tokens that a summary may take of a window: an eighth."""
    return window // 8


def lines_of(messages: Iterable[ContextMessage]) -> list[str]:
    """`role: content` of all that was said, asked of tools and answered by them.

    Thinking is removed; arguments and results of tools are shortened. Further lines of one message are
    indented, so that none of them can pass for another speaker's.
    """
    told = ((message.role, "\n".join(_told(message))) for message in messages)
    return [f"{role}: " + text.replace("\n", "\n  ") for role, text in told if not is_blank(text)]


def portions(lines: Iterable[str], budget: int) -> Iterator[list[str]]:
    """All of `lines` in order, in portions of at most `budget` tokens; a line too long is cut up."""
    portion: list[str] = []
    left = budget
    for piece in (piece for line in lines for piece in _pieces(line, budget - 1)):
        cost = tokens_of(piece) + 1
        if portion and cost > left:
            yield portion
            portion, left = [], budget
        portion.append(piece)
        left -= cost
    if portion:
        yield portion


def _pieces(line: str, budget: int) -> Iterator[str]:
    while line:
        piece = beginning_of(line, budget)
        yield piece
        line = line[len(piece) :]


def _told(message: ContextMessage) -> Iterator[str]:
    text = plain(text_of(message.content, message.parts))
    if message.role == "assistant":
        text = without_thinking(text)
    if message.role == "tool":
        text = _short(text, _LONGEST_RESULT)
    if not is_blank(text):
        yield text
    for part in other_than_text(message.parts) or ():
        yield f"[{part['type']}]"
    for each in message.tool_calls:
        arguments = json.dumps(each.arguments, ensure_ascii=False, default=str)
        yield f"[tool call: {each.name} {_short(arguments, _LONGEST_ARGUMENTS)}]"


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"

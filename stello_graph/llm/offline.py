"""The model that needs no key: it answers and digests by extraction, so that everything can be tried."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator

from stello_graph.llm.offline_extract import digest, integration, is_chinese, rollup, short
from stello_graph.model.context import (
    ContextMessage,
    ContextOrigin,
    ModelRequest,
    Reply,
    ReplyStop,
    TextChunk,
)
from stello_graph.model.values import Usage

__all__ = ["OfflineLLM"]

_WINDOW = 200_000
_CHUNK = 6

_RECORD = re.compile(r"^[#*【\[\s]*对话记录[】\]*\s]*[:：]?", re.MULTILINE)
_ROLLUP = re.compile(r"^下级会话摘要[:：]", re.MULTILINE)
_DIGEST_LINE = re.compile(
    r"^\[sessionId=(?P<id>[^\]\s]+)\]\s*(?P<label>.*?)[:：]\s*(?P<digest>.*)$", re.MULTILINE
)


class OfflineLLM:
    """Pretends to be a model, and says so in each reply. The same request gets the same answer."""

    is_offline = True
    default_model = "offline"

    def __init__(self, *, delay: float = 0.015) -> None:
        """
        Args:
            delay: seconds before each chunk, so that streaming can be seen.
        """
        self._delay = delay

    def window(self, model: str) -> int | None:
        """A usual window, so that compression can be tried as well."""
        return _WINDOW

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextChunk | Reply, None]:
        """Answers the last user message, or digests where it is asked to."""
        whole = _answer(request)
        text = _cut(whole, request.max_output_tokens)
        for at in range(0, len(text), _CHUNK):
            await asyncio.sleep(self._delay)
            yield TextChunk(text=text[at : at + _CHUNK])
        yield Reply(
            text=text,
            stop=ReplyStop.END_TURN if text == whole else ReplyStop.MAX_TOKENS,
            usage=Usage(
                input_tokens=sum(_tokens(message.content) for message in request.messages),
                output_tokens=_tokens(text),
                llm_calls=1,
            ),
            model=request.model,
        )

    async def connect(self) -> None:
        """Nothing to make ready."""

    async def aclose(self) -> None:
        """There is nothing to free."""


def _answer(request: ModelRequest) -> str:
    conversation = [message for message in request.messages if message.role != "system"]
    asked = next((m.content for m in reversed(conversation) if m.role == "user"), "")
    if len(conversation) == 1:
        if record := _RECORD.search(asked):
            return digest(asked[: record.start()], asked[record.end() :])
        if lines := list(_DIGEST_LINE.finditer(asked)):
            digests = [(line["id"], line["label"], line["digest"]) for line in lines]
            if below := _ROLLUP.search(asked):
                return rollup(asked[: below.start()], digests)
            return json.dumps(integration(digests), ensure_ascii=False)
    return _reply(conversation, asked, _insight(request))


def _reply(conversation: list[ContextMessage], asked: str, insight: str) -> str:
    last = next((i for i in reversed(range(len(conversation))) if conversation[i].role == "user"), 0)
    earlier = [m for m in conversation[:last] if m.role in ("user", "assistant") and m.content.strip()]
    said = [message.content for message in earlier if message.role == "user"]
    if is_chinese(asked):
        parts = [f"【离线模型】这里没有接入真正的模型，以下内容只是摘录。你刚才说：「{short(asked, 60)}」。"]
        parts.append(f"在此之前共有 {len(earlier)} 条消息。" if earlier else "这是我们的第一轮对话。")
        if said:
            parts.append(f"最早谈到「{short(said[0], 30)}」，上一次谈到「{short(said[-1], 30)}」。")
        if insight:
            parts.append(f"我收到的提示是：「{short(insight, 60)}」。")
        return "".join(parts)
    parts = [f'[offline model] No real model is connected; I only quote. You said: "{short(asked, 120)}".']
    parts.append(f"Messages before it: {len(earlier)}." if earlier else "This is our first exchange.")
    if said:
        parts.append(f'It began with "{short(said[0], 60)}"; before this came "{short(said[-1], 60)}".')
    if insight:
        parts.append(f'I was given this insight: "{short(insight, 120)}".')
    return " ".join(parts)


def _insight(request: ModelRequest) -> str:
    return next((m.content for m in request.messages if m.origin is ContextOrigin.INSIGHT), "")


def _cut(text: str, most: int) -> str:
    """The beginning of `text` that takes no more than so many tokens."""
    quarters = 0
    for at, character in enumerate(text):
        quarters += _quarters(character)
        if quarters > 4 * most:
            return text[:at]
    return text


def _tokens(text: str) -> int:
    return -(-sum(map(_quarters, text)) // 4)


def _quarters(character: str) -> int:
    """A token in quarters: a whole one from the CJK radicals on, else about a fourth of one."""
    return 4 if character >= "\u2e80" else 1

"""The `<parent_context>` block: what a fork without its source's messages is told of them."""

import re

from stello_graph.model.context import Conversation
from stello_graph.session.context.text import tagged
from stello_graph.session.context.transcript import transcript_of
from stello_graph.session.summaries import Summariser

__all__ = ["apart", "summarised", "together"]

_TAG = "parent_context"
_BLOCK = re.compile(rf"\s*<{_TAG}>(.*?)</{_TAG}>", re.DOTALL)


def apart(prompt: str | None) -> tuple[str | None, str]:
    """A system prompt without its blocks, None where nothing else is there, and the last one's text."""
    if prompt is None:
        return None, ""
    blocks = _BLOCK.findall(prompt)
    if not blocks:
        return prompt, ""
    rest = _BLOCK.sub("", prompt).rstrip()
    return rest or None, blocks[-1].strip()


def together(prompt: str | None, context: str, of_space: str | None) -> str | None:
    """A system prompt with one block at its end; the Space's prompt where it has none of its own.

    Without a context the prompt is left as it is: None goes on to mean the Space's, also in future.
    """
    if not context:
        return prompt
    base = (of_space or "") if prompt is None else prompt
    return "\n\n".join(part for part in (base.rstrip(), tagged(_TAG, context)) if part)


async def summarised(summariser: Summariser, whole: Conversation, through_seq: int, standing: str) -> str:
    """A summary of the original messages up to `through_seq`, after what the source was told itself.

    Args:
        whole: the source with all its messages, whatever it has compressed of them.
        standing: the text of the source's own block.

    Returns:
        The summary, "" where nothing was ever said.

    Raises:
        ModelError: the model gave none.
    """
    original = whole.model_copy(update={"session": whole.session.model_copy(update={"compression": None})})
    said = [m for m in transcript_of(original, "")[:-1] if m.seq is not None and m.seq <= through_seq]
    return await summariser.summary(standing, said, summariser.limit)

"""Where prompt caching may cut a request. Pure.

The provider caches whole prefixes, in the order tools, system, messages, up to each block that is
marked; four marks at most. Marked are:

1. the first system block (the prompt, and with it the tools): shared by all sessions of a Space;
2. the last system block: shared by the rounds of a turn, and by turns while label, insight and summary
   stand still;
3. the last block before the newest user input: the same in each round of a turn, and found again where
   a round adds more than the 20 blocks which the provider looks back from a mark;
4. the newest block, which the next round or turn goes on from.

Writing to the cache costs a quarter more than reading the tokens plainly, so a lone user message gets no
mark: that is how digests and summaries ask, once.
"""

from typing import Any

__all__ = ["mark_prefixes"]

_MARK = {"type": "ephemeral"}
_UNMARKABLE = ("thinking", "redacted_thinking")


def mark_prefixes(params: dict[str, Any], anchor: dict[str, Any] | None) -> None:
    """Sets the marks. `anchor` is the block of (3), one of those in `params`."""
    system: list[dict[str, Any]] = params.get("system", [])
    if not system and params.get("tools"):
        _mark(params["tools"][-1])
    for block in {id(block): block for block in (*system[:1], *system[-1:])}.values():
        _mark(block)
    messages: list[dict[str, Any]] = params["messages"]
    if len(messages) == 1 and anchor is None:
        return
    if anchor is not None:
        _mark(anchor)
    _mark(messages[-1]["content"][-1])


def _mark(block: dict[str, Any]) -> None:
    if block.get("type") not in _UNMARKABLE:
        block["cache_control"] = dict(_MARK)

"""The index of a Space's shared memory, as each prompt of the Space shows it."""

from collections.abc import Sequence

from stello_graph.model.knowledge import SharedMemoryNote
from stello_graph.session.context.text import one_line, tagged
from stello_graph.session.context.tokens import tokens_of

__all__ = ["HINT", "shared_memory_index"]

HINT = """\
以上是各会话共享的记忆，每行一条。要看全文，用 stello_memory_recall 按 slug 读取。
有值得其他会话知道的事，用 stello_memory_remember 写下；过时的用 stello_memory_forget 删去。"""

_SHARE = 10


def shared_memory_index(notes: Sequence[SharedMemoryNote], max_context_tokens: int) -> str:
    """One line `- slug: summary` for each, between tags, then a hint how to use them; empty for none.

    The lines take a tenth of the window at most. Where they would take more, those that were written longest
    ago lose their summaries, and where even the slugs are too many they are left out: the last line says how
    many.
    """
    if not notes:
        return ""
    lines = _lines(notes, max_context_tokens // _SHARE)
    missing = len(notes) - len(lines)
    if missing:
        lines.append(f"（另有 {missing} 条较早写下的未列出）")
    return f"{tagged('shared_memory_index', chr(10).join(lines))}\n\n{HINT}"


def _lines(notes: Sequence[SharedMemoryNote], budget: int) -> list[str]:
    """The lines that fit into `budget` tokens, in the order of `notes`; the newest written go first."""
    short = [f"- {one_line(note.slug)}" for note in notes]
    newest = sorted(range(len(notes)), key=lambda place: notes[place].updated_at, reverse=True)
    shown: dict[int, str] = {}
    for place in newest:
        budget -= _cost(short[place])
        if budget < 0:
            return [shown[place] for place in sorted(shown)]
        shown[place] = short[place]
    for place in newest:
        summary = one_line(notes[place].summary)
        line = f"{short[place]}: {summary}" if summary else short[place]
        budget -= _cost(line) - _cost(short[place])
        if budget < 0:
            break
        shown[place] = line
    return [shown[place] for place in sorted(shown)]


def _cost(line: str) -> int:
    return tokens_of(line) + 1

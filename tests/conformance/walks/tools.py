"""Tools that do all that tools do."""

import asyncio

from stello_graph.tools import Tool, ToolOutput

__all__ = ["NAMES", "tools"]

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
NAMES = ("look", "picture", "nothing", "fails", "raw", "hangs", "erase", "no_such_tool")


def look(count: int = 1) -> str:
    """Looks."""
    return f"seen {count}"


def picture() -> ToolOutput:
    """Shows."""
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    return ToolOutput(parts=[{"type": "image", "source": source}])


def nothing() -> None:
    """Says nothing."""


def fails() -> str:
    """Fails."""
    raise RuntimeError("out of order")


def raw() -> bytes:
    """Returns what is no text."""
    return b"\xff"


async def hangs() -> str:
    """Never answers."""
    await asyncio.Event().wait()
    return "never"


def erase() -> str:
    """Erases."""
    return "erased"


def tools() -> list[Tool]:
    """All of them; `no_such_tool` is none."""
    plain = [Tool(fn) for fn in (look, picture, nothing, fails, raw, hangs)]
    return [*plain, Tool(erase, needs_confirmation=True)]

"""The module that `stello-graph serve --tools` loads in these tests."""

import asyncio

from stello_graph import Tool
from stello_graph.errors import InvalidInput
from stello_graph.tools import ToolOutput

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def picture() -> ToolOutput:
    """Shows a picture."""
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    return ToolOutput(content="Here it is.", parts=[{"type": "image", "source": source}])


def fails() -> str:
    """Fails."""
    raise InvalidInput("out of order")


async def stuck() -> str:
    """Does not come back."""
    await asyncio.Event().wait()
    return "never"


def erase() -> str:
    """Erases."""
    return "erased"


TOOLS = [Tool(picture), Tool(stuck), Tool(erase, needs_confirmation=True), Tool(fails)]
show, hang, wipe, crash = TOOLS

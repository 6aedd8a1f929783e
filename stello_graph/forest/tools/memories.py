"""The model reads and writes the memory that the sessions of a Space share."""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field

from stello_graph.errors import NotFound
from stello_graph.forest.knowledge import delete_shared_memory, put_shared_memory
from stello_graph.forest.tools.own import OwnTool
from stello_graph.forest.tools.port import CallContext, ServerTool
from stello_graph.model.context import Conversation
from stello_graph.model.knowledge_checks import check_name

__all__ = ["memory_tools"]

Slug = Annotated[str, Field(description="The short name that the memory is listed under.")]
Summary = Annotated[str, Field(description="One line that tells others what the memory holds.")]
Body = Annotated[str, Field(description="All of it.")]


async def recall(call: CallContext, slug: Slug) -> str:
    """Reads a shared memory whole; the index in your instructions lists them."""
    name = check_name(slug, "slug")
    found = await call.store.shared_memory(name)
    if found is None:
        raise NotFound.of("shared memory", name)
    return found.body


async def remember(call: CallContext, slug: Slug, summary: Summary, body: Body) -> str:
    """Writes a memory that all conversations of this space share; one of the same slug is replaced.

    Keep what others will need: facts, decisions, preferences. Not the course of this conversation.
    """
    kept = await put_shared_memory(call.store, slug, summary, body)
    return f"Remembered as {kept.slug}."


async def forget(call: CallContext, slug: Slug) -> str:
    """Takes a shared memory away that no longer holds."""
    await delete_shared_memory(call.store, slug)
    return f"{slug.strip()} is forgotten."


def memory_tools() -> list[ServerTool]:
    """`stello_memory_recall`, `…_remember` and `…_forget`, offered where the Space shares memory."""
    functions: dict[str, Callable[..., Any]] = {"recall": recall, "remember": remember, "forget": forget}
    return [OwnTool(f"stello_memory_{name}", function, _shares) for name, function in functions.items()]


def _shares(conversation: Conversation) -> bool:
    return conversation.config.shared_memory

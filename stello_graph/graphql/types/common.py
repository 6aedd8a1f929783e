"""Types that several others hold."""

from typing import Any

import strawberry

from stello_graph.graphql.connections import Connection
from stello_graph.graphql.scalars import JSON, Long

__all__ = ["PageInfo", "ToolCall", "Usage", "total_count"]


@strawberry.type(description="Tokens as the provider counts them, and model calls.")
class Usage:
    """See `model.values.Usage`."""

    input_tokens: Long
    output_tokens: Long
    cache_read_tokens: Long
    cache_write_tokens: Long
    llm_calls: Long


@strawberry.type
class ToolCall:
    """See `model.message.ToolCall`."""

    id: str
    name: str
    arguments: JSON


@strawberry.type
class PageInfo:
    """Where a page lies. Cursors are opaque."""

    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


async def total_count(page: strawberry.Parent[Connection[Any]]) -> int:
    """How many there are in all; counted only where it is asked for."""
    return 0 if page.count is None else await page.count()

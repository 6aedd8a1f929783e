"""Search in a Space: what may be asked, and how it is answered."""

import asyncio
from collections.abc import Sequence

from stello_graph.errors import InvalidInput
from stello_graph.forest.snippets import snippet
from stello_graph.model.checks import check_page, check_text
from stello_graph.model.message import MessageRole
from stello_graph.model.search import MAX_QUERY, SearchHit, SearchMatch, SearchQuery, SearchScope, parse_query
from stello_graph.model.thinking import without_thinking
from stello_graph.ports import SpaceStore

__all__ = ["search"]


async def search(
    store: SpaceStore, query: str, scopes: Sequence[SearchScope], root_id: str | None, first: int
) -> list[SearchHit]:
    """What is found in labels, digests and messages, best first.

    Raises:
        InvalidInput: `query` holds nothing that can be searched for, more than 1,000 characters or more than
            8 beginnings, or `scopes` is empty.
    """
    asked = parse_query(query)
    check_text(query, "query", 4 * MAX_QUERY)
    if not scopes:
        raise InvalidInput("in names one scope at least")
    found = await store.search(asked, set(scopes), root_id=root_id, first=check_page(first))
    return await asyncio.to_thread(_hits, found, asked)


def _hits(found: Sequence[SearchMatch], query: SearchQuery) -> list[SearchHit]:
    return [
        SearchHit(
            scope=match.scope,
            session_id=match.session_id,
            message=match.message,
            snippet=snippet(_text(match), query),
            score=match.score,
        )
        for match in found
    ]


def _text(match: SearchMatch) -> str:
    """What of a match can be seen."""
    if match.message is None:
        return match.text or ""
    content = match.message.content
    return without_thinking(content) if match.message.role is MessageRole.ASSISTANT else content

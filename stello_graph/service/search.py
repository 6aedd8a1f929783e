"""Search."""

from collections.abc import Sequence

from stello_graph.forest.search import search
from stello_graph.model.search import SearchHit, SearchScope
from stello_graph.ports import SpaceStore

__all__ = ["SearchService"]


class SearchService:
    """The part of a SpaceService that finds things."""

    store: SpaceStore

    async def search(
        self,
        query: str,
        scopes: Sequence[SearchScope] = tuple(SearchScope),
        root_id: str | None = None,
        first: int = 20,
    ) -> list[SearchHit]:
        """What labels, digests and messages hold, best first; `root_id` limits it to one tree."""
        return await search(self.store, query, scopes, root_id, first)

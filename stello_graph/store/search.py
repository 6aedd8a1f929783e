"""Search, and giving terms to what was stored before there were any."""

from collections.abc import Collection

from stello_graph.ids import new_id
from stello_graph.model.search import SearchMatch, SearchQuery, SearchScope
from stello_graph.store import rows
from stello_graph.store.engine import Engine, Row
from stello_graph.store.indexing import expression, label_terms, memory_terms, message_terms
from stello_graph.store.queries import named
from stello_graph.store.repository import Repository

__all__ = ["SearchRepository", "index_backlog"]

FIND = named("search/find")
BACKLOG = named("search/backlog")
INDEX = named("search/index")

# How many texts of a scope are ranked at most; of one tree more, since those of others are sorted out later.
_CANDIDATES = 10_000
_CANDIDATES_OF_A_TREE = 100_000


class SearchRepository(Repository):
    """See SpaceStore."""

    async def search(
        self, query: SearchQuery, scopes: Collection[SearchScope], *, root_id: str | None, first: int
    ) -> list[SearchMatch]:
        """See SpaceStore."""
        asked = {
            scope.lower(): expression(self._space_id, scope, query) if scope in scopes else None
            for scope in SearchScope
        }
        found = await self._engine.read(
            FIND,
            prefix=self._key(""),
            exact=label_terms(self._space_id, query.text),
            rootId=root_id,
            candidates=_CANDIDATES if root_id is None else _CANDIDATES_OF_A_TREE,
            first=first,
            **asked,
        )
        return [_match(row) for row in found]


async def index_backlog(engine: Engine, first: int) -> int:
    """Gives terms to some of what waits for them, of whatever Space; answers how many.

    Any number of processes may do so at once.
    """
    waiting = await engine.read(BACKLOG, first=first)
    if not waiting:
        return 0
    sessions = {row["key"]: _session_terms(row) for row in waiting if row["kind"] == "SESSION"}
    messages = [_message_terms(row) for row in waiting if row["kind"] == "MESSAGE"]
    found = await engine.write(
        INDEX, op=new_id(), keys=sorted(sessions), sessions=sessions, messages=sorted(messages, key=_key)
    )
    return int(found[0]["count"])


def _match(row: Row) -> SearchMatch:
    message = None if row["message"] is None else rows.message(row["message"])
    return SearchMatch.model_validate(row | {"message": message})


def _session_terms(row: Row) -> Row:
    space_id, memory = _space_id(row), row["memory"]
    return {
        "labelTerms": label_terms(space_id, row["label"] or ""),
        "memoryTerms": None if memory is None else memory_terms(space_id, memory),
    }


def _message_terms(row: Row) -> Row:
    return {
        "key": row["key"],
        "terms": message_terms(_space_id(row), row["role"] or "", row["content"] or ""),
    }


def _space_id(row: Row) -> str:
    return _key(row).partition("/")[0]


def _key(row: Row) -> str:
    return str(row["key"])

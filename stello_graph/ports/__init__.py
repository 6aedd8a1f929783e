"""What the core asks of the outside: a model, and storage by consumer.

`SessionStore` is one Space seen from single sessions; `SpaceStore` adds what only orchestration
may know: topology, digests, listing, what goes across sessions (`MemoryStore`), and what a Space holds
beside its sessions (`KnowledgeStore`).
`Store` opens Spaces and holds what belongs to none.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from typing import Any, Protocol

from stello_graph.model.context import Conversation, ModelRequest, Reply, TextChunk
from stello_graph.model.memory import DueTask
from stello_graph.model.message import Draft, Message, MessagePage, MessageRole
from stello_graph.model.parts import Only
from stello_graph.model.search import SearchMatch, SearchQuery, SearchScope
from stello_graph.model.session import Session, SessionWithMessages
from stello_graph.model.space import Space
from stello_graph.model.turn import Turn, TurnStatus
from stello_graph.model.values import SessionStatus, StoreState, Usage
from stello_graph.model.writes import (
    CompressionDraft,
    DigestPage,
    ForkDraft,
    ForkSource,
    Idempotency,
    ImportDraft,
    PlacedDraft,
    SessionDraft,
    SessionFilter,
    StoredTranscript,
)
from stello_graph.ports.access import KeyStore, SpacesStore
from stello_graph.ports.copies import CopyStore
from stello_graph.ports.events import EventSource, EventStore
from stello_graph.ports.knowledge import KnowledgeStore
from stello_graph.ports.memory import MemoryStore, OwnMemoryStore
from stello_graph.ports.topology import TopologyStore
from stello_graph.ports.turns import TurnStore

__all__ = [
    "LLM",
    "CopyStore",
    "EventSource",
    "EventStore",
    "KeyStore",
    "KnowledgeStore",
    "MemoryStore",
    "OwnMemoryStore",
    "SessionStore",
    "SpaceStore",
    "SpacesStore",
    "Store",
    "TopologyStore",
    "TurnStore",
]


class LLM(Protocol):
    """A model provider."""

    @property
    def default_model(self) -> str:
        """The model that is asked where nobody names another."""
        ...

    @property
    def is_offline(self) -> bool:
        """Whether this is the built-in model that only pretends."""
        ...

    async def connect(self) -> object:
        """Makes ready ahead of the first request what takes a while; may be called again."""
        ...

    def window(self, model: str) -> int | None:
        """The context window of `model` in tokens, None where it is not known."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[TextChunk | Reply, None]:
        """Asks once: chunks of text as they come, then exactly one Reply.

        Raises:
            ModelUnavailable: no answer, an overload, or a stream that broke off. Retryable.
            ModelRateLimited: `details["retryAfter"]` has the seconds where the provider said so.
            ModelRefused: wrong key, unknown model, a request that the provider calls illegal.
            ContextTooLong: the request is beyond the window.
        """
        ...

    async def aclose(self) -> None:
        """Frees the connections."""
        ...


class SessionStore(TurnStore, OwnMemoryStore, Protocol):
    """One Space, seen from single sessions: transcript, turns, memory.

    A session or turn that does not exist in the Space raises NotFound; writes to an archived
    session raise SessionArchived. Each write is one transaction.
    """

    @property
    def space_id(self) -> str:
        """The tenant that every query names."""
        ...

    async def conversation(self, session_id: str) -> Conversation:
        """What compiling needs: the transcript from after the compression on."""
        ...

    async def whole_conversation(self, session_id: str) -> Conversation:
        """As `conversation`, with the whole transcript."""
        ...

    async def newest_messages(
        self,
        session_ids: Sequence[str],
        *,
        after: int,
        before: int,
        first: int,
        roles: Sequence[MessageRole] | None,
        only: Only | None = None,
    ) -> dict[str, list[Message]]:
        """By session, the newest `first` messages with after < seq < before, oldest first.

        Args:
            only: fields; messages of these alone are read and given.
        """
        ...

    async def oldest_messages(
        self,
        session_ids: Sequence[str],
        *,
        after: int,
        before: int,
        first: int,
        roles: Sequence[MessageRole] | None,
        only: Only | None = None,
    ) -> dict[str, list[Message]]:
        """By session, the oldest `first` messages with after < seq < before, oldest first."""
        ...

    async def count_messages(
        self, session_ids: Sequence[str], roles: Sequence[MessageRole]
    ) -> dict[str, int]:
        """By session, how many messages have one of the roles."""
        ...

    async def append(
        self,
        session_id: str,
        messages: Sequence[Draft],
        *,
        idempotency: Idempotency | None = None,
        expected_seq: int | None = None,
        turns: int = 0,
    ) -> tuple[int, int]:
        """Stores messages at the end; answers the places of the first and the last.

        Raises:
            SessionBusy: a turn holds the session.
            Conflict: the transcript does not end before `expected_seq`, or a reused idempotency key.
        """
        ...

    async def trim(self, session_id: str, keep_last: int) -> Session:
        """Keeps the newest messages, whole tool groups only. Raises SessionBusy."""
        ...

    async def store_compression(
        self, session_id: str, draft: CompressionDraft, *, usage: Usage, turn: Turn | None = None
    ) -> Session:
        """Writes what compressing gave; the turn that does so is named, and may be of an archived session.

        Raises:
            Conflict: another summary stands by now, what this one covers was trimmed away, or `turn`
                does not hold the session any more.
            SessionBusy: a turn holds the session, and none is named.
        """
        ...

    async def count_usage(self, session_id: str, usage: Usage) -> None:
        """Counts for session and Space what a model took whose work was not stored."""
        ...


class SpaceStore(SessionStore, TopologyStore, EventStore, MemoryStore, KnowledgeStore, CopyStore, Protocol):
    """One Space, whole: topology, digests, listing, and what it holds beside its sessions."""

    async def space(self) -> Space:
        """The Space itself."""
        ...

    async def configure(self, space: Space) -> Space | None:
        """Writes name and configuration; None where they were changed since `space.revision`."""
        ...

    async def create_session(self, draft: SessionDraft, idempotency: Idempotency | None) -> Session:
        """Creates a root or an empty child.

        Raises:
            Conflict: the id is taken, or a reused idempotency key.
            NotFound: the parent. SessionArchived: it is archived.
        """
        ...

    async def fork_source(
        self,
        session_id: str,
        through_seq: int | None,
        *,
        profile: str | None = None,
        idempotency: Idempotency | None = None,
    ) -> ForkSource:
        """What a fork needs to know; `through_seq` None means the newest message.

        Raises:
            Conflict: a reused idempotency key.
        """
        ...

    async def fork(self, draft: ForkDraft, idempotency: Idempotency | None) -> Session:
        """Creates a fork, and remembers of the source how many turns it had.

        Raises as `create_session`, and:
            Conflict: the cut was trimmed away.
            ForkRefused: the draft's guard, `details["missingTurns"]`.
        """
        ...

    async def sessions(self, ids: Sequence[str]) -> dict[str, Session]:
        """The sessions that exist, by id."""
        ...

    async def sessions_with_newest(
        self, ids: Sequence[str], page: MessagePage
    ) -> dict[str, SessionWithMessages]:
        """The sessions that exist, by id, each with a page from its newest end."""
        ...

    async def list_sessions(self, which: SessionFilter, *, after: str, first: int) -> list[Session]:
        """A page of sessions, by id, from after id `after`."""
        ...

    async def count_sessions(self, which: SessionFilter) -> int:
        """How many sessions fit."""
        ...

    async def update_session(self, session_id: str, changes: dict[str, Any]) -> Session:
        """Sets fields by the name of the stored property; None clears."""
        ...

    async def set_status(self, session_id: str, status: SessionStatus) -> tuple[Session, bool]:
        """Archives or unarchives; answers whether it had another status before."""
        ...

    async def open_turns_below(self, session_id: str) -> tuple[int, list[str]]:
        """How many sessions a subtree has, and the ids of the turns that hold some of them."""
        ...

    async def delete_session(self, session_id: str, expected_count: int, limit: int) -> list[str]:
        """Deletes a subtree; answers its ids, the root first.

        Raises:
            Conflict: it has another number of sessions: `details["count"]`.
            LimitExceeded: more than `limit`.
        """
        ...

    async def enter(self, session_id: str, holder: str) -> tuple[Session, str | None]:
        """The session entered, and the id of the one that the holder left by it."""
        ...

    async def leave(self, session_id: str, holder: str) -> tuple[Session, bool]:
        """Answers whether the holder was in the session; nothing happens where it was not."""
        ...

    async def turns_by_status(self, status: TurnStatus, *, first: int) -> list[Turn]:
        """The newest turns of the whole Space with that status, newest first."""
        ...

    async def digests(
        self,
        which: SessionFilter,
        *,
        changed_after: int,
        after: str,
        first: int,
        only: Only | None = None,
    ) -> DigestPage:
        """A page of digests, by id, from after id `after`.

        Args:
            only: fields; digests of these alone are read and given.
        """
        ...

    async def search(
        self, query: SearchQuery, scopes: Collection[SearchScope], *, root_id: str | None, first: int
    ) -> list[SearchMatch]:
        """What is found in labels, digests and messages, best first; `root_id` limits it to one tree.

        A message that sessions share is found once: for the one that it was written in, where that is
        there and has it, else for the oldest that has it.
        """
        ...

    async def stored_transcripts(
        self, conversation_ids: Sequence[str]
    ) -> dict[str, dict[str, StoredTranscript]]:
        """What is there of each imported conversation: the session of that id, and those of `id:…`."""
        ...

    async def import_session(self, draft: ImportDraft) -> bool:
        """Creates an imported session; False where its id is taken."""
        ...

    async def import_sessions(
        self, drafts: Sequence[PlacedDraft], after: Awaitable[object] | None = None
    ) -> bool:
        """Creates some hundreds of sessions, all or none; False where an id is taken.

        Args:
            after: waited for in any case, when all is prepared and nothing is written yet.

        Raises:
            NotFound: a parent; it is there before its children are asked for.
            Exception: what `after` raised.
        """
        ...


class Store(SpacesStore, KeyStore, EventSource, Protocol):
    """The database: Spaces, the keys to them, and what belongs to none."""

    def in_space(self, space_id: str) -> SpaceStore:
        """The store of one tenant."""
        ...

    async def expired_turns(self, first: int) -> list[tuple[str, str]]:
        """(Space id, turn id) of open turns whose lease ran out."""
        ...

    async def due_tasks(self, first: int) -> list[DueTask]:
        """Tasks of all Spaces that are due, the longest due first."""
        ...

    async def index_backlog(self, first: int) -> int:
        """Makes some of what was stored before there was search findable; answers how many, 0 at the end."""
        ...

    def on_due(self, ring: Callable[[], None]) -> None:
        """Calls `ring` after each write through this store that made a task due."""
        ...

    async def state(self) -> StoreState:
        """The store's clock, and what its schema lacks; the migrations were applied."""
        ...

    async def ping(self) -> str:
        """A round trip; answers what database this is. Raises StoreUnavailable."""
        ...

    async def migrate(self) -> list[str]:
        """Brings the schema up to date; the names of what was applied."""
        ...

    async def pending_migrations(self) -> list[str]:
        """The names of what is not applied yet."""
        ...

    async def aclose(self) -> None:
        """Waits for what runs, then frees connections."""
        ...

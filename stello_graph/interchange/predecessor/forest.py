"""The sessions of a store as they are to be stored here, each after its parent."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from stello_graph.errors import InvalidInput
from stello_graph.ids import check_id
from stello_graph.interchange.conversations import CHARACTERS, FAULT, Malformed
from stello_graph.interchange.names import derived, name_of
from stello_graph.interchange.nodes import Node, hang, in_order
from stello_graph.interchange.plan import Repaired, Skipped
from stello_graph.interchange.predecessor.store import FileStore, Records
from stello_graph.interchange.predecessor.transcript import Transcript
from stello_graph.interchange.reading import LARGE, UNFIT
from stello_graph.interchange.text import Cleaner, Unfit, label_of
from stello_graph.interchange.times import micros
from stello_graph.model.message import turns_of
from stello_graph.model.values import SessionRole, SessionStatus
from stello_graph.model.writes import ImportDraft

__all__ = ["MAX_TEXT", "NO_PARENT", "NO_REF", "NO_SOURCE", "Forest", "StoredSession"]

logger = logging.getLogger(__name__)

NO_META = "its meta.json is no object"
WITHOUT_META = "it has no meta.json: what it said or remembers is left out"
NO_CONFIG = "config.json: it is no object"
NO_PARENT = "its parent is not in the store: it becomes a root"
NO_SOURCE = "the session that it was forked from is not in the store: that is left out"
NO_REF = "a session that it refers to is not in the store: that is left out"
CIRCLE = "its parents form a circle: it becomes a root"
CUT = "its prompt, digest, synthesis or insight is longer than one may be: it is cut"
MANY = "it has more tags or skills than a session may have: the first 100 are kept"

MAIN = "main"
MAX_NAMES = 100
MAX_TEXT = 1 << 20

T = TypeVar("T")
_Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session of the store.

    Attributes:
        draft: as it is to be stored.
        refs: ids of those that it refers to.
        skipped, repaired, hidden: as of an imported conversation.
    """

    draft: ImportDraft
    refs: tuple[str, ...]
    skipped: tuple[Skipped, ...]
    repaired: tuple[Repaired, ...]
    hidden: int


class Forest:
    """The shape of a store; its sessions are read one by one.

    Attributes:
        skipped: what is no session.
    """

    def __init__(self, store: FileStore, max_text: int = MAX_TEXT) -> None:
        """Reads the shape alone. `max_text` is how many bytes of UTF-8 a prompt or a digest may have."""
        self.skipped = [Skipped(where=_where(id), why=WITHOUT_META) for id in store.without_meta()]
        self._store = store
        self._max_text = max_text
        self._metas = dict(self._read_metas())
        self._nodes = self._linked()
        roots = [node for node in self._nodes if node.parent is None and node.remark is None]
        is_oldest = len(roots) == 1 and "scope" in self._metas[roots[0].key]
        self._main = roots[0].key if is_oldest else MAIN

    def __len__(self) -> int:
        """How many sessions there are."""
        return len(self._nodes)

    def sessions(self) -> Iterator[StoredSession | Skipped]:
        """All of them, parents before children. None spoils another one."""
        for node in self._nodes:
            is_main = node.key == self._main and node.parent is None
            try:
                yield _Reading(self._store, self._metas, node, self._max_text, is_main=is_main).session()
            except Exception:
                logger.exception("reading a session of a store failed")
                yield Skipped(where=_where(node.key), why=FAULT)

    def _read_metas(self) -> Iterator[tuple[str, _Json]]:
        for id in self._store.session_ids():
            where = _where(id)
            try:
                meta = self._store.meta(id)
            except Malformed as error:
                self.skipped.append(Skipped(where=where, why=str(error)))
                continue
            if isinstance(meta, dict):
                yield id, meta
            else:
                self.skipped.append(Skipped(where=where, why=NO_META))

    def _linked(self) -> list[Node]:
        nodes = {
            id: Node(id, own_id(id), meta, place, micros(meta.get("createdAt")))
            for place, (id, meta) in enumerate(self._metas.items())
        }
        for node in nodes.values():
            named = node.message.get("parentId")
            if isinstance(named, str) and named:
                node.parent = nodes.get(named)
                if node.parent is None:
                    node.detach(NO_PARENT)
        hang(nodes.values())
        for node in nodes.values():
            listed = node.message.get("children")
            ids = listed if isinstance(listed, list) else []
            places = {id: place for place, id in enumerate(ids) if isinstance(id, str)}
            node.children.sort(key=lambda child: (places.get(child.key, len(ids)), _age(child)))
        return in_order(sorted(nodes.values(), key=_age))


class _Reading:
    """One session on its way from its files to a draft."""

    def __init__(
        self, store: FileStore, metas: dict[str, _Json], node: Node, max_text: int, *, is_main: bool
    ) -> None:
        self._store = store
        self._metas = metas
        self._node = node
        self._meta: _Json = node.message
        self._max_text = max_text
        self._is_main = is_main
        self._where = _where(node.key)
        self._cleaner = Cleaner()
        self._skipped: list[Skipped] = []
        self._repaired: list[Repaired] = []

    def session(self) -> StoredSession:
        """The session with what was wrong with it."""
        if self._node.remark:
            self._repair(CIRCLE if self._node.remark != NO_PARENT else NO_PARENT)
        records = self._part(self._store.records) or Records([], [])
        transcript = Transcript(self._node.key, records.records, self._cleaner)
        for skipped in (*records.skipped, *transcript.skipped):
            self._skipped.append(skipped.inside(self._where))
        draft = self._draft(transcript)
        refs = tuple(self._refs())
        if self._cleaner.replaced:
            self._repair(CHARACTERS)
        return StoredSession(draft, refs, tuple(self._skipped), tuple(self._repaired), transcript.hidden)

    def _draft(self, transcript: Transcript) -> ImportDraft:
        memory, messages = self._text(self._part(self._store.memory)), tuple(transcript.messages)
        config = self._config()
        prompt = self._text(self._part(self._store.system_prompt)) or self._text(config.get("systemPrompt"))
        return ImportDraft(
            id=self._node.name,
            parent_id=self._node.parent.name if self._node.parent else None,
            source_id=self._source(),
            label=label_of(self._meta.get("label"), "Session"),
            role=SessionRole.MAIN if self._is_main else SessionRole.STANDARD,
            status=_status(self._meta),
            system_prompt=prompt,
            skills=self._names(config["skills"]) if isinstance(config.get("skills"), list) else None,
            tags=self._names(self._meta.get("tags")),
            metadata=self._metadata(),
            memory=None if self._is_main else memory,
            synthesis=memory if self._is_main else None,
            insight=self._text(self._part(self._store.insight)),
            turn_count=turns_of(messages),
            messages=messages,
            created_at=micros(self._meta.get("createdAt")),
            updated_at=micros(self._meta.get("updatedAt")),
            last_active_at=micros(self._meta.get("lastActiveAt")),
        )

    def _config(self) -> _Json:
        config = self._part(self._store.config)
        if config is not None and not isinstance(config, dict):
            self._skipped.append(Skipped(where=self._where, why=NO_CONFIG))
        return config if isinstance(config, dict) else {}

    def _source(self) -> str | None:
        """A fork of the oldest generation has its source in its metadata."""
        named = self._meta.get("sourceSessionId") or self._kept().get("sourceSessionId")
        if not isinstance(named, str) or not named:
            return None
        if named not in self._metas:
            self._repair(NO_SOURCE)
            return None
        return own_id(named)

    def _kept(self) -> _Json:
        kept = self._meta.get("metadata")
        return kept if isinstance(kept, dict) else {}

    def _refs(self) -> Iterator[str]:
        refs = self._meta.get("refs")
        named = [ref for ref in refs if isinstance(ref, str)] if isinstance(refs, list) else []
        for ref in dict.fromkeys(named):
            if ref in self._metas:
                yield own_id(ref)
            else:
                self._repair(NO_REF)

    def _metadata(self) -> Any:
        told = {
            "metadata": {key: each for key, each in self._kept().items() if key != "sourceSessionId"},
            "scope": self._meta.get("scope") or self._part(self._store.scope),
            "index": self._part(self._store.index),
        }
        try:
            metadata = self._cleaner.value({"stello": {key: each for key, each in told.items() if each}})
        except Unfit:
            self._repair(UNFIT)
            return None
        if not metadata["stello"]:
            return None
        if len(orjson.dumps(metadata)) > self._max_text:
            self._repair(LARGE)
            return None
        return metadata

    def _part(self, read: Callable[[str], T]) -> T | None:
        """What a file of the session says; where it is broken, that is told and the rest is read."""
        try:
            return read(self._node.key)
        except Malformed as error:
            self._skipped.append(Skipped(where=self._where, why=str(error)))
            return None

    def _text(self, value: Any) -> str | None:
        if not isinstance(value, str) or not value.strip():
            return None
        text = self._cleaner.text(value)
        encoded = text.encode()
        if len(encoded) <= self._max_text:
            return text
        self._repair(CUT)
        return encoded[: self._max_text].decode(errors="ignore")

    def _names(self, value: Any) -> tuple[str, ...]:
        named = [label_of(each) for each in value] if isinstance(value, list) else []
        names = tuple(dict.fromkeys(name for name in named if name))
        if len(names) > MAX_NAMES:
            self._repair(MANY)
        return names[:MAX_NAMES]

    def _repair(self, why: str) -> None:
        self._repaired.append(Repaired(where=self._where, why=why))


def own_id(id: str) -> str:
    """A session's id here: the same, unless it could not be one."""
    try:
        return check_id(id)
    except InvalidInput:
        return derived("stello", name_of(id))


def _status(meta: _Json) -> SessionStatus:
    return SessionStatus.ARCHIVED if meta.get("status") == "archived" else SessionStatus.ACTIVE


def _age(node: Node) -> tuple[float, int, str]:
    index = node.message.get("index")
    return node.created_at or 0, index if isinstance(index, int) else 0, node.key


def _where(id: str) -> str:
    return f"session {label_of(id[:60])}"

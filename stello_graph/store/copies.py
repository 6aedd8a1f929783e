"""Everything that a Space holds, out and in again."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from stello_graph.errors import NotFound
from stello_graph.ids import new_id
from stello_graph.model.copies import MessageCopy, RefDraft, RestoreDraft, SessionCopy
from stello_graph.model.knowledge import Record, SharedMemory, Skill
from stello_graph.model.profile import ForkProfile
from stello_graph.model.space import Space
from stello_graph.model.topology import TopologyEventType
from stello_graph.store import rows
from stello_graph.store.copied import place_row, session_copy, session_row, turn_row
from stello_graph.store.engine import Row
from stello_graph.store.queries import named
from stello_graph.store.repository import Repository

__all__ = ["CopyRepository"]

IDS = named("exports/ids")
SESSIONS = named("exports/sessions")
MESSAGES = named("exports/messages")
WRITTEN = named("imports/messages")
TURNS = named("imports/turns")
SPACE = named("imports/space")
BESIDE = named("imports/beside")
COPIES = named("imports/copies")


class CopyRepository(Repository):
    """See SpaceStore."""

    async def session_ids(self, *, after: str, first: int) -> list[str]:
        """See SpaceStore."""
        found = await self._engine.read(IDS, prefix=self._key(""), after=self._key(after), first=first)
        return [row["id"] for row in found]

    async def session_copies(self, ids: Sequence[str]) -> list[SessionCopy]:
        """See SpaceStore."""
        found = await self._engine.read(SESSIONS, keys=[self._key(id) for id in ids])
        copies = {copy.id: copy for copy in rows.whole(session_copy, found)}
        return [copies[id] for id in ids if id in copies]

    async def message_copies(
        self, session_ids: Sequence[str], *, after: int, before: int, first: int
    ) -> dict[str, list[MessageCopy]]:
        """See SpaceStore."""
        keys = [self._key(id) for id in session_ids]
        found = await self._engine.read(MESSAGES, keys=keys, after=after, before=before, first=first)
        return {self._id(row["key"]): rows.whole(rows.message_copy, row["messages"]) for row in found}

    async def written_messages(self, ids: Sequence[str]) -> dict[str, tuple[str, int]]:
        """See SpaceStore."""
        found = await self._engine.read(WRITTEN, keys=[self._key(id) for id in ids])
        return {row["id"]: (row["sessionId"], row["createdAt"]) for row in found}

    async def taken_turns(self, ids: Sequence[str]) -> dict[str, str]:
        """See SpaceStore."""
        found = await self._engine.read(TURNS, keys=[self._key(id) for id in ids])
        return {row["id"]: row["sessionId"] for row in found}

    async def restore_space(self, space: Space) -> bool:
        """See SpaceStore."""
        found = await self._engine.write(
            SPACE,
            id=self._space_id,
            op=new_id(),
            name=space.name,
            strategy=space.config.strategy,
            sharedMemory=space.config.shared_memory,
            config=rows.space_document(space.model_copy(update={"revision": 0})),
            usage=space.usage.model_dump(by_alias=True),
            createdAt=space.created_at,
            **rows.triggers(space.config),
        )
        return self._outcome(found) != "USED"

    async def restore_beside(
        self,
        *,
        records: Sequence[Record] = (),
        shared_memories: Sequence[SharedMemory] = (),
        skills: Sequence[Skill] = (),
        profiles: Sequence[ForkProfile] = (),
    ) -> None:
        """See SpaceStore."""
        found = await self._engine.write(
            BESIDE,
            space=self._space_id,
            op=new_id(),
            records=[
                self._target(one.key)
                | {"value": rows.to_json(one.value), "revision": one.revision, "updatedAt": one.updated_at}
                for one in records
            ],
            sharedMemories=[
                self._target(one.slug)
                | {"summary": one.summary, "body": one.body, "updatedAt": one.updated_at}
                for one in shared_memories
            ],
            skills=[
                self._target(one.name) | {"description": one.description, "content": one.content}
                for one in skills
            ],
            profiles=[self._target(one.name) | rows.profile_properties(one) for one in profiles],
        )
        self._outcome(found)

    async def restore_sessions(self, drafts: Sequence[RestoreDraft], refs: Sequence[RefDraft]) -> bool:
        """See SpaceStore."""
        made = {draft.session.id for draft in drafts}
        given = await asyncio.to_thread(self._made_of, drafts)
        parents = {id: tally for id, tally in self._tallies(drafts).items() if id is not None}
        shared = {one.message_id for draft in drafts for one in draft.places if one.message is None}
        linked = {id for ref in refs for id in (ref.from_id, ref.to_id)} - made
        found = await self._write_or_race(
            COPIES,
            space=self._space_id,
            op=new_id(),
            eventKey=given[0][0]["eventKey"],
            keys=[self._key(id) for id in sorted(made)],
            parents=[{"key": self._key(id), **parents[id]} for id in sorted(parents)],
            roots=self._tallies(drafts).get(None, {"first": 0, "last": -1, "children": 0}),
            nodes=[self._key(id) for id in sorted(linked | parents.keys())],
            shared=[self._key(id) for id in sorted(shared)],
            sessions=[session for session, _ in given],
            transcripts=[transcript for _, transcript in given],
            refs=[self._ref(ref) for ref in refs],
        )
        return self._outcome(found) not in ("TAKEN", "GONE", "RACE")

    def _made_of(self, drafts: Sequence[RestoreDraft]) -> list[tuple[Row, Row]]:
        """The properties of each session, and of what its transcript holds."""
        tallies = self._tallies(drafts)
        order = {id: place for place, id in enumerate(sorted(id for id in tallies if id is not None))}
        return [
            (
                self._properties_of(draft.session, order, tallies[draft.session.parent_id]["first"]),
                {
                    "key": self._key(draft.session.id),
                    "places": [place_row(self._space_id, one) for one in draft.places],
                    "turns": [turn_row(self._space_id, turn) for turn in draft.turns],
                },
            )
            for draft in drafts
        ]

    def _properties_of(self, copy: SessionCopy, order: dict[str, int], first: int) -> Row:
        return {
            "key": self._key(copy.id),
            "parentKey": None if copy.parent_id is None else self._key(copy.parent_id),
            "parentPlace": order.get(copy.parent_id or ""),
            "index": copy.index,
            "first": first,
            "sourceSessionId": copy.source_session_id,
            "sourceSeq": copy.source_seq,
            "session": session_row(self._space_id, copy),
            "eventKey": self._key(new_id()),
            "type": _event_type(copy),
            "data": rows.to_json(_event_data(copy)),
        }

    def _ref(self, ref: RefDraft) -> Row:
        return {
            "fromKey": self._key(ref.from_id),
            "fromId": ref.from_id,
            "toKey": self._key(ref.to_id),
            "at": ref.at,
            "seq": ref.order,
            "eventKey": self._key(new_id()),
            "data": rows.to_json({"toId": ref.to_id}),
        }

    def _tallies(self, drafts: Sequence[RestoreDraft]) -> dict[str | None, dict[str, int]]:
        """By parent, the first and the last place that its new children ask for, and how many they are."""
        places = defaultdict(list)
        for draft in drafts:
            places[draft.session.parent_id].append(draft.session.index)
        return {
            id: {"first": min(found), "last": max(found), "children": len(found)}
            for id, found in places.items()
        }

    def _outcome(self, found: list[Row]) -> str:
        if not found:
            raise NotFound.of("space", self._space_id)
        return str(found[0]["outcome"])


def _event_type(copy: SessionCopy) -> TopologyEventType:
    forked = copy.source_session_id is not None
    return TopologyEventType.SESSION_FORKED if forked else TopologyEventType.SESSION_CREATED


def _event_data(copy: SessionCopy) -> Row:
    told = {"parentId": copy.parent_id, "label": copy.label, "imported": True}
    if copy.source_session_id is None:
        return told
    return told | {"sourceSessionId": copy.source_session_id, "sourceSeq": copy.source_seq}

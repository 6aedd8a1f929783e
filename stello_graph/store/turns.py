"""Turns and their leases."""

from collections.abc import Sequence

from stello_graph.errors import Conflict, NotFound, TurnHasEnded
from stello_graph.ids import new_id
from stello_graph.model.message import Draft, Message, ToolCall
from stello_graph.model.turn import Turn, TurnStatus
from stello_graph.model.values import Usage
from stello_graph.model.writes import Idempotency, TurnBegun, TurnEnd, TurnExpired, TurnJoined
from stello_graph.store import rows
from stello_graph.store.engine import Row
from stello_graph.store.places import shows_transcript
from stello_graph.store.queries import named
from stello_graph.store.repository import Repository

__all__ = ["TurnRepository"]

BEGIN = named("turns/begin")
RENEW = named("turns/renew")
STORE = named("turns/store")
WAIT = named("turns/wait")
CONFIRM = named("turns/confirm")
CANCEL = named("turns/cancel")
END = named("turns/end")
GET = named("turns/get")
OF_KEY = named("turns/of_key")
BY_STATUS = named("turns/by_status")
OF_SESSIONS = named("turns/of_sessions")
MESSAGES = named("turns/messages")


class TurnRepository(Repository):
    """See SessionStore."""

    async def begin_turn(
        self,
        session_id: str,
        turn_id: str,
        message: Draft,
        *,
        lease: float,
        max_tool_rounds: int | None = None,
        idempotency: Idempotency | None = None,
    ) -> TurnBegun | TurnJoined | TurnExpired:
        """See SessionStore."""
        found = await self._agreed(
            lambda: self._engine.write(
                BEGIN,
                space=self._space_id,
                **self._target(session_id),
                turnKey=self._key(turn_id),
                turnId=turn_id,
                message=rows.draft_properties(self._space_id, session_id, message),
                lease=_microseconds(lease),
                maxToolRounds=max_tool_rounds,
                **self._idempotency(idempotency),
            ),
            lambda found: all(map(_is_settled, found)),
        )
        turn_row = found[0]["turn"] if found else None
        row = self._checked([found[0] | {"turnId": turn_row and turn_row["id"]}] if found else [], session_id)
        turn = rows.turn(row["turn"])
        match row["outcome"]:
            case "JOINED":
                return TurnJoined(turn=turn)
            case "EXPIRED":
                return TurnExpired(turn=turn)
        conversation = rows.conversation(row["conversation"])
        return TurnBegun(
            turn=turn,
            conversation=conversation.model_copy(update={"transcript": conversation.transcript[:-1]}),
            user_message=conversation.transcript[-1],
            insight_revision=row["turn"].get("insightRevision"),
        )

    async def renew_turn(self, turn: Turn, *, lease: float, partial: str, round: int) -> bool | None:
        """See SessionStore."""
        found = await self._engine.write(
            RENEW,
            turnKey=self._key(turn.id),
            fence=turn.fence,
            lease=_microseconds(lease),
            partial=partial,
            round=round,
        )
        return bool(found[0]["cancelRequested"]) if found else None

    async def store_messages(
        self,
        turn: Turn,
        messages: Sequence[Draft],
        *,
        lease: float,
        usage: Usage,
        tool_rounds: int,
        asks: Sequence[ToolCall] = (),
    ) -> tuple[Turn, list[Message]] | None:
        """See SessionStore."""
        found = await self._write(
            STORE,
            key=self._key(turn.session_id),
            turnKey=self._key(turn.id),
            op=new_id(),
            fence=turn.fence,
            lease=_microseconds(lease),
            messages=self._drafts(turn, messages),
            usage=rows.to_json(usage),
            toolRounds=tool_rounds,
            pendingToolCalls=rows.to_json(list(asks)) if asks else None,
            confirmIds=[call.id for call in asks],
        )
        if not found or found[0]["outcome"] == "LOST":
            return None
        return rows.turn(found[0]["turn"]), _stored(turn, messages, found[0])

    async def wait_turn(self, turn: Turn, held: Sequence[Draft]) -> Turn | None:
        """See SessionStore."""
        found = await self._engine.write(
            WAIT,
            turnKey=self._key(turn.id),
            op=new_id(),
            fence=turn.fence,
            heldResults=rows.to_json(list(held)),
        )
        return rows.turn(found[0]["turn"]) if found and found[0]["outcome"] != "LOST" else None

    async def confirm_call(
        self, turn_id: str, tool_call_id: str, *, approve: bool, reason: str, lease: float
    ) -> tuple[Turn, bool]:
        """See SessionStore."""
        found = await self._engine.write(
            CONFIRM,
            turnKey=self._key(turn_id),
            op=new_id(),
            callId=tool_call_id,
            approve=approve,
            reason=reason,
            lease=_microseconds(lease),
        )
        if not found:
            raise NotFound.of("turn", turn_id)
        match found[0]["outcome"]:
            case "UNKNOWN":
                raise NotFound(f'turn "{turn_id}" has no call "{tool_call_id}" that needs a confirmation')
            case "OPPOSITE":
                raise Conflict(f'call "{tool_call_id}" was answered otherwise before')
            case "ENDED":
                raise TurnHasEnded(f'turn "{turn_id}" is over: call "{tool_call_id}" was never answered')
        return rows.turn(found[0]["turn"]), found[0]["outcome"] == "RESUMED"

    async def cancel_turn(self, turn_id: str) -> Turn:
        """See SessionStore."""
        found = await self._engine.write(CANCEL, turnKey=self._key(turn_id))
        if not found:
            raise NotFound.of("turn", turn_id)
        return rows.turn(found[0])

    async def end_turn(self, end: TurnEnd) -> tuple[Turn, list[Message]] | None:
        """See SessionStore."""
        turn, event = end.turn, self._event(end.id)
        found = await self._write(
            END,
            **event,
            **self._target(turn.session_id),
            turnKey=self._key(turn.id),
            consumedKey=self._key(new_id()),
            fence=end.fence,
            closing=end.closing,
            lastSeq=turn.last_seq,
            status=end.status,
            stopReason=end.stop_reason,
            error=None if end.error is None else rows.to_json(end.error),
            toolRounds=end.tool_rounds,
            messages=self._drafts(turn, end.messages),
            usage=rows.to_json(end.usage),
            callUsage=end.usage.model_dump(by_alias=True),
            completed=end.completed,
            data=rows.to_json({"turnId": turn.id, "status": end.status}),
        )
        if not found or found[0]["outcome"] not in ("DONE", "DONE_BEFORE"):
            return None
        return rows.turn(found[0]["turn"]), _stored(turn, end.messages, found[0])

    async def turns(self, ids: Sequence[str]) -> dict[str, Turn]:
        """See SessionStore."""
        found = await self._engine.read(GET, keys=[self._key(id) for id in ids])
        return {turn.id: turn for turn in rows.turns(found)}

    async def turn_of_key(self, idempotency: Idempotency) -> Turn | None:
        """See SessionStore."""
        found = await self._engine.read(OF_KEY, space=self._space_id, **self._idempotency(idempotency))
        return rows.turn(found[0]) if found else None

    async def turns_of(self, session_ids: Sequence[str], *, before: int, first: int) -> dict[str, list[Turn]]:
        """See SessionStore."""
        keys = [self._key(id) for id in session_ids]
        found = await self._engine.read(OF_SESSIONS, keys=keys, before=before, first=first)
        return {self._id(row["key"]): rows.turns(row["turns"]) for row in found}

    async def turns_by_status(self, status: TurnStatus, *, first: int) -> list[Turn]:
        """See SpaceStore."""
        found = await self._engine.read(BY_STATUS, space=self._space_id, status=status, first=first)
        return rows.turns(found)

    async def turn_messages(self, turn_ids: Sequence[str]) -> dict[str, list[Message]]:
        """See SessionStore."""
        found = await self._engine.read(MESSAGES, keys=[self._key(id) for id in turn_ids])
        return {self._id(row["key"]): rows.messages(row["messages"]) for row in found}

    def _drafts(self, turn: Turn, messages: Sequence[Draft]) -> list[Row]:
        return [rows.draft_properties(self._space_id, turn.session_id, draft) for draft in messages]


def _is_settled(begun: Row) -> bool:
    """Whether a turn that began was given the whole transcript, up to the user's message."""
    row = begun["conversation"]
    if begun["outcome"] != "BEGUN" or row is None:
        return bool(begun["outcome"] != "RACE")
    return shows_transcript(row, row.get("compressionThroughSeq") or 0, begun["turn"]["firstSeq"])


def _stored(turn: Turn, drafts: Sequence[Draft], row: Row) -> list[Message]:
    """The messages as they are stored now."""
    first, now = row["firstSeq"], row["now"]
    return [
        Message.model_validate(
            draft.model_dump()
            | {
                "seq": first + offset,
                "session_id": turn.session_id,
                "created_at": draft.created_at or now,
            }
        )
        for offset, draft in enumerate(drafts)
    ]


def _microseconds(seconds: float) -> int:
    return int(seconds * 1_000_000)

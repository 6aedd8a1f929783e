"""The part of a Space's store that holds its turns."""

from collections.abc import Sequence
from typing import Protocol

from stello_graph.model.message import Draft, Message, ToolCall
from stello_graph.model.turn import Turn
from stello_graph.model.values import Usage
from stello_graph.model.writes import Idempotency, TurnBegun, TurnEnd, TurnExpired, TurnJoined

__all__ = ["TurnStore"]


class TurnStore(Protocol):
    """Turns and their leases. Each write is one transaction."""

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
        """Takes the session's lease for `lease` seconds and stores the user message.

        Raises:
            SessionBusy: another turn holds the session.
            Conflict: the idempotency key was used for something else.
        """
        ...

    async def renew_turn(self, turn: Turn, *, lease: float, partial: str, round: int) -> bool | None:
        """Renews the lease and stores the text so far.

        Returns:
            Whether a cancellation was asked for; None where the lease is lost.
        """
        ...

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
        """Stores messages in the middle of a running turn, and renews its lease.

        Args:
            usage: the turn's so far.
            asks: calls among them that need a confirmation.

        Returns:
            The turn and the messages as stored; None where the lease is lost.
        """
        ...

    async def wait_turn(self, turn: Turn, held: Sequence[Draft]) -> Turn | None:
        """Lets a turn wait for confirmations, without a lease; `held` are results that are there already.

        Returns:
            The turn: AWAITING_CONFIRMATION, or still RUNNING where all is answered by now or somebody
            asked to cancel; None where the lease is lost.
        """
        ...

    async def confirm_call(
        self, turn_id: str, tool_call_id: str, *, approve: bool, reason: str, lease: float
    ) -> tuple[Turn, bool]:
        """Answers a call that needs a confirmation; the same answer again changes nothing.

        Returns:
            The turn, and whether it runs again by this answer, held by the caller for `lease` seconds.

        Raises:
            NotFound: no such turn, or no such call that needs a confirmation.
            Conflict: the opposite was answered before.
            TurnHasEnded: nobody answered before the turn ended.
        """
        ...

    async def cancel_turn(self, turn_id: str) -> Turn:
        """Asks for the end of an open turn; an ended one is answered as it is.

        One that waits for a confirmation is expired from then on: whoever looks closes it.
        """
        ...

    async def end_turn(self, end: TurnEnd) -> tuple[Turn, list[Message]] | None:
        """Ends a turn with its last messages; None where somebody else did or holds it."""
        ...

    async def turns(self, ids: Sequence[str]) -> dict[str, Turn]:
        """The turns that exist, by id."""
        ...

    async def turn_of_key(self, idempotency: Idempotency) -> Turn | None:
        """The turn that this key began with this input, whatever became of it."""
        ...

    async def turns_of(self, session_ids: Sequence[str], *, before: int, first: int) -> dict[str, list[Turn]]:
        """By session, the newest turns with number < before, oldest first."""
        ...

    async def turn_messages(self, turn_ids: Sequence[str]) -> dict[str, list[Message]]:
        """By turn, what it wrote, oldest first."""
        ...

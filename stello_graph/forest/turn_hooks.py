"""What hooks hear of one turn."""

from collections.abc import Iterable, Sequence

from stello_graph.forest.hook_runner import HookRunner
from stello_graph.forest.hooks import MessageEvent, RoundEvent, ToolCallEvent, ToolResultEvent
from stello_graph.model.message import Draft, MessageRole, ToolCall
from stello_graph.model.turn import Turn

__all__ = ["TurnHooks"]


class TurnHooks:
    """Tells an application's hooks what becomes of a turn."""

    def __init__(self, runner: HookRunner, space_id: str, turn: Turn) -> None:
        self._runner = runner
        self._ids = (space_id, turn.session_id, turn.id)

    def received(self, message: Draft) -> None:
        """The user's message was stored."""
        self._runner.fire("on_message_received", MessageEvent(*self._ids, message))

    def stored(self, messages: Iterable[Draft]) -> None:
        """Messages of the turn were stored."""
        for message in messages:
            if message.role is MessageRole.ASSISTANT:
                self._runner.fire("on_assistant_reply", MessageEvent(*self._ids, message))

    def round_starts(self, round: int) -> None:
        """The model is asked."""
        self._runner.fire("on_round_start", RoundEvent(*self._ids, round))

    def round_ends(self, round: int) -> None:
        """The model has answered, and its tools have run."""
        self._runner.fire("on_round_end", RoundEvent(*self._ids, round))

    def calls(self, calls: Sequence[ToolCall]) -> None:
        """Tools are about to run."""
        for call in calls:
            self._runner.fire("on_tool_call", ToolCallEvent(*self._ids, call))

    def result(self, call: ToolCall, message: Draft) -> None:
        """A call has its result; told in the order of the calls."""
        self._runner.fire("on_tool_result", ToolResultEvent(*self._ids, call, message))

    def failed(self, error: BaseException) -> None:
        """The turn failed."""
        space_id, session_id, turn_id = self._ids
        self._runner.error("turn", error, space_id=space_id, session_id=session_id, turn_id=turn_id)

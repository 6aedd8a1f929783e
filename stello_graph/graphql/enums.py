"""The enums, as the model has them; strawberry learns of them here."""

import strawberry

from stello_graph.errors import ErrorCode
from stello_graph.model.context import ContextOrigin
from stello_graph.model.message import MessageRole, MessageState
from stello_graph.model.requests import WhenBusy
from stello_graph.model.search import SearchScope
from stello_graph.model.space import Trigger
from stello_graph.model.topology import TopologyEventType
from stello_graph.model.turn import StopReason, TurnStatus
from stello_graph.model.values import (
    ForkContext,
    KeyScope,
    PromptMode,
    SessionRole,
    SessionStatus,
    TopologyStrategy,
)

__all__ = [
    "ContextOrigin",
    "ErrorCode",
    "ForkContext",
    "KeyScope",
    "MessageRole",
    "MessageState",
    "PromptMode",
    "SearchScope",
    "SessionRole",
    "SessionStatus",
    "StopReason",
    "TopologyEventType",
    "TopologyStrategy",
    "Trigger",
    "TurnStatus",
    "WhenBusy",
]

for _enum in (
    ContextOrigin,
    ErrorCode,
    ForkContext,
    KeyScope,
    MessageRole,
    MessageState,
    PromptMode,
    SearchScope,
    SessionRole,
    SessionStatus,
    StopReason,
    TopologyEventType,
    TopologyStrategy,
    Trigger,
    TurnStatus,
    WhenBusy,
):
    strawberry.enum(_enum)

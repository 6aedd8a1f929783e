"""What integrating gave, as the schema shows it."""

import strawberry

__all__ = ["DeliveredInsight", "Integration"]


@strawberry.type(description="An insight that was put to a session.")
class DeliveredInsight:
    """See `model.memory.InsightDraft`."""

    session_id: strawberry.ID
    content: str


@strawberry.type(description="What came of integrating.")
class Integration:
    """See `model.memory.Integration`."""

    called: bool = strawberry.field(
        description="False where there was no new L2, so that nothing was asked or changed."
    )
    synthesis: str | None = strawberry.field(description="The one that stands now.")
    insights: list[DeliveredInsight]
    dropped: list[strawberry.ID] = strawberry.field(
        description="Sessions that insights were meant for and that are unknown, archived or not below this one."
    )

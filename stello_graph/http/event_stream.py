"""Server-sent events, as GraphQL over SSE describes them: a POST for each operation."""

from strawberry.http.streaming import HTTPStreamTransport, SSETransport

__all__ = ["event_stream"]


def event_stream(keepalive: float) -> type[HTTPStreamTransport]:
    """How Strawberry writes a stream, with a comment after each `keepalive` seconds of silence."""

    class EventStream(SSETransport):
        # Headers go with the first bytes: a client learns at once that its stream stands.
        send_initial_heartbeat = True

        def __init__(self) -> None:
            super().__init__(keepalive)

    return EventStream

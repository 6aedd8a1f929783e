"""Server-sent events, as GraphQL over SSE describes them: a POST for each operation."""

import re
from operator import itemgetter

from strawberry.http.streaming import HTTPStreamTransport, SSETransport

__all__ = ["event_stream", "prefers_stream"]

_ASKED = re.compile(
    r"(?<![^\s,])(text/event-stream|application/(?:graphql(?:-response)?\+)?json)(?![^\s,;])"
    r"(?:[^,]*?;\s*q=([01](?:\.\d*)?))?",
    re.IGNORECASE,
)


def event_stream(keepalive: float) -> type[HTTPStreamTransport]:
    """How Strawberry writes a stream, with a comment after each `keepalive` seconds of silence."""

    class EventStream(SSETransport):
        # Headers go with the first bytes: a client learns at once that its stream stands.
        send_initial_heartbeat = True

        def __init__(self) -> None:
            super().__init__(keepalive)

        def accepts(self, accept: str) -> bool:
            return prefers_stream(accept)

        # Some clients, urql among them, know no other end of a line.
        def encode_event(self, event: str, data: str | None = None) -> str:
            return super().encode_event(event, data).replace("\r\n", "\n")

        def encode_comment(self, comment: str) -> str:
            return super().encode_comment(comment).replace("\r\n", "\n")

    return EventStream


def prefers_stream(accept: str) -> bool:
    """Whether a stream is asked for, and JSON not rather: many clients name all that they can read."""
    asked = [(float(weight or 1), kind.lower()) for kind, weight in _ASKED.findall(accept)]
    weight, kind = max(asked, key=itemgetter(0), default=(0.0, ""))
    return kind == "text/event-stream" and weight > 0

"""Server-sent events out of the bytes of a stream. Pure."""

import json
import re
from collections.abc import Iterator
from typing import Any

__all__ = ["EventReader"]

_LINE_END = re.compile(rb"\r\n|\r|\n")


class EventReader:
    r"""Takes bytes as they come, and gives the JSON of the events that are whole.

    Lines end at \n, \r or \r\n and nowhere else: what splits text at every Unicode line separator would cut
    inside JSON strings.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self.done = False
        """Whether the server said that nothing follows."""

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """The events that `data` completes.

        Raises:
            ValueError: an event is no JSON.
        """
        buffer = self._rest + data
        # The other half of a line's end may come with the next bytes.
        held = b"\r" if buffer.endswith(b"\r") else b""
        lines = _LINE_END.split(buffer.removesuffix(held))
        self._rest = lines.pop() + held
        for line in lines:
            if not line:
                yield from self._event()
            elif line.startswith(b"data:"):
                self._data.append(line.removeprefix(b"data:").removeprefix(b" "))

    def close(self) -> Iterator[dict[str, Any]]:
        """The last event, where the stream ended without the blank line after it."""
        yield from self.feed(b"\n\n")

    def _event(self) -> Iterator[dict[str, Any]]:
        data, self._data = b"\n".join(self._data), []
        if data.strip() == b"[DONE]":
            self.done = True
        if not data.strip() or self.done:
            return
        event = json.loads(data)
        if isinstance(event, dict):
            yield event

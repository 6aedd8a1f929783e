"""A small HTTP/1.1 client: kept connections, one request at a time on each, nothing it need not know."""

import asyncio
from types import TracebackType
from typing import Self, cast

import orjson

__all__ = ["Client", "request"]

# Seconds; less than any server waits.
_IDLE = 2.0


def request(path: str, body: object = None) -> bytes:
    """The bytes of a GET, or of a POST with a JSON body."""
    if body is None:
        return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    text = orjson.dumps(body)
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
    )
    return head.encode() + text


class Client:
    """As many connections to one port as there are requests at the same time."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._free: list[_Connection] = []

    async def fetch(self, asked: bytes) -> bytes:
        """The body of the answer. Raises RuntimeError where its status is not 200."""
        connection = await self._connected()
        body = await connection.fetch(asked)
        connection.used = asyncio.get_running_loop().time()
        self._free.append(connection)
        return body

    async def _connected(self) -> "_Connection":
        loop = asyncio.get_running_loop()
        # A server closes connections that were idle for some seconds, perhaps just when it is asked again.
        while self._free:
            connection = self._free.pop()
            if connection.open and loop.time() - connection.used < _IDLE:
                return connection
            connection.close()
        _, connection = await loop.create_connection(_Connection, "127.0.0.1", self._port)
        return connection

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for connection in self._free:
            connection.close()


class _Connection(asyncio.Protocol):
    def __init__(self) -> None:
        self.open = True
        self.used = 0.0
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[bytes] | None = None
        self._start = self._end = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Not isinstance: uvloop's transports are no subclass.
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.open = False
        self._fail(f"the server closed the connection ({exc})")

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    async def fetch(self, asked: bytes) -> bytes:
        assert self._transport is not None
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(asked)
        return await self._answer

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._end:
            self._read_head()
        if self._end and len(self._buffer) >= self._end and self._answer is not None:
            body = bytes(self._buffer[self._start : self._end])
            del self._buffer[: self._end]
            self._end = 0
            if not self._answer.done():
                self._answer.set_result(body)

    def _read_head(self) -> None:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._buffer[:end]).lower()
        at = head.find(b"content-length:")
        if not head.startswith(b"http/1.1 200") or at < 0:
            self._fail(bytes(self._buffer[:2_000]).decode(errors="replace"))
            return
        self._start = end + 4
        self._end = self._start + int(head[at + 15 :].split(b"\r\n", 1)[0])

    def _fail(self, why: str) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(RuntimeError(why))

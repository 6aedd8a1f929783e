"""A wire to a server that is cut again and again."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

__all__ = ["Wire", "wire_to"]

# A connection begins with a few answers of its own; after those some statements come through.
_ANSWERS = (8, 40)


class Wire:
    """Passes bytes on between who connects and a server; each connection is cut in place of an answer.

    So what was asked is done, and who asked does not hear of it. How slow either side is matters not.

    Attributes:
        url: where it listens: one server, no routing.
        cuts: connections that were cut.
    """

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 7687
        # Through a wire the name in a certificate fits no more.
        self._scheme = "bolt+ssc" if "+s" in parts.scheme else "bolt"
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self.cuts = 0

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"{self._scheme}://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.current_task()
        assert connection is not None
        self._connections.add(connection)
        beyond_reader, beyond_writer = await asyncio.open_connection(self._host, self._port)
        forth = asyncio.create_task(_pass_on(reader, beyond_writer))
        try:
            await _pass_on(beyond_reader, writer, random.randint(*_ANSWERS))
            self.cuts += 1
        finally:
            forth.cancel()
            for side in (beyond_writer, writer):
                side.transport.abort()
            await asyncio.gather(forth, return_exceptions=True)
            self._connections.discard(connection)


async def _pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, times: int | None = None
) -> None:
    """Until there is nothing more, or so many times."""
    with contextlib.suppress(ConnectionError):
        while (data := await reader.read(65_536)) and times != 0:
            writer.write(data)
            await writer.drain()
            times = None if times is None else times - 1


@asynccontextmanager
async def wire_to(target: str) -> AsyncIterator[Wire]:
    """A wire to a server, cut for good at the end."""
    wire = Wire(target)
    await wire.start()
    try:
        yield wire
    finally:
        await wire.stop()

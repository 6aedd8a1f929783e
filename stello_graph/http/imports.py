"""`POST /import`: a file as the body, lines of JSON as the answer while it is imported.

The whole file is taken first, to the folder for temporary files: a client may send it as fast as it can, and
what is wrong with it as a whole is told by the status.
"""

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any, BinaryIO, Final

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from stello_graph.errors import (
    ErrorCode,
    InvalidInput,
    LimitExceeded,
    StelloError,
    StoreUnavailable,
    Unauthenticated,
)
from stello_graph.graphql.context import Context
from stello_graph.http.access import Access
from stello_graph.http.answers import internal, refusal
from stello_graph.http.rates import Rates
from stello_graph.http.watched import WatchedResponse
from stello_graph.ids import new_id
from stello_graph.interchange.detect import Format
from stello_graph.interchange.importer import import_intake
from stello_graph.interchange.intake import Intake
from stello_graph.interchange.report import ImportReport
from stello_graph.model.values import KeyScope, Viewer
from stello_graph.service import StelloGraph

__all__ = ["LINES", "Imports"]

LINES: Final = "application/x-ndjson"

# None that a form of a foreign page can send: a browser asks before it sends one of these.
_KINDS: Final = (
    "application/json",
    LINES,
    "application/octet-stream",
    "application/zip",
    "application/x-zip-compressed",
    "application/gzip",
    "application/x-gzip",
)
_PIECE: Final = 1 << 20
_DIGITS: Final = 18
PATIENCE: Final = 30.0

logger = logging.getLogger(__name__)


class Imports:
    """The endpoint as an ASGI app."""

    def __init__(self, graph: StelloGraph, access: Access, rates: Rates, *, seconds: float = 0.5) -> None:
        """Tells the progress every so many seconds."""
        self._graph = graph
        self._access = access
        self._rates = rates
        self._seconds = seconds
        self._most = graph.settings.max_import_bytes
        self._most_of_one = graph.settings.max_import_object_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        with ExitStack() as held:
            response = await self._answer(Request(scope, receive), held)
            await response(scope, receive, send)

    async def _answer(self, request: Request, held: ExitStack) -> Response:
        try:
            await self._access.admit(request)
            if request.method != "POST":
                return refusal(InvalidInput("a file is imported by POST"), 405)
            return await self._import(request, held)
        except _Silence as error:
            return refusal(error, 408)
        except StelloError as error:
            return refusal(error)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it
        except Exception:
            id = new_id()
            logger.exception("unexpected error %s", id)
            return internal(id, 500)

    async def _import(self, request: Request, held: ExitStack) -> Response:
        viewer = await self._access.viewer(request)
        await self._rates.take(viewer)
        store = Context(self._graph, viewer).space(KeyScope.WRITE).store
        headers = request.headers
        if headers.get("content-type", "").partition(";")[0].strip().lower() not in _KINDS:
            return refusal(InvalidInput(f"the body must be one of {', '.join(_KINDS)}"), 415)
        if headers.get("content-encoding", "identity") != "identity":
            return refusal(InvalidInput("the body must not be compressed"), 415)
        asked = _format(request.query_params.get("format", "auto"))
        new_ids = _is_true(request.query_params.get("newIds", "false"))
        length = headers.get("content-length", "")
        if length.isdecimal() and (len(length) > _DIGITS or int(length) > self._most):
            return self._too_large()
        try:
            held.enter_context(self._graph.imports.one(store.space_id))
        except LimitExceeded as error:
            return refusal(error, 429)
        try:
            file = tempfile.TemporaryFile()  # noqa: SIM115
            held.callback(_close, file)
            size = await self._taken(request, viewer, file)
        except OSError as error:
            logger.error("a file to import cannot be kept", exc_info=error)
            raise StoreUnavailable("the server has no room for the file; its log has more") from error
        if size is None:
            return self._too_large()
        if not size:
            raise InvalidInput("the body is empty: it has to be the file")
        try:
            intake = await asyncio.to_thread(Intake.of_stream, file, asked, max_bytes=self._most)
        except LimitExceeded as error:
            return refusal(error, 413)
        if new_ids:
            intake.check_own()
        run = partial(
            import_intake,
            store,
            intake,
            max_object=self._most_of_one,
            max_text=self._graph.settings.max_content_bytes,
            new_ids=new_ids,
            as_admin=viewer.scope not in (KeyScope.READ, KeyScope.WRITE),
        )
        return WatchedResponse(
            _ImportResponse(run, intake, self._seconds),
            lambda: self._access.until_refused(viewer, request),
            self._graph.stopping.wait,
        )

    async def _taken(self, request: Request, viewer: Viewer, file: BinaryIO) -> int | None:
        """Takes the body, unless the server stops meanwhile or the caller may not import any more."""
        taking = asyncio.ensure_future(self._take(request, file))
        stopping = asyncio.ensure_future(self._graph.stopping.wait())
        refused = asyncio.ensure_future(self._access.until_refused(viewer, request))
        try:
            await asyncio.wait((taking, stopping, refused), return_when=asyncio.FIRST_COMPLETED)
            if stopping.done():
                raise StoreUnavailable("the server stops: send the file again")
            if refused.done() or await self._access.viewer(request) != viewer:
                raise Unauthenticated("valid credentials are needed")
            return await taking
        finally:
            for one in (taking, stopping, refused):
                one.cancel()
            await asyncio.gather(taking, stopping, refused, return_exceptions=True)

    async def _take(self, request: Request, file: BinaryIO) -> int | None:
        """Writes the body into `file`; answers its size, None where it is too large."""
        size, pending = 0, bytearray()
        async for chunk in self._chunks(request):
            size += len(chunk)
            if size > self._most:
                return None
            pending += chunk
            if len(pending) >= _PIECE:
                await asyncio.to_thread(file.write, bytes(pending))
                pending.clear()
        await asyncio.to_thread(file.write, bytes(pending))
        await asyncio.to_thread(file.seek, 0)
        return size

    async def _chunks(self, request: Request) -> AsyncIterator[bytes]:
        chunks = aiter(request.stream())
        while True:
            try:
                async with asyncio.timeout(PATIENCE):
                    chunk = await anext(chunks)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise _Silence(f"nothing more of the file came for {PATIENCE:g} seconds") from None
            yield chunk

    def _too_large(self) -> Response:
        return refusal(LimitExceeded(f"a file to import has at most {self._most} bytes"), 413)


class _Silence(LimitExceeded):
    """Who sends a file holds a place among the imports."""


class _ImportResponse(Response):
    """Imports, and tells of it; once nobody listens any more, the import stops as well."""

    def __init__(
        self, run: Callable[..., Coroutine[Any, Any, ImportReport]], intake: Intake, seconds: float
    ) -> None:
        super().__init__()
        self._run = run
        self._intake = intake
        self._seconds = seconds
        self._report = ImportReport()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        work = asyncio.create_task(self._run(report=self._report))
        try:
            # No proxy holds the lines back.
            headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
            await StreamingResponse(self._lines(work), media_type=LINES, headers=headers)(
                scope, receive, send
            )
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def _lines(self, work: "asyncio.Task[ImportReport]") -> AsyncIterator[bytes]:
        while not work.done():
            yield _line({"progress": self._progress()})
            await asyncio.wait({work}, timeout=self._seconds)
        yield _line(_end(work))

    def _progress(self) -> dict[str, int]:
        report = self._report
        return {
            "bytes": self._intake.at,
            "totalBytes": self._intake.size,
            "conversations": report.conversations,
            "sessions": report.sessions.total(),
            "messages": report.messages,
        }


def _format(name: str) -> Format | None:
    if name == "auto":
        return None
    if name not in list(Format):
        raise InvalidInput(f"format is auto or one of {', '.join(Format)}")
    return Format(name)


def _is_true(answer: str) -> bool:
    if answer not in ("true", "false"):
        raise InvalidInput("newIds is true or false")
    return answer == "true"


def _close(file: BinaryIO) -> None:
    """To close one that could not be written whole is to try once more."""
    with suppress(OSError):
        file.close()


def _end(work: "asyncio.Task[ImportReport]") -> dict[str, Any]:
    try:
        return {"report": work.result().to_dict()}
    except StelloError as error:
        return {"error": {"code": error.code, "message": error.message, "retryable": error.retryable}}
    except Exception:
        id = new_id()
        logger.exception("unexpected error %s", id)
        message = f"an error of the server; its log has more under {id}"
        return {"error": {"code": ErrorCode.INTERNAL, "message": message, "retryable": False, "id": id}}


def _line(value: dict[str, Any]) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)

"""Log lines, as text or as JSON objects, with the ids of what runs, and without contents.

Of an exception a line has its type and where it was raised; its text only at level DEBUG, since texts of
exceptions quote what they were about. Other libraries may say warnings only: at DEBUG some log requests.
"""

import logging
import sys
import time
import traceback
from types import TracebackType
from typing import Any, Final, Literal, TextIO

import orjson

from stello_graph.ports.observing import Fact, Kind, Work, current_ids

__all__ = ["LogFormat", "LogLines", "configure"]

LogFormat = Literal["json", "text"]

_PACKAGE: Final = "stello_graph"
# Facts that a line has.
_FACTS: Final[tuple[str, ...]] = (
    "method", "status", "type", "operation", "session", "stop", "model", "access",
    "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens",
)  # fmt: skip
_QUIET: Final = {Kind.QUERY, Kind.MODEL_CALL, Kind.LOOP}

logger = logging.getLogger(__name__)
access = logging.getLogger(f"{_PACKAGE}.access")


def configure(format: LogFormat, level: str, to: TextIO | None = None) -> None:
    """Makes this process log in one form for all libraries.

    Args:
        level: of this package: DEBUG, INFO, WARNING or ERROR, whatever its case.
        to: None is the standard error.
    """
    with_texts = level.upper() == "DEBUG"
    handler = logging.StreamHandler(sys.stderr if to is None else to)
    handler.setFormatter(_JsonLines(with_texts) if format == "json" else _TextLines(with_texts))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger(_PACKAGE).setLevel(level.upper())
    # What the driver logs comes back as an error, which is told once.
    logging.getLogger("neo4j").setLevel(logging.CRITICAL)


class LogLines:
    """An observer that logs what ends: requests, turns and tasks at INFO, the rest at DEBUG."""

    def begins(self, work: Work) -> None:
        """Nothing: one line a piece of work."""

    def ends(self, work: Work) -> None:
        """See Observer."""
        level = _level(work)
        to = access if work.kind in (Kind.REQUEST, Kind.SOCKET) else logger
        if level is None or not to.isEnabledFor(level):
            return
        facts = {name: work.facts[name] for name in _FACTS if name in work.facts}
        fields: dict[str, Fact] = {
            **work.ids,
            **facts,
            "outcome": work.outcome,
            "duration": round(work.seconds, 6),
        }
        to.log(level, "%s %s", work.kind, work.name, extra={"fields": fields})


def _level(work: Work) -> int | None:
    if work.kind is Kind.LOOP:
        return None
    if work.kind in _QUIET:
        return logging.DEBUG
    # The line of an HTTP request tells of its operation as well.
    in_request = work.kind is Kind.OPERATION and work.parent is not None and work.parent.kind is Kind.REQUEST
    return logging.DEBUG if in_request else logging.INFO


class _Lines(logging.Formatter):
    def __init__(self, with_texts: bool) -> None:
        super().__init__()
        self._with_texts = with_texts

    def fields(self, record: logging.LogRecord) -> dict[str, Any]:
        """What a line has besides time, level, logger and message."""
        return {**current_ids(), **getattr(record, "fields", {})}

    def said(self, record: logging.LogRecord) -> str:
        """The message. That of a failed task of asyncio goes on with the task, and that with its error."""
        text = record.getMessage()
        if record.name == "asyncio" and not self._with_texts:
            text = text.partition("\n")[0]
        return text.replace("\n", "\\n").replace("\r", "\\r")

    def formatException(  # noqa: N802
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None],
    ) -> str:
        """See Formatter."""
        if ei[1] is None:
            return ""
        if self._with_texts:
            return super().formatException(ei)
        return "\n".join(_frames(ei[1]))


class _JsonLines(_Lines):
    """One object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """See Formatter."""
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname,
            "logger": record.name,
            "message": self.said(record),
            **self.fields(record),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line["exception"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


class _TextLines(_Lines):
    """`time level logger message name=value …`."""

    def format(self, record: logging.LogRecord) -> str:
        """See Formatter."""
        fields = "".join(f" {name}={value}" for name, value in self.fields(record).items())
        line = f"{_time(record)} {record.levelname} {record.name} {self.said(record)}{fields}"
        if record.exc_info and record.exc_info[1] is not None:
            line += "\n" + self.formatException(record.exc_info)
        return line


def _time(record: logging.LogRecord) -> str:
    seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{seconds}.{int(record.msecs):03}Z"


def _frames(error: BaseException) -> list[str]:
    """The traceback of an error and of what caused it, without any text of theirs."""
    lines: list[str] = []
    seen: set[int] = set()
    shown: BaseException | None = error
    while shown is not None and id(shown) not in seen:
        seen.add(id(shown))
        lines.append("caused by:" if lines else "Traceback (most recent call last):")
        frames = traceback.StackSummary.extract(traceback.walk_tb(shown.__traceback__), lookup_lines=False)
        lines += [f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}' for frame in frames]
        lines.append(f"{type(shown).__module__}.{type(shown).__qualname__}")
        shown = shown.__cause__ or shown.__context__
    return lines

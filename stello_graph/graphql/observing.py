"""Tells of each operation: its type, its name, how long it took and how it ended."""

import time
from collections.abc import Iterator
from typing import Any

from graphql import GraphQLError
from strawberry.extensions import SchemaExtension

from stello_graph.errors import ErrorCode, StelloError
from stello_graph.graphql.context import Context
from stello_graph.ports.observing import Fact, Kind, Work, identify, outcome_of

__all__ = ["Observing"]

# Of an operation's name, which callers choose, so many characters are told.
_LONGEST_NAME = 100


class Observing(SchemaExtension):
    """Outside of `ErrorCodes`: errors have their codes when it looks at them."""

    _work: Work | None = None
    _code: str | None = None

    def on_operation(self) -> Iterator[None]:
        """Around it all; the type is known once the document is parsed."""
        started = time.perf_counter()
        context = self.execution_context.context
        if not isinstance(context, Context):
            yield
            return
        try:
            yield
        except BaseException as error:
            # The cache of parsed documents lets syntax errors through as exceptions.
            self._code = _code_of(error) if isinstance(error, GraphQLError) else outcome_of(error)
            raise
        finally:
            if self._work is None:
                self._work = context.graph.observers.begin(Kind.OPERATION, "unknown")
            work = self._work
            self._note(self.execution_context.result)
            work.outcome = self._code or "OK"
            if (request := self._request) is not None:
                request.outcome = work.outcome
            work.started = started
            context.graph.observers.end(work)

    def on_validate(self) -> Iterator[None]:
        """The document is there, so the operation begins."""
        context = self.execution_context.context
        if isinstance(context, Context):
            self._begin(context)
        yield

    def on_stream_result(self, result: Any) -> Iterator[None]:
        """Each result of a stream."""
        yield
        self._note(result)

    def _begin(self, context: Context) -> None:
        execution = self.execution_context
        try:
            kind = execution.operation_type.value
        except Exception:
            # No such operation in the document: it is refused in a moment.
            return
        if (viewer := context.known_viewer) is not None and viewer.space_id is not None:
            identify(space=viewer.space_id)
        name = execution.operation_name
        facts: dict[str, Fact] = {"operation": name[:_LONGEST_NAME]} if name else {}
        self._work = context.graph.observers.begin(Kind.OPERATION, kind, facts=facts)
        if (request := self._request) is not None:
            request.facts.update(facts, type=kind)

    @property
    def _request(self) -> Work | None:
        """The HTTP request that has this operation alone; none where it came by a socket."""
        parent = None if self._work is None else self._work.parent
        return parent if parent is not None and parent.kind is Kind.REQUEST else None

    def _note(self, result: Any) -> None:
        errors = getattr(result, "errors", None)
        if errors and self._code is None:
            self._code = _code_of(errors[0])


def _code_of(error: GraphQLError) -> str:
    if error.extensions and "code" in error.extensions:
        return str(error.extensions["code"])
    cause = error.original_error
    return cause.code if isinstance(cause, StelloError) else ErrorCode.INVALID_INPUT

"""An answer that is too large is refused whole."""

from collections.abc import Iterator
from typing import Any

from graphql import GraphQLError
from strawberry.extensions import SchemaExtension
from strawberry.types.graphql import OperationType

from stello_graph.graphql.context import Context
from stello_graph.graphql.errors import told
from stello_graph.ports.answers import Answer, answering

__all__ = ["BoundedAnswers"]

_DONE = "; what the mutation does is done nevertheless"


class BoundedAnswers(SchemaExtension):
    """Inside of `ErrorCodes` and of `Observing`, which see the refusal."""

    _answer: Answer | None = None
    _streamed = False

    def on_operation(self) -> Iterator[None]:
        """Around it all; looks at a result that is not streamed."""
        context = self.execution_context.context
        if not isinstance(context, Context):
            yield
            return
        with answering(context.graph.settings.max_answer_bytes) as self._answer:
            yield
            if not self._streamed:
                self._look_at(self.execution_context.result)
            context.forget_loaders()

    def on_stream_result(self, result: Any) -> Iterator[None]:
        """Looks at each result of a stream; the next one may be as large."""
        self._streamed = True
        self._look_at(result)
        yield
        if self._answer is not None:
            self._answer.renew()

    def _look_at(self, result: Any) -> None:
        if self._answer is None or result is None or not self._answer.refused:
            return
        why = self._answer.refusal
        message = why.message + (_DONE if self._is_mutation else "")
        result.data = None
        result.errors = [told(GraphQLError(message, original_error=type(why)(message)))]

    @property
    def _is_mutation(self) -> bool:
        return self.execution_context.operation_type is OperationType.MUTATION

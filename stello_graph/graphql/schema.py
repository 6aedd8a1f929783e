"""The schema, put together."""

from collections.abc import Iterable
from typing import Any, Final

import strawberry
from graphql import GraphQLError
from strawberry.extensions import SchemaExtension
from strawberry.extensions.runner import SchemaExtensionsRunner
from strawberry.schema.config import StrawberryConfig
from strawberry.types import ExecutionContext, ExecutionResult
from strawberry.types.graphql import OperationType

from stello_graph.graphql.answers import BoundedAnswers
from stello_graph.graphql.context import Info
from stello_graph.graphql.documents import Documents
from stello_graph.graphql.errors import ErrorCodes
from stello_graph.graphql.executor import RowExecutor
from stello_graph.graphql.hooks import HooksRunner
from stello_graph.graphql.mutations import Mutation
from stello_graph.graphql.observing import Observing
from stello_graph.graphql.queries import Query
from stello_graph.graphql.scalars import SCALARS
from stello_graph.graphql.subscriptions import Subscription
from stello_graph.graphql.types.turn import EVENT_TYPES

__all__ = ["EXTENSIONS", "Schema", "schema", "sdl"]

# From the outside in.
EXTENSIONS: Final = (Documents, Observing, ErrorCodes, BoundedAnswers)
_ANSWERED: Final = frozenset(OperationType) - {OperationType.SUBSCRIPTION}


class Schema(strawberry.Schema):
    """Strawberry's, which leaves it to the extensions to log."""

    def process_errors(self, errors: list[GraphQLError], execution_context: Any = None) -> None:
        """Nothing: `ErrorCodes` logs what has to be logged, callers' mistakes are not ours to log."""

    def create_extensions_runner(
        self, execution_context: ExecutionContext, extensions: list[SchemaExtension]
    ) -> SchemaExtensionsRunner:
        """See Strawberry."""
        return HooksRunner(execution_context, extensions)

    async def execute(
        self,
        query: str | None,
        variable_values: dict[str, Any] | None = None,
        context_value: Any | None = None,
        root_value: Any | None = None,
        operation_name: str | None = None,
        allowed_operation_types: Iterable[OperationType] | None = None,
        operation_extensions: dict[str, Any] | None = None,
    ) -> ExecutionResult:
        """See Strawberry; what has one answer is no subscription."""
        allowed = _ANSWERED if allowed_operation_types is None else _ANSWERED & set(allowed_operation_types)
        return await super().execute(
            query,
            variable_values,
            context_value,
            root_value,
            operation_name,
            allowed,
            operation_extensions,
        )


schema = Schema(
    query=Query,
    mutation=Mutation,
    subscription=Subscription,
    types=EVENT_TYPES,
    extensions=list(EXTENSIONS),
    execution_context_class=RowExecutor,
    config=StrawberryConfig(scalar_map=SCALARS, info_class=Info),
)


def sdl() -> str:
    """The schema as text: what `schema.graphql` holds."""
    return schema.as_str() + "\n"

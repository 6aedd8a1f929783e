"""The resolver layer, for an application that has a Strawberry schema of its own.

Merge `Query`, `Mutation` and `Subscription` into yours (`strawberry.tools.merge_types`, or inherit), hand
the rest to `Schema`, and derive the context of your view from `Context`. See docs/embedding.md.

    schema = Schema(
        query=merge_types("Query", (YourQuery, Query)),
        mutation=Mutation,
        subscription=Subscription,
        types=TYPES,
        extensions=EXTENSIONS,
        execution_context_class=Executor,
        config=StrawberryConfig(scalar_map=SCALARS, info_class=Info),
    )
"""

from typing import Final

from strawberry.extensions import SchemaExtension

from stello_graph.graphql.context import Context, Info
from stello_graph.graphql.executor import RowExecutor
from stello_graph.graphql.mutations import Mutation
from stello_graph.graphql.queries import Query
from stello_graph.graphql.scalars import SCALARS
from stello_graph.graphql.schema import EXTENSIONS as OURS
from stello_graph.graphql.schema import Schema
from stello_graph.graphql.subscriptions import Subscription
from stello_graph.graphql.types.turn import EVENT_TYPES

__all__ = [
    "EXTENSIONS",
    "SCALARS",
    "TYPES",
    "Context",
    "Executor",
    "Info",
    "Mutation",
    "Query",
    "Schema",
    "Subscription",
]

# The types that no field names: those of a turn's events.
TYPES: Final = tuple(EVENT_TYPES)

# Limits of documents and answers, the codes of errors, and what observers are told.
EXTENSIONS: Final[list[type[SchemaExtension]]] = list(OURS)

# Quick for lists of plain rows, and counts the texts of an answer, which its limit needs.
Executor = RowExecutor

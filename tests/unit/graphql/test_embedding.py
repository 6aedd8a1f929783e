"""Our resolvers in the schema of an application."""

import strawberry
from strawberry.schema.config import StrawberryConfig
from strawberry.tools import merge_types

from stello_graph.graphql import embedding
from stello_graph.graphql.schema import schema
from tests.unit.graphql.conftest import Api

HELLO = "{ hello }"


class HostContext(embedding.Context):
    """Theirs, derived from ours."""

    name = "Ada"


@strawberry.type
class HostQuery:
    @strawberry.field
    def hello(self, info: strawberry.Info[HostContext, None]) -> str:
        return f"Hello {info.context.name}"


merged = embedding.Schema(
    query=merge_types("Query", (HostQuery, embedding.Query)),
    mutation=embedding.Mutation,
    subscription=embedding.Subscription,
    types=embedding.TYPES,
    extensions=embedding.EXTENSIONS,
    execution_context_class=embedding.Executor,
    config=StrawberryConfig(scalar_map=embedding.SCALARS, info_class=embedding.Info),
)


async def test_one_request_asks_both(api: Api) -> None:
    """Errors of ours keep their codes."""
    context = HostContext(api.graph, api.context().viewer)
    found = await merged.execute(
        f'{HELLO[:-1]} me {{ scope }} session(id: "?") {{ id }} }}', context_value=context
    )
    assert found.data == {"hello": "Hello Ada", "me": {"scope": "ADMIN"}, "session": None}
    assert found.errors
    assert (found.errors[0].extensions or {})["code"] == "INVALID_INPUT"


def test_all_of_ours_is_in_it() -> None:
    ours, theirs = (set(one._schema.type_map) for one in (schema, merged))
    assert ours <= theirs


async def test_schemas_of_one_process_keep_their_documents_apart(api: Api) -> None:
    """What one schema has found valid is not valid by that in the other."""
    context = HostContext(api.graph, api.context().viewer)
    for _ in range(2):
        assert (await merged.execute(HELLO, context_value=context)).data == {"hello": "Hello Ada"}
        assert (await api.refused(HELLO))["code"] == "INVALID_INPUT"

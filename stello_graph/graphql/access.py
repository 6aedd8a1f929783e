"""Keys and Spaces: their types, queries and mutations."""

import strawberry
from strawberry import ID, UNSET

from stello_graph.graphql.arguments import given, page_size
from stello_graph.graphql.context import Info
from stello_graph.graphql.enums import KeyScope
from stello_graph.graphql.scalars import DateTime
from stello_graph.graphql.types.space import Space
from stello_graph.model import keys as model
from stello_graph.model import space as model_space

__all__ = ["AccessMutation", "AccessQuery"]


@strawberry.type(description="A key to one Space. What it opens is its secret, which nobody can read again.")
class ApiKey:
    """See `model.keys.ApiKey`."""

    id: ID
    name: str
    prefix: str = strawberry.field(description="How the secret begins.")
    scope: KeyScope
    created_at: DateTime
    last_used_at: DateTime | None = strawberry.field(description="About a minute exact.")
    revoked_at: DateTime | None


@strawberry.type
class NewApiKey:
    """See `model.keys.NewApiKey`."""

    key: ApiKey
    secret: str


async def api_keys(info: Info) -> list[model.ApiKey]:
    """The keys of the caller's Space."""
    return await info.context.space(KeyScope.ADMIN).api_keys()


async def spaces(info: Info, first: int | None = 100, after: str | None = UNSET) -> list[model_space.Space]:
    """A page of the Spaces."""
    return await info.context.operator().spaces(after=given(after, ""), first=page_size(first, 100))


async def create_api_key(info: Info, name: str, scope: KeyScope) -> model.NewApiKey:
    """Makes a key."""
    return await info.context.space(KeyScope.ADMIN).create_api_key(name, scope)


async def revoke_api_key(info: Info, id: ID) -> model.ApiKey:
    """Ends a key."""
    return await info.context.space(KeyScope.ADMIN).revoke_api_key(id)


async def create_space(info: Info, id: ID, name: str) -> model_space.Space:
    """Makes a Space."""
    return await info.context.operator().create_space(id, name)


async def delete_space(info: Info, id: ID, expected_count: int) -> bool:
    """Deletes a Space."""
    await info.context.operator().delete_space(id, expected_count)
    return True


@strawberry.type
class AccessQuery:
    """The part of Query about keys and Spaces."""

    api_keys = strawberry.field(
        resolver=api_keys,
        graphql_type=list[ApiKey],
        description="ADMIN. The newest 1,000, newest first, the revoked ones too.",
    )
    spaces = strawberry.field(resolver=spaces, graphql_type=list[Space], description="OPERATOR. By id.")


@strawberry.type
class AccessMutation:
    """The part of Mutation about keys and Spaces."""

    create_api_key = strawberry.mutation(
        resolver=create_api_key, graphql_type=NewApiKey, description="ADMIN. The secret is shown once."
    )
    revoke_api_key = strawberry.mutation(
        resolver=revoke_api_key,
        graphql_type=ApiKey,
        description="ADMIN. At once in this process, within ten seconds in all others.",
    )
    create_space = strawberry.mutation(
        resolver=create_space, graphql_type=Space, description="OPERATOR. id: 1 to 64 of [a-z0-9-]."
    )
    delete_space = strawberry.mutation(
        resolver=delete_space,
        graphql_type=bool,
        description="OPERATOR. Everything in it goes, its keys too. expectedCount must equal the number of its "
        "sessions (else CONFLICT with extensions.count). Running turns are cancelled first.",
    )

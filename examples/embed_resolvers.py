"""Only the resolvers: the types of stello-graph in the Strawberry schema of an application.

Run it in a folder of its own with `python examples/embed_resolvers.py`, then open /graphql.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import strawberry
import uvicorn
from fastapi import FastAPI
from strawberry.fastapi import BaseContext, GraphQLRouter
from strawberry.schema.config import StrawberryConfig
from strawberry.tools import merge_types

from stello_graph import KeyScope, Settings, Viewer, build
from stello_graph.graphql import embedding as stello
from stello_graph.graphql.types.session import Session

graph = build(Settings(store="sqlite:///shop.db"))


class ShopContext(BaseContext, stello.Context):
    """Ours, with what the resolvers of stello-graph need beside it."""

    def __init__(self, user: str) -> None:
        BaseContext.__init__(self)
        stello.Context.__init__(self, graph, Viewer(space_id="default", scope=KeyScope.WRITE, key_name=user))
        self.user = user


async def context() -> ShopContext:
    """Whoever is signed in here."""
    return ShopContext("ada")


@strawberry.type
class Order:
    id: strawberry.ID
    session_id: strawberry.ID

    @strawberry.field
    async def conversation(self, info: strawberry.Info[ShopContext, None]) -> Session | None:
        """A type of theirs on a type of ours."""
        return await info.context.loaders.session.load(self.session_id)  # type: ignore[return-value]


@strawberry.type
class ShopQuery:
    @strawberry.field
    def order(self, id: strawberry.ID) -> Order:
        return Order(id=id, session_id=strawberry.ID(f"order-{id}"))

    @strawberry.field
    def user(self, info: strawberry.Info[ShopContext, None]) -> str:
        return info.context.user


schema = stello.Schema(
    query=merge_types("Query", (ShopQuery, stello.Query)),
    mutation=stello.Mutation,
    subscription=stello.Subscription,
    types=stello.TYPES,
    extensions=stello.EXTENSIONS,
    execution_context_class=stello.Executor,
    config=StrawberryConfig(scalar_map=stello.SCALARS, info_class=stello.Info),
)


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    async with graph:
        yield


app = FastAPI(lifespan=lifespan)
app.include_router(GraphQLRouter(schema, context_getter=context), prefix="/graphql")

if __name__ == "__main__":
    uvicorn.run(app)

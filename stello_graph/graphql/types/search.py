"""What is found, as the schema shows it."""

import strawberry

from stello_graph.graphql.context import Info
from stello_graph.graphql.enums import SearchScope
from stello_graph.graphql.types.message import Message
from stello_graph.graphql.types.session import Session
from stello_graph.model import search as model
from stello_graph.model import session as model_session

__all__ = ["SearchHit"]


async def session(hit: strawberry.Parent[model.SearchHit], info: Info) -> model_session.Session | None:
    """The session that it was found in."""
    return await info.context.loaders.session.load(hit.session_id)


@strawberry.type(description="A label, a digest or a message that holds what was asked for.")
class SearchHit:
    """See `model.search.SearchHit`."""

    session = strawberry.field(
        resolver=session,
        graphql_type=Session | None,
        description="Null where it was deleted meanwhile. A message that sessions share is found once: for the one "
        "it was written in, else for the oldest that has it.",
    )
    scope: SearchScope
    message: Message | None = strawberry.field(description="Null for labels and digests.")
    snippet: str = strawberry.field(
        description="Up to 200 characters around the first place that was asked for, as plain text in one line; "
        "the place is not marked."
    )
    score: float = strawberry.field(description="The higher the better: labels, then digests, then messages.")

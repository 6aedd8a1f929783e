"""Records, shared memory and skills: their types, queries and mutations."""

import strawberry
from strawberry import ID, UNSET

from stello_graph.graphql.arguments import given, page_size
from stello_graph.graphql.context import Info
from stello_graph.graphql.scalars import JSON, DateTime
from stello_graph.model import knowledge as model
from stello_graph.model.knowledge_checks import check_name, check_prefix, check_record_key
from stello_graph.model.values import KeyScope

__all__ = ["KnowledgeMutation", "KnowledgeQuery"]


@strawberry.type(
    description="L1: one global key of the Space, read and written by the application. Keys are dot paths: `goals.q3`."
)
class Record:
    """See `model.knowledge.Record`."""

    key: str
    value: JSON
    revision: int
    updated_at: DateTime


@strawberry.type(
    description="Shared memory: its slug and summary are listed in every prompt of the Space, its body is recalled by tool."
)
class SharedMemory:
    """See `model.knowledge.SharedMemory`."""

    slug: str
    summary: str
    body: str
    updated_at: DateTime


@strawberry.type(description="Instructions that a session takes on when it needs them.")
class Skill:
    """See `model.knowledge.Skill`."""

    name: str
    description: str
    content: str


async def get_record(info: Info, key: str) -> model.Record | None:
    """One record."""
    return await info.context.space().store.record(check_record_key(key))


async def list_records(
    info: Info, prefix: str | None = "", first: int | None = 100, after: str | None = UNSET
) -> list[model.Record]:
    """A page of records, by key."""
    start, size = check_prefix(given(prefix, "")), page_size(first, 100)
    return await info.context.space().store.records(
        start, after=check_prefix(given(after, ""), "after"), first=size
    )


async def list_shared_memories(info: Info) -> list[model.SharedMemory]:
    """All of them."""
    return await info.context.space().store.shared_memories()


async def get_shared_memory(info: Info, slug: str) -> model.SharedMemory | None:
    """One of them."""
    return await info.context.space().store.shared_memory(check_name(slug, "slug"))


async def list_skills(info: Info, session_id: ID | None = UNSET) -> tuple[model.Skill, ...]:
    """All, or those that a session may use."""
    return await info.context.space().skills(given(session_id, None))


async def put_record(
    info: Info, key: str, value: JSON, expected_revision: int | None = UNSET
) -> model.Record:
    """Writes a record."""
    expected = given(expected_revision, None)
    return await info.context.space(KeyScope.WRITE).put_record(key, value, expected)


async def delete_record(info: Info, key: str) -> bool:
    """Takes a record away."""
    return await info.context.space(KeyScope.WRITE).delete_record(key)


async def put_shared_memory(info: Info, slug: str, summary: str, body: str) -> model.SharedMemory:
    """Writes a shared memory."""
    return await info.context.space(KeyScope.WRITE).put_shared_memory(slug, summary, body)


async def delete_shared_memory(info: Info, slug: str) -> bool:
    """Takes a shared memory away."""
    return await info.context.space(KeyScope.WRITE).delete_shared_memory(slug)


async def put_skill(info: Info, name: str, description: str, content: str) -> model.Skill:
    """Writes a skill."""
    skill = model.Skill(name=name, description=description, content=content)
    return await info.context.space(KeyScope.ADMIN).put_skill(skill)


async def delete_skill(info: Info, name: str) -> bool:
    """Takes a skill away."""
    return await info.context.space(KeyScope.ADMIN).delete_skill(name)


@strawberry.type
class KnowledgeQuery:
    """What can be read of what a Space holds beside its sessions."""

    record = strawberry.field(resolver=get_record, graphql_type=Record | None)
    records = strawberry.field(
        resolver=list_records,
        graphql_type=list[Record],
        description="By key, in the order of code points. after is the key to continue from.",
    )
    shared_memories = strawberry.field(
        resolver=list_shared_memories,
        graphql_type=list[SharedMemory],
        description="In the order of first insertion.",
    )
    shared_memory = strawberry.field(resolver=get_shared_memory, graphql_type=SharedMemory | None)
    skills = strawberry.field(
        resolver=list_skills,
        graphql_type=list[Skill],
        description="Those of the Space in the order of first insertion, then those of the server's folders. "
        "With sessionId those that the session may use.",
    )


@strawberry.type
class KnowledgeMutation:
    """What can be changed of what a Space holds beside its sessions."""

    put_record = strawberry.mutation(
        resolver=put_record,
        graphql_type=Record,
        description="expectedRevision: 0 for a new key; a mismatch is CONFLICT (extensions.revision has the present one, "
        "0 for none); null writes regardless.",
    )
    delete_record = strawberry.mutation(resolver=delete_record, description="NOT_FOUND where there is none.")
    put_shared_memory = strawberry.mutation(
        resolver=put_shared_memory,
        graphql_type=SharedMemory,
        description="An existing slug keeps its place in the list. At most 200 in a Space.",
    )
    delete_shared_memory = strawberry.mutation(
        resolver=delete_shared_memory, description="Whether there was one."
    )
    put_skill = strawberry.mutation(
        resolver=put_skill,
        graphql_type=Skill,
        description="ADMIN. An existing name keeps its place in the list. At most 200 in a Space.",
    )
    delete_skill = strawberry.mutation(
        resolver=delete_skill,
        description="ADMIN. NOT_FOUND where the Space stores none of that name; skills of folders stay.",
    )

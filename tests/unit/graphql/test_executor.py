"""The short way for rows answers as graphql-core does, and leaves to it what is not plain."""

import asyncio
import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from enum import Enum
from typing import Annotated, Any

import pytest
import strawberry
from graphql.execution.collect_fields import FieldDetails
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stello_graph.graphql.executor import RowExecutor, of_many
from stello_graph.model.parts import Only


@strawberry.enum
class Colour(Enum):
    RED = "r"
    BLUE = "b"


async def shards_of(
    rows: Sequence["Row"], context: Any, only: Only | None, first: int = 2, fail: bool = False
) -> list[list["Shard"]]:
    """Of each row as many as its size, and as are asked for."""
    CALLS.append(len(rows))
    ONLY.append(only)
    if fail:
        raise ValueError("no shards")
    return [[Shard(name=f"{row.name}{n}", of=row) for n in range(min(first, row.size % 4))] for row in rows]


async def rows_of(shards: Sequence["Shard"], context: Any, only: Only | None) -> list[list["Row"]]:
    return [[shard.of] for shard in shards]


async def shards(
    root: strawberry.Parent["Row"], info: strawberry.Info, first: int = 2, fail: bool = False
) -> Any:
    return (await shards_of([root], info.context, None, first, fail))[0]


async def back(root: strawberry.Parent["Shard"], info: strawberry.Info) -> Any:
    return (await rows_of([root], info.context, None))[0]


Rows = list[Annotated["Row", strawberry.lazy(__name__)]]


@strawberry.type
class Shard:
    name: str | None
    of: strawberry.Private[Any]
    back = strawberry.field(resolver=back, graphql_type=Rows, metadata=of_many(rows_of, "of"))


@strawberry.type
class Row:
    id: strawberry.ID
    name: str
    size: int
    note: str | None
    share: float | None
    colour: Colour
    good: bool

    @strawberry.field
    def shout(self) -> str:
        return self.name.upper()

    @strawberry.field
    def more(self) -> list["Row"]:
        return [self]

    shards = strawberry.field(
        resolver=shards, graphql_type=list[Shard], metadata=of_many(shards_of, "name", "size")
    )


ROWS: list[Any] = []
CALLS: list[int] = []
ONLY: list[Only | None] = []


@strawberry.type
class Query:
    @strawberry.field
    def rows(self) -> list[Row]:
        return ROWS

    @strawberry.field
    def holes(self) -> list[Row | None]:
        return [*ROWS, None]


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def row(self) -> AsyncIterator[Row]:
        for each in ROWS:
            yield each


quick = strawberry.Schema(query=Query, subscription=Subscription, execution_context_class=RowExecutor)
plain = strawberry.Schema(query=Query, subscription=Subscription)

rows = st.builds(
    Row,
    id=st.text(),
    name=st.text(),
    size=st.integers(-(2**31), 2**31 - 1),
    note=st.none() | st.text(),
    share=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    colour=st.sampled_from(Colour),
    good=st.booleans(),
)
SELECTIONS = [
    "{ rows { id name size note share colour good } }",
    "{ rows { __typename id } }",
    "{ rows { a: name b: name ...F } } fragment F on Row { size ... on Row { note } }",
    "query($yes: Boolean = true) { rows { id @include(if: $yes) name @skip(if: $yes) } }",
    "{ rows { shout id } }",
    "{ rows { more { id size } } }",
    "{ holes { id } }",
    "query($yes: Boolean = true) { rows { id @skip(if: $yes) } }",
]
DEEP = [
    "{ rows { id shards { name } size } }",
    "query($n: Int = 3) { rows { shards(first: $n) { name back { id shards(first: 1) { name } } } few: shards(first: 1) { name } } }",
    "{ rows { shards { back { more { id } name } name } } }",
    "{ rows { shards { name ...S } } } fragment S on Shard { back { id size } }",
    "{ rows { id shards(fail: true) { name } } }",
    "{ rows { id shards(fail: true) { name } few: shards { back { id } } } }",
    "query($yes: Boolean = true) { rows { id shards { name @skip(if: $yes) } } }",
    "query($yes: Boolean = true) { rows { shards @skip(if: $yes) { name } } }",
]


@pytest.mark.parametrize("document", SELECTIONS)
@settings(deadline=None)
@given(found=st.lists(rows, max_size=4))
def test_answers_are_graphql_cores(document: str, found: list[Row]) -> None:
    ROWS[:] = found
    assert quick.execute_sync(document).data == plain.execute_sync(document).data


@pytest.mark.parametrize("document", DEEP)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(found=st.lists(rows, max_size=4))
def test_lists_in_rows_are_graphql_cores(document: str, found: list[Row]) -> None:
    ROWS[:] = found
    ours, theirs = (asyncio.run(one.execute(document)) for one in (quick, plain))
    assert ours.data == theirs.data
    assert [str(error) for error in ours.errors or ()] == [str(error) for error in theirs.errors or ()]


async def test_a_level_is_resolved_once() -> None:
    """However many rows there are; and what goes wrong in one of them is told by graphql-core."""
    whole: dict[str, Any] = {
        "id": "1", "name": "n", "size": 2, "note": None, "share": None, "colour": Colour.RED, "good": True,
    }  # fmt: skip
    ROWS[:] = [Row(**whole | {"id": str(n)}) for n in range(3)]
    CALLS.clear()
    found = await quick.execute("{ rows { shards { back { id shards(first: 1) { name } } } } }")
    assert found.errors is None
    assert CALLS == [3, 6]

    ROWS.append(Row(**whole | {"name": None, "size": 1}))
    found = await quick.execute("{ rows { shards { name } name } }")
    assert [error.path for error in found.errors or ()] == [["rows", 3, "name"]]


async def test_a_list_is_told_what_is_needed_of_it() -> None:
    """The fields that are selected, each once, under the names of Python, and what the lists below look at."""
    ROWS[:] = [
        Row(id=strawberry.ID("1"), name="n", size=1, note=None, share=None, colour=Colour.RED, good=True)
    ]
    ONLY.clear()
    document = """query($no: Boolean = false) {
        rows { a: shards { name } b: shards { back { id } more: name name } c: shards { name @include(if: $no) back { id } } }
    }"""
    assert (await quick.execute(document)).errors is None
    assert ONLY == [("name",), ("of", "name"), ("of",)]


async def test_a_level_without_rows_is_resolved_once() -> None:
    """What is above it is not read anew one by one."""
    ROWS[:] = [
        Row(id=strawberry.ID("1"), name="n", size=0, note=None, share=None, colour=Colour.RED, good=True)
    ]
    CALLS.clear()
    found = await quick.execute("{ rows { shards { back { id shards { name } } } } }")
    assert found.data == {"rows": [{"shards": []}]}
    assert CALLS == [1]


@pytest.mark.parametrize("document", [*SELECTIONS[:6], *DEEP])
async def test_events_are_graphql_cores(document: str) -> None:
    """Also where one of them is not as it should be. Nothing more is kept for each event that was told."""
    whole: dict[str, Any] = {
        "id": "1", "name": "n", "size": 2, "note": None, "share": None, "colour": Colour.RED, "good": True,
    }  # fmt: skip
    ROWS[:] = [Row(**whole | {"id": str(n)}) for n in range(20)]
    ROWS[7:7] = [Row(**whole | {"name": None, "size": "x"})]
    document = document.replace("rows", "row").replace("{ row", "subscription { row", 1)
    document = document.replace("query(", "subscription(").replace(") subscription", ")")
    told: list[list[Any]] = []
    left: list[int] = []
    for one in (plain, quick):
        results = await one.subscribe(document)
        assert isinstance(results, AsyncIterator), results
        told.append([])
        async with aclosing(results):
            async for result in results:
                told[-1].append((result.data, [str(error) for error in result.errors or ()]))
                if one is quick and len(told[-1]) in (10, 20):
                    left.append(kept())
    assert told[1] == told[0]
    assert len(told[1]) == len(ROWS)
    assert left[0] == left[1]


def kept() -> int:
    """How many fields of documents are remembered anywhere."""
    gc.collect()
    return sum(isinstance(each, FieldDetails) for each in gc.get_objects())


@pytest.mark.parametrize(
    "broken",
    [
        {"name": None},
        {"size": 2**31},
        {"size": "x"},
        {"colour": "green"},
        {"good": "x"},
        {"share": float("nan")},
    ],
)
def test_errors_are_graphql_cores(broken: dict[str, Any]) -> None:
    whole: dict[str, Any] = {
        "id": "1", "name": "n", "size": 1, "note": None, "share": None, "colour": Colour.RED, "good": True,
    }  # fmt: skip
    ROWS[:] = [Row(**whole), Row(**(whole | broken))]
    document = SELECTIONS[0]
    ours, theirs = quick.execute_sync(document), plain.execute_sync(document)
    assert ours.errors
    assert theirs.errors
    assert [str(error) for error in ours.errors] == [str(error) for error in theirs.errors]
    assert ours.data == theirs.data

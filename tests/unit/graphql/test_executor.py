"""The short way for rows answers as graphql-core does, and leaves to it what is not plain."""

from enum import Enum
from typing import Any

import pytest
import strawberry
from hypothesis import given, settings
from hypothesis import strategies as st

from stello_graph.graphql.executor import RowExecutor


@strawberry.enum
class Colour(Enum):
    RED = "r"
    BLUE = "b"


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


ROWS: list[Any] = []


@strawberry.type
class Query:
    @strawberry.field
    def rows(self) -> list[Row]:
        return ROWS

    @strawberry.field
    def holes(self) -> list[Row | None]:
        return [*ROWS, None]


quick = strawberry.Schema(query=Query, execution_context_class=RowExecutor)
plain = strawberry.Schema(query=Query)

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
]


@pytest.mark.parametrize("document", SELECTIONS)
@settings(deadline=None)
@given(found=st.lists(rows, max_size=4))
def test_answers_are_graphql_cores(document: str, found: list[Row]) -> None:
    ROWS[:] = found
    assert quick.execute_sync(document).data == plain.execute_sync(document).data


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

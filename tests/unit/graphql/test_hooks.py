"""An application's extensions beside ours, whatever form their hooks have."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import strawberry
from strawberry.extensions import SchemaExtension
from strawberry.types import StreamExecutionResult

from stello_graph.graphql import hooks
from stello_graph.graphql.schema import Schema

MOMENTS = ("parse", "validate", "execute")


class Told(SchemaExtension):
    """Keeps what its hooks see, in the context."""

    def tell(self, what: str) -> None:
        self.execution_context.context.append(what)


class ByGenerator(Told):
    def on_operation(self) -> Iterator[None]:
        self.tell("operation begins")
        try:
            yield
        except ValueError:
            self.tell("operation fails")
            raise
        self.tell("operation ends")

    def on_execute(self) -> Iterator[None]:
        self.tell("execute begins")
        yield
        self.tell("execute ends")


class Awaited(Told):
    async def on_parse(self) -> AsyncIterator[None]:
        self.tell("parse begins")
        yield
        self.tell("parse ends")

    async def on_stream_result(self, result: StreamExecutionResult) -> AsyncIterator[None]:
        yield
        self.tell(f"stream {getattr(result, 'data', None)}")

    async def get_results(self) -> dict[str, Any]:
        return {"awaited": True}


class Plain(Told):
    def on_validate(self) -> None:  # type: ignore[override]
        self.tell("validate")

    async def on_execute(self) -> None:  # type: ignore[override]
        self.tell("execute, awaited")

    def on_stream_result(self, result: StreamExecutionResult) -> None:  # type: ignore[override]
        self.tell(f"stream, plain {getattr(result, 'data', None)}")


class Inherited(ByGenerator):
    on_execute = SchemaExtension.on_execute  # type: ignore[assignment]

    def get_results(self) -> dict[str, Any]:
        return {"inherited": True}


class Unhashable:
    """A hook that is no function."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __call__(self, extension: Told) -> None:
        extension.tell("parse, unhashable")


@strawberry.type
class Query:
    @strawberry.field
    def hello(self) -> str:
        return "Hello"


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def count(self) -> AsyncIterator[int]:
        yield 1
        yield 2


def schema(*extensions: type[SchemaExtension]) -> Schema:
    return Schema(query=Query, subscription=Subscription, extensions=list(extensions))


async def test_each_form_of_hook_runs() -> None:
    """In the order of an operation; results of extensions are in the answer."""
    told: list[str] = []
    for _ in range(2):
        told.clear()
        found = await schema(ByGenerator, Awaited, Plain).execute("{ hello }", context_value=told)
        assert (found.data, found.extensions) == ({"hello": "Hello"}, {"awaited": True})
        assert told == [
            "operation begins",
            "parse begins",
            "parse ends",
            "validate",
            "execute begins",
            "execute, awaited",
            "execute ends",
            "operation ends",
        ]


async def test_hooks_of_a_class_above() -> None:
    """They run, but for those that are set back."""
    told: list[str] = []
    found = await schema(Inherited).execute("{ hello }", context_value=told)
    assert (told, found.extensions) == (["operation begins", "operation ends"], {"inherited": True})


async def test_hooks_that_are_no_functions() -> None:
    """Strawberry runs them as it does."""
    told: list[str] = []
    odd = type("Odd", (Told,), {"on_parse": Unhashable()})
    await schema(odd).execute("{ hello }", context_value=told)
    assert told == ["parse, unhashable"]


async def test_results_of_one_extension_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """They count where the instance has them, not its class."""

    class Own(Told):
        def on_operation(self) -> Iterator[None]:
            monkeypatch.setattr(self, "get_results", lambda: {"own": True})
            yield

    found = await schema(Own).execute("{ hello }", context_value=[])
    assert found.extensions == {"own": True}


async def test_classes_that_are_made_as_it_goes_are_not_kept() -> None:
    """Those of the last ones are."""
    kept = hooks._around.cache_info()
    assert kept.maxsize is not None
    await schema(ByGenerator).execute("{ hello }", context_value=[])
    before = hooks._around.cache_info().hits
    await schema(ByGenerator).execute("{ hello }", context_value=[])
    assert hooks._around.cache_info().hits == before + 2


async def test_no_results_are_none() -> None:
    """Extensions that have none leave the answer without."""
    assert not (await schema(ByGenerator).execute("{ hello }", context_value=[])).extensions


async def test_each_result_of_a_stream_is_shown() -> None:
    """To hooks that are awaited too."""
    told: list[str] = []
    stream = await schema(Awaited, Plain).subscribe("subscription { count }", context_value=told)
    async for _ in stream:
        pass
    assert [one for one in told if one.startswith("stream")] == [
        "stream, plain {'count': 1}",
        "stream {'count': 1}",
        "stream, plain {'count': 2}",
        "stream {'count': 2}",
    ]


@pytest.mark.parametrize("moment", MOMENTS)
async def test_what_a_hook_raises_is_an_error(moment: str) -> None:
    """Hooks around it see it."""

    def fail(self: SchemaExtension) -> Iterator[None]:
        raise ValueError("no")
        yield

    told: list[str] = []
    failing = type("Failing", (SchemaExtension,), {f"on_{moment}": fail})
    found = await schema(ByGenerator, failing).execute("{ hello }", context_value=told)
    assert [error.message for error in found.errors or ()] == ["no"]
    assert told[-1] == "operation fails"

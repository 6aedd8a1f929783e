"""What all commands share: how settings are read, work is run, and an error is told."""

import asyncio
from collections.abc import Coroutine
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from pydantic import ValidationError
from rich.console import Console

from stello_graph.errors import StelloError
from stello_graph.settings import Settings

__all__ = ["StoreOption", "errors", "fail", "run", "settings_of"]

T = TypeVar("T")

errors = Console(stderr=True, highlight=False)

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store", help="sqlite:///file.db, neo4j://host:7687, bolt://… (STELLO_STORE)", show_default=False
    ),
]


def settings_of(**given: Any) -> Settings:
    """The settings, given on the command line where not None; what is wrong ends the program."""
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        lines = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        fail("these settings are not right:\n  " + "\n  ".join(lines))


def run(work: Coroutine[Any, Any, T]) -> T:
    """Runs to the end; an error of ours ends the program with its sentence."""
    try:
        return asyncio.run(work)
    except StelloError as error:
        fail(error.message)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def fail(message: str) -> NoReturn:
    """Ends the program with status 1."""
    errors.print(message, style="red", markup=False)
    raise typer.Exit(1)

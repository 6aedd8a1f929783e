"""What all commands share: how settings are read, work is run, and an error is told."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table

from stello_graph.errors import StelloError
from stello_graph.settings import Settings

__all__ = ["StoreOption", "errors", "fail", "print_table", "run", "settings_of", "tell_error"]

T = TypeVar("T")

# As wide as any line: a table is not cut, also in a pipe.
_WIDE = 100_000

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


def run(work: Coroutine[Any, Any, T], new_loop: Callable[[], asyncio.AbstractEventLoop] | None = None) -> T:
    """Runs to the end, on asyncio's own event loop if no other is given.

    An error of ours ends the program with its sentence.
    """
    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            return runner.run(work)
    except StelloError as error:
        fail(error.message)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def fail(message: str) -> NoReturn:
    """Ends the program with status 1."""
    tell_error(message)
    raise typer.Exit(1)


def tell_error(message: str) -> None:
    """As one line, however wide the terminal is: what reads a pipe gets sentences whole."""
    errors.print(message, style="red", markup=False, emoji=False, soft_wrap=True)


def print_table(rows: Sequence[tuple[str, ...]], head: Sequence[str] = ()) -> None:
    """In straight columns."""
    table = Table(*head, box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=bool(head))
    for column in table.columns:
        column.no_wrap = True
    for row in rows:
        table.add_row(*row)
    console = Console(width=_WIDE, markup=False, emoji=False, highlight=False)
    with console.capture() as told:
        console.print(table)
    print("\n".join(line.rstrip() for line in told.get().splitlines()))

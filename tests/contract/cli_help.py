"""docs/cli.md, the help of each command as it is: python -m tests.contract.cli_help > docs/cli.md."""

from collections.abc import Iterator
from typing import Final

from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from stello_graph.cli import app

__all__ = ["page"]

NAME: Final = "stello-graph"
HEAD: Final = """# The command line

What each command says to `--help`. The settings behind the options: [settings and commands](settings.md).
"""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *_sections(get_command(app), ())])


def _sections(command: object, path: tuple[str, ...]) -> Iterator[str]:
    told = CliRunner().invoke(
        app, [*path, "--help"], prog_name=NAME, env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    )
    assert told.exit_code == 0, told.output
    lines = [line.rstrip() for line in told.output.strip().splitlines()]
    yield "\n".join([f"## {' '.join([NAME, *path])}", "", "```text", *lines, "```", ""])
    if isinstance(command, TyperGroup):
        for name, below in command.commands.items():
            yield from _sections(below, (*path, name))


if __name__ == "__main__":
    print(page(), end="")

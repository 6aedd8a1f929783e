"""The command line.

Commands import what only they need, since GraphQL and HTTP take a second to load.
"""

import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import IO, Annotated

import typer
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from typer.exceptions import TyperException

from stello_graph.bootstrap import build
from stello_graph.cli_access import keys, spaces
from stello_graph.demo.load import MOST, check_size, load_demo
from stello_graph.errors import Conflict, StelloError, StoreUnavailable
from stello_graph.forest.backlog import index_all
from stello_graph.ids import DEFAULT_SPACE, check_id, check_space_id
from stello_graph.interchange.detect import Format
from stello_graph.interchange.importer import import_intake
from stello_graph.interchange.intake import NOT_OWN, Intake
from stello_graph.interchange.jsonl import ExportReport, export_lines
from stello_graph.interchange.predecessor import import_store, is_store
from stello_graph.interchange.report import ImportReport
from stello_graph.logs import configure
from stello_graph.model.space import default_name
from stello_graph.outfile import is_stream, opened
from stello_graph.ports import SpaceStore, Store
from stello_graph.settings import Settings, without_password
from stello_graph.terminal import StoreOption, errors, print_table, tell_error
from stello_graph.terminal import fail as _fail
from stello_graph.terminal import run as _run
from stello_graph.terminal import settings_of as _settings

__all__ = ["main"]

_Told = Callable[[int, int], object]

app = typer.Typer(
    help="Conversations as a forest in a graph database, served through GraphQL.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(keys, name="keys")
app.add_typer(spaces, name="spaces")


@app.command()
def serve(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on (STELLO_HOST)", show_default="127.0.0.1")
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Port, 0 for any free one (STELLO_PORT)", show_default="8000")
    ] = None,
    store: StoreOption = None,
    migrate: Annotated[
        bool | None,
        typer.Option("--migrate/--no-migrate", help="Bring the schema up to date first (STELLO_MIGRATE)"),
    ] = None,
    tools: Annotated[
        list[str] | None,
        typer.Option(help="A module whose Tools the model can call; may be repeated (STELLO_TOOLS)"),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes that serve (STELLO_WORKERS)", show_default="1")
    ] = None,
    grace: Annotated[
        float | None,
        typer.Option(help="Seconds for running turns at shutdown (STELLO_GRACE)", show_default="20"),
    ] = None,
    skills: Annotated[
        list[str] | None,
        typer.Option(help="A folder of skills, */SKILL.md in it; may be repeated (STELLO_SKILLS)"),
    ] = None,
    log_format: Annotated[
        str | None, typer.Option(help="text or json (STELLO_LOG_FORMAT)", show_default="text")
    ] = None,
) -> None:
    """Serve GraphQL, GraphiQL and the star map until SIGTERM or Ctrl-C."""
    folders = ",".join(skills) if skills else None
    settings = _settings(
        host=host,
        port=port,
        store=store,
        migrate=migrate,
        workers=workers,
        grace=grace,
        skills=folders,
        tools=tools,
        log_format=log_format,
    )
    configure(settings.log_format, settings.log_level)
    if settings.workers > 1:
        from stello_graph.workers import serve_by_workers

        serve_by_workers(settings, lambda text: print(text, flush=True))
        return
    from stello_graph.serving import new_loop, serve_until_stopped

    _run(serve_until_stopped(settings, lambda line: print(line, flush=True)), new_loop)


@app.command()
def migrate(store: StoreOption = None) -> None:
    """Bring the store's schema up to date, and make old texts findable."""
    graph = build(_settings(store=store))

    async def work() -> tuple[list[str], int]:
        try:
            return await graph.store.migrate(), await index_all(graph.store)
        finally:
            await graph.store.aclose()

    applied, indexed = _run(work())
    print("\n".join(f"applied {name}" for name in applied) or "The schema is up to date.")
    if indexed:
        print(f"indexed {indexed} texts for search")


@app.command("import")
def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Files (.gz too), zip archives, folders; - is standard input",
        ),
    ],
    format: Annotated[str, typer.Option(help=f"auto, {', '.join(Format)}")] = "auto",
    space: Annotated[
        str, typer.Option(help="The Space to import into; made if it is missing")
    ] = DEFAULT_SPACE,
    new_ids: Annotated[
        bool, typer.Option("--new-ids", help="Give all that a file of `export` holds new ids")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Import conversations from exports; says what was imported and what not and why."""
    settings = _settings(store=store)
    if format != "auto" and format not in list(Format):
        _fail(f"unknown format {format}: use auto, {', '.join(Format)}")
    chosen = None if format == "auto" else Format(format)
    check_space_id(space)
    if any(is_store(path) for path in files):
        if len(files) > 1:
            _fail("a folder of the predecessor's is imported alone")
        if chosen is not None:
            _fail("a folder of the predecessor's is no file of a format: leave --format out")
        if new_ids:
            _fail(NOT_OWN)
        limit = settings.max_content_bytes
        is_new, report = _run(
            _import(settings, space, lambda into, told: import_store(into, files[0], told, max_text=limit))
        )
    else:
        with Intake.of_paths(files, chosen, max_bytes=settings.max_import_bytes) as intake:
            if new_ids:
                intake.check_own()
            is_new, report = _run(
                _import(settings, space, lambda into, told: _import_files(into, intake, told, new_ids))
            )
    print(f"Into the Space {_named(space, settings)}{', which was made for it' if is_new else ''}")
    print("\n".join(report.lines()))
    if not report.imported_anything_valid:
        raise typer.Exit(1)


@app.command()
def export(
    file: Annotated[str, typer.Argument(help="The file to write; - is the standard output")],
    root: Annotated[
        str | None, typer.Option(help="A session: it and what is below it, nothing else", show_default="all")
    ] = None,
    space: Annotated[str, typer.Option(help="The Space to export")] = DEFAULT_SPACE,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there")] = False,
    store: StoreOption = None,
) -> None:
    """Export all that a Space holds as lines of JSON, which `import` reads; says what was written."""
    settings = _settings(store=store)
    if settings.sqlite_path is not None and not Path(settings.sqlite_path).exists():
        _fail(f"there is no database file {settings.sqlite_path}")
    check_space_id(space)
    if root is not None:
        check_id(root, "root")
    with opened(file, force=force) as target:
        report = _run(_export(settings, target, root, space))
    for sentence in (f"From the Space {_named(space, settings)}", *report.sentences()):
        print(sentence, file=sys.stderr if is_stream(file) else sys.stdout)


@app.command()
def demo(
    size: Annotated[
        int | None,
        typer.Option(help=f"How many sessions, up to {MOST:,}: light ones are added", show_default="40"),
    ] = None,
    space: Annotated[str, typer.Option(help="The Space to fill; made if it is missing")] = DEFAULT_SPACE,
    store: StoreOption = None,
) -> None:
    """Fill an empty Space with a forest that shows every feature; exit 1 where it is not empty."""
    made = _run(_demo(_settings(store=store), size, space))
    print(f"Made {made:,} sessions in the Space {space}.")


@app.command()
def schema() -> None:
    """Print the GraphQL schema."""
    from stello_graph.graphql.schema import sdl

    sys.stdout.write(sdl())


@app.command()
def doctor(
    store: StoreOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="As one JSON object")] = False,
) -> None:
    """Show all settings and where they came from, and whether all is well; exit 1 where it is not."""
    from stello_graph.doctor import checks, settings_shown

    settings = _settings(store=store)
    shown, found = settings_shown(settings, {"store": store}), _run(checks(settings))
    if as_json:
        told = {"settings": [asdict(each) for each in shown], "checks": [asdict(each) for each in found]}
        print(json.dumps(told, indent=2, ensure_ascii=False))
    else:
        print_table([(each.variable, each.value, each.origin, each.meaning) for each in shown])
        print()
        print_table(
            [(each.name, f"{'' if each.status == 'ok' else f'{each.status}: '}{each.text}") for each in found]
        )
    if any(check.status == "problem" for check in found):
        raise typer.Exit(1)


def main() -> None:
    """The entry point of the console script."""
    configure("text", "info")
    try:
        # Typer draws a frame of 80 columns around a wrong usage, also where nobody sees it.
        sys.exit(app(standalone_mode=errors.is_terminal))
    except TyperException as error:
        tell_error(error.format_message())
        sys.exit(error.exit_code)
    except StelloError as error:
        tell_error(error.message)
        sys.exit(1)


def _named(space: str, settings: Settings) -> str:
    return f"{space} in {without_password(settings.store)}"


async def _import(
    settings: Settings, space: str, work: Callable[[SpaceStore, _Told], Awaitable[ImportReport]]
) -> tuple[bool, ImportReport]:
    """Whether the Space was made for it, and what became of it."""
    graph = build(settings)
    try:
        await graph.store.migrate()
        is_new = await _make_space(graph.store, space)
        with _progress() as progress:
            task = progress.add_task("Importing", total=None)
            return is_new, await work(
                graph.store.in_space(space),
                lambda done, total: progress.update(task, completed=done, total=total),
            )
    finally:
        await graph.store.aclose()


async def _make_space(store: Store, space: str) -> bool:
    """Whether it was missing. Raises Conflict while one of that id is being deleted."""
    try:
        await store.create_space(space, default_name(space))
    except Conflict:
        await store.ensure_space(space, default_name(space))
        return False
    return True


async def _import_files(store: SpaceStore, intake: Intake, told: _Told, new_ids: bool) -> ImportReport:
    intake.on_read = lambda at: told(at, intake.size)
    return await import_intake(store, intake, new_ids=new_ids)


async def _export(settings: Settings, target: IO[bytes], root: str | None, space: str) -> ExportReport:
    graph = build(settings)
    report = ExportReport()
    try:
        if await graph.store.pending_migrations():
            raise StoreUnavailable("the schema is not up to date: stello-graph migrate")
        with _progress() as progress:
            task = progress.add_task("Exporting", total=None)
            async for line in export_lines(graph.store.in_space(space), report, root):
                target.write(line)
                progress.update(task, total=report.total, completed=report.sessions)
        return report
    finally:
        await graph.store.aclose()


async def _demo(settings: Settings, size: int | None, space: str) -> int:
    graph = build(settings)
    check_space_id(space)
    check_size(size)
    try:
        await graph.store.migrate()
        await graph.store.ensure_space(space, default_name(space))
        with _progress() as progress:
            task = progress.add_task("Growing", total=size)
            return await load_demo(
                graph.store.in_space(space), size, lambda made: progress.update(task, completed=made)
            )
    finally:
        await graph.store.aclose()


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    return Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal)

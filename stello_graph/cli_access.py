"""The commands about keys and Spaces: `keys` and `spaces`."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, TypeVar

import typer

from stello_graph.bootstrap import build
from stello_graph.errors import InvalidInput, NotFound
from stello_graph.forest.keys import MOST_LISTED
from stello_graph.ids import DEFAULT_SPACE, check_id, check_space_id
from stello_graph.model.keys import ApiKey
from stello_graph.model.space import Space, default_name
from stello_graph.model.values import KeyScope
from stello_graph.service import StelloGraph
from stello_graph.terminal import StoreOption, errors, fail, print_table, run, settings_of

__all__ = ["keys", "spaces"]

T = TypeVar("T")

_PAGE = 1_000
_ALL = 1_000_000

keys = typer.Typer(help="Make, list and revoke API keys.", no_args_is_help=True)
spaces = typer.Typer(help="Make, list and delete Spaces.", no_args_is_help=True)


class Scope(StrEnum):
    """A key's scope, as it is typed."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"
    OPERATOR = "operator"


SpaceArgument = Annotated[str, typer.Argument(metavar="ID", help="1 to 64 of a-z, 0-9 and -")]


@keys.command("create")
def create_key(
    name: Annotated[str, typer.Option(help="What tells it from others, such as who holds it")],
    space: Annotated[
        str | None,
        typer.Option(help="The Space that it opens; made if it is missing", show_default=DEFAULT_SPACE),
    ] = None,
    scope: Annotated[
        Scope, typer.Option(help="What it may do; an operator's key has no Space")
    ] = Scope.ADMIN,
    store: StoreOption = None,
) -> None:
    """Make a key and print its secret, this once, alone on standard output."""
    chosen = KeyScope(scope.upper())
    if chosen is KeyScope.OPERATOR and space is not None:
        fail("a key with the scope operator has no Space: leave --space out")
    where = None if chosen is KeyScope.OPERATOR else space or DEFAULT_SPACE

    async def work(graph: StelloGraph) -> str:
        await graph.store.migrate()
        if where is not None:
            await graph.store.ensure_space(check_space_id(where), default_name(where))
        return (await graph.create_key(where, name, chosen)).secret

    print(_done(store, work))


@keys.command("list")
def list_keys(
    space: Annotated[str | None, typer.Option(help="Of this Space alone")] = None,
    store: StoreOption = None,
) -> None:
    """List all keys with their ids, the revoked ones too; secrets are not kept."""

    async def work(graph: StelloGraph) -> list[ApiKey]:
        if space is not None:
            return await graph.keys(check_space_id(space))
        return await graph.store.all_keys(first=MOST_LISTED)

    found = _done(store, work)
    print_table(
        [
            (
                key.id,
                key.space_id or "-",
                key.name,
                key.scope.lower(),
                key.prefix,
                _time(key.created_at),
                _time(key.last_used_at),
                _time(key.revoked_at),
            )
            for key in found
        ],
        head=("id", "space", "name", "scope", "begins", "made", "last used", "revoked"),
    )


@keys.command("revoke")
def revoke_key(
    id: Annotated[str, typer.Argument(metavar="ID", help="Its id, as keys list shows it")],
    store: StoreOption = None,
) -> None:
    """End a key. Running servers refuse it within ten seconds."""

    async def work(graph: StelloGraph) -> ApiKey:
        check_id(id)
        for key in await graph.store.all_keys(first=_ALL):
            if key.id == id:
                return await graph.revoke_key(key.space_id, id)
        raise NotFound.of("key", id)

    revoked = _done(store, work)
    print(f"Revoked {revoked.name} ({revoked.prefix}…).")


@spaces.command("create")
def create_space(
    id: SpaceArgument,
    name: Annotated[str | None, typer.Option(help="Its name", show_default="the id")] = None,
    store: StoreOption = None,
) -> None:
    """Make a Space."""

    async def work(graph: StelloGraph) -> Space:
        await graph.store.migrate()
        return await graph.create_space(id, default_name(id) if name is None else name)

    print(f"Made the Space {_done(store, work).id}.")


@spaces.command("list")
def list_spaces(store: StoreOption = None) -> None:
    """List all Spaces."""

    async def work(graph: StelloGraph) -> list[Space]:
        found = await graph.spaces(first=_PAGE)
        while page := await graph.spaces(after=found[-1].id if found else "", first=_PAGE):
            found += page
            if len(page) < _PAGE:
                break
        return found

    print_table(
        [(one.id, one.name, str(one.session_count), _time(one.created_at)) for one in _done(store, work)],
        head=("id", "name", "sessions", "made"),
    )


@spaces.command("delete")
def delete_space(
    id: SpaceArgument,
    expected_count: Annotated[
        int | None, typer.Option(help="How many sessions it has: all of them go")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Delete a Space with all that is in it, and its keys."""

    async def work(graph: StelloGraph) -> None:
        if expected_count is None:
            count = (await graph.store.in_space(check_space_id(id)).space()).session_count
            raise InvalidInput(
                f"{count} sessions would go with all that is in them; say so by --expected-count {count}"
            )
        await graph.delete_space(id, expected_count)
        errors.print(f"{id} is gone; what was in it is swept away in a moment…", markup=False, soft_wrap=True)
        await graph.sweeper.finish(id)

    _done(store, work)
    print(f"Deleted the Space {id}.")


def _done(store: str | None, work: Callable[[StelloGraph], Awaitable[T]]) -> T:
    """What `work` gives, with a service that is not opened: nothing of it runs beside."""
    graph = build(settings_of(store=store))

    async def whole() -> T:
        try:
            if await graph.store.pending_migrations():
                await graph.store.migrate()
            return await work(graph)
        finally:
            await graph.keyring.aclose()
            await graph.store.aclose()

    return run(whole())


def _time(microseconds: int | None) -> str:
    if microseconds is None:
        return "-"
    return datetime.fromtimestamp(microseconds // 1_000_000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")

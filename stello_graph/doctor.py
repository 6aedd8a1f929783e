"""What is in force, and whether all is well: what `stello-graph doctor` tells.

It changes nothing: a SQLite file that is not there is not made.
"""

import os
import platform
import shutil
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final, Literal

from pydantic import SecretStr

from stello_graph.bootstrap import load_tools, open_engine, open_llm
from stello_graph.errors import InvalidInput, StelloError
from stello_graph.settings import Settings, without_password
from stello_graph.store.store import GraphStore

__all__ = ["Check", "SettingShown", "checks", "settings_shown"]

Status = Literal["ok", "advice", "problem"]

_MEBIBYTE: Final = 1024 * 1024
_LEAST_FREE: Final = 100 * _MEBIBYTE
_LITTLE_FREE: Final = 1024 * _MEBIBYTE
# Leases follow the store's clock, so a difference only makes times of logs and rows hard to compare.
_CLOCK_SECONDS: Final = 5.0
_VARIABLES: Final = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL")


@dataclass(frozen=True)
class SettingShown:
    """A setting, its variable, its value with secrets masked, and where that came from: a flag, that variable
    or the default.
    """

    name: str
    variable: str
    value: str
    origin: str
    meaning: str


@dataclass(frozen=True)
class Check:
    """One thing that was looked at, and what there is to do about it."""

    name: str
    status: Status
    text: str


def settings_shown(settings: Settings, flags: Mapping[str, object]) -> list[SettingShown]:
    """All settings; `flags` are those that the command line gave."""
    return [
        SettingShown(
            name,
            variable(name),
            _shown(getattr(settings, name)),
            _origin(settings, name, flags),
            field.description or "",
        )
        for name, field in Settings.model_fields.items()
    ]


async def checks(settings: Settings) -> list[Check]:
    """Looks at everything."""
    found = [
        _versions(),
        *_unknown_variables(),
        *_model(settings),
        *_tools(settings),
        *_times(settings),
    ]
    path = settings.sqlite_path
    if path is not None:
        found.append(_disk(path))
        if not path.exists():
            return [*found, Check("database", "ok", f"{path} does not exist yet; serve makes it")]
    try:
        store = GraphStore(open_engine(settings))
    except InvalidInput as error:
        return [*found, Check("database", "problem", error.message)]
    try:
        return [*found, *[check async for check in _store(store, settings)]]
    finally:
        await store.aclose()


async def _store(store: GraphStore, settings: Settings) -> AsyncIterator[Check]:
    try:
        yield Check("database", "ok", await store.ping())
        pending = await store.pending_migrations()
        if pending:
            status: Status = "advice" if settings.migrate else "problem"
            hint = "serve applies them first" if settings.migrate else "run stello-graph migrate"
            yield Check("migrations", status, f"not applied yet: {', '.join(pending)}; {hint}")
            return
        yield Check("migrations", "ok", "up to date")
        before = time.time()
        state = await store.state()
        mine = (before + time.time()) / 2
        yield _access(settings, await store.keys_in_use())
    except StelloError as error:
        yield Check("database", "problem", error.message)
        return
    if state.missing:
        missing = ", ".join(state.missing)
        yield Check("schema", "problem", f"not there or not ready: {missing}; see schema/ of the package")
    else:
        yield Check("schema", "ok", "all indexes and constraints are there")
    yield _clock(state.now / 1_000_000 - mine)


def _clock(difference: float) -> Check:
    text = f"{difference:+.1f} s from this machine's"
    if abs(difference) > _CLOCK_SECONDS:
        return Check("store's clock", "advice", f"{text}; set both by NTP, or times are hard to compare")
    return Check("store's clock", "ok", text)


def _versions() -> Check:
    ours, python = version("stello-graph"), platform.python_version()
    return Check("versions", "ok", f"stello-graph {ours}, Python {python}, {platform.system()}")


def _unknown_variables() -> Iterator[Check]:
    known = {variable(name) for name in Settings.model_fields}
    for name in sorted(os.environ):
        if name.startswith("STELLO_") and name not in known:
            yield Check("variables", "advice", f"{name} is no setting")


def _model(settings: Settings) -> Iterator[Check]:
    try:
        llm = open_llm(settings)
    except InvalidInput as error:
        yield Check("model", "problem", error.message)
        return
    if llm.is_offline:
        hint = "offline: it only quotes; set ANTHROPIC_API_KEY or STELLO_MODEL_PROVIDER for a real one"
        yield Check("model", "advice", hint)
    else:
        provider = type(llm).__name__.removesuffix("LLM").lower()
        yield Check("model", "ok", f"{provider}, {llm.default_model}, with what it needs")


def _tools(settings: Settings) -> Iterator[Check]:
    if settings.tools:
        try:
            count = len(load_tools(settings.tools))
            yield Check("tools", "ok", f"{count} of {', '.join(settings.tools)}")
        except InvalidInput as error:
            yield Check("tools", "problem", error.message)


def _times(settings: Settings) -> Iterator[Check]:
    if settings.lease_seconds < 3 * settings.renew_seconds:
        yield Check("times", "advice", "STELLO_LEASE_SECONDS should be 3 × STELLO_RENEW_SECONDS at least")


def _access(settings: Settings, in_use: bool) -> Check:
    if settings.bootstrap_key is not None:
        return Check("access", "ok", "by key; STELLO_BOOTSTRAP_KEY is ADMIN of the Space default")
    if in_use:
        return Check("access", "ok", "by key")
    only = "this machine only, until there is a key"
    if settings.host in ("127.0.0.1", "localhost", "::1"):
        return Check("access", "ok", only)
    return Check(
        "access", "advice", f"{only}, though STELLO_HOST is {settings.host}: stello-graph keys create"
    )


def _disk(path: Path) -> Check:
    folder = path.absolute().parent
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    text = f"{free // _MEBIBYTE:,} MiB free at {folder}"
    if free < _LEAST_FREE:
        return Check("disk", "problem", f"{text}: writes will fail soon")
    return Check("disk", "advice" if free < _LITTLE_FREE else "ok", text)


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return name.upper() if name.upper() in _VARIABLES else f"STELLO_{name.upper()}"


def _origin(settings: Settings, name: str, flags: Mapping[str, object]) -> str:
    if flags.get(name) is not None:
        return "flag"
    return "variable" if name in settings.model_fields_set else "default"


def _shown(value: object) -> str:
    if isinstance(value, SecretStr):
        return "**********"
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    if isinstance(value, str) and "://" in value:
        return without_password(value)
    return "" if value is None else str(value)

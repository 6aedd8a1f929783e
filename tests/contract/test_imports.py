"""Imports go one way, each foreign library has one home, and no module grows too big."""

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Final

import pytest

import stello_graph

ROOT: Final = Path(stello_graph.__file__).parent
PACKAGE: Final = "stello_graph"
MODULES: Final = sorted(ROOT.rglob("*.py"))

# From the bottom up; a layer sees those before it. Layers in one tuple do not see each other.
LAYERS: Final = (
    ("errors",),
    ("ids", "outliving", "settings"),
    ("model",),
    ("ports",),
    ("session", "store", "llm", "interchange"),
    ("forest",),
    ("demo",),
    ("service",),
    ("tools", "logs", "tracing"),
    ("graphql",),
    ("http",),
    ("bootstrap",),
    ("listening",),
    ("serving", "doctor"),
    ("workers",),
    ("terminal", "outfile"),
    ("cli_access",),
    ("cli",),
    ("",),
)
PLUGGED_IN: Final = {"store", "llm", "interchange"}
PLUGS: Final = {"ports", "model", "errors", "ids", "outliving"}
SEES_PLUGGED_IN: Final = {
    "store": {"bootstrap", "doctor"},
    "llm": {"bootstrap"},
    "interchange": {"cli", "http", "service"},
}
HOMES: Final = {
    "neo4j": {"store/neo4j.py"},
    "sqlite3": {"store/sqlite.py", "store/queries.py"},
    "anthropic": {f"llm/anthropic{part}.py" for part in ("", "_blocks", "_errors", "_form", "_reply")},
    "openai": {"llm/openai.py"},
    "uvicorn": {"serving.py"},
    "strawberry": {"graphql/", "http/", "bootstrap.py"},
    "starlette": {"http/", "bootstrap.py"},
    "typer": {"cli.py", "cli_access.py", "terminal.py"},
    "opentelemetry": {"tracing.py"},
    "prometheus_client": {"http/metrics.py"},
    "yaml": {"forest/skill_folders.py"},
}
# What other libraries look for by themselves.
UNIMPORTED: Final = {"httptools", "neo4j-rust-ext", "uvloop", "websockets"}
UNKNOWN_TO_A_SESSION: Final = {
    "topology",
    "forest",
    "fork",
    "Fork",
    "Topology",
    "StarMap",
    "SpaceStore",
    "Digest",
}


@dataclass(frozen=True)
class Import:
    path: Path
    line: int
    module: str
    names: tuple[str, ...]

    @property
    def where(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}"

    @property
    def layer(self) -> str:
        return layer_of(self.path)

    @property
    def target(self) -> str | None:
        """The layer that is imported, None for a foreign module."""
        first, *rest = self.module.split(".")
        if first != PACKAGE:
            return None
        return rest[0] if rest else ""


def layer_of(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0].removesuffix(".py")
    return "" if first in ("__init__", "__main__") else first


def imports(path: Path) -> Iterator[Import]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            yield Import(path, node.lineno, node.module or "", tuple(alias.name for alias in node.names))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(path, node.lineno, alias.name, ())


ALL: Final = [one for path in MODULES for one in imports(path)]


def test_every_module_has_a_layer() -> None:
    """A new package finds its place in the order before it is used."""
    layers = {layer for level in LAYERS for layer in level}

    assert {layer_of(path) for path in MODULES} <= layers


def test_imports_go_one_way() -> None:
    """A layer imports itself and what is below it."""
    height = {layer: number for number, level in enumerate(LAYERS) for layer in level}
    wrong = [
        f"{one.where} imports {one.module}"
        for one in ALL
        if one.target is not None and one.target != one.layer and height[one.target] >= height[one.layer]
    ]

    assert wrong == []


def test_what_is_plugged_in_sees_the_ports_only() -> None:
    """Store, models and file formats see ports, values, ids and errors, and never each other."""
    wrong = [
        f"{one.where} imports {one.module}"
        for one in ALL
        if one.layer in PLUGGED_IN and one.target is not None and one.target not in PLUGS | {one.layer}
    ]

    assert wrong == []


def test_who_sees_what_is_plugged_in() -> None:
    """Engines and models are constructed at the composition root alone."""
    wrong = [
        f"{one.where} imports {one.module}"
        for one in ALL
        if one.target in PLUGGED_IN
        and one.layer != one.target
        and one.layer not in SEES_PLUGGED_IN[one.target]
    ]

    assert wrong == []


@pytest.mark.parametrize("library", HOMES)
def test_foreign_libraries_have_a_home(library: str) -> None:
    """A driver, a model's SDK or a framework is imported where it belongs and nowhere else."""
    wrong = [
        one.where
        for one in ALL
        if one.module.split(".")[0] == library
        and not str(one.path.relative_to(ROOT)).startswith(tuple(HOMES[library]))
    ]

    assert wrong == []


def test_a_session_knows_no_other() -> None:
    """The session layer knows no topology, fork or scheduler."""
    wrong = [
        f"{one.where} imports {part}"
        for one in ALL
        if one.layer == "session"
        for part in (*one.module.split("."), *one.names)
        if any(word.lower() in part.lower() for word in UNKNOWN_TO_A_SESSION)
    ]

    assert wrong == []


def test_values_do_no_io() -> None:
    """Values import nothing that reaches outside."""
    outside = {"asyncio", "os", "pathlib", "socket", "sqlite3", "neo4j", "httpx", "logging", "time"}
    wrong = [one.where for one in ALL if one.layer == "model" and one.module.split(".")[0] in outside]

    assert wrong == []


def test_all_that_is_required_is_imported() -> None:
    """A dependency that nothing imports any more is none."""
    project = tomllib.loads((ROOT.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = {re.match(r"[\w-]+", line)[0] for line in project["dependencies"]}  # type: ignore[index]
    distributions = packages_distributions()
    found = {name for one in ALL for name in distributions.get(one.module.split(".")[0], ())}
    imported = {name.replace("_", "-").lower() for name in found}

    assert required - imported == UNIMPORTED


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_are_small(path: Path) -> None:
    """A module of more than 400 lines is two."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400

"""The documentation lists what there is, and its examples run."""

import json
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from graphql import DocumentNode, FieldNode, OperationDefinitionNode, build_schema, parse, validate
from starlette.testclient import TestClient

import stello_graph
from stello_graph.cli import app
from stello_graph.errors import ErrorCode
from stello_graph.graphql.schema import sdl
from stello_graph.ports import SpaceStore
from stello_graph.service.graph import SpaceService
from stello_graph.settings import Settings
from stello_graph.store.migrations import schema_script

ROOT = Path(__file__).parent.parent.parent


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_each_setting_is_documented() -> None:
    text = read("docs/settings.md")
    for name, field in Settings.model_fields.items():
        variable = (
            f"`{name.upper()}`" if name.startswith(("anthropic_", "openai_")) else f"`STELLO_{name.upper()}`"
        )
        assert variable in text, variable
        assert field.description, name


def test_each_command_is_documented() -> None:
    text = read("docs/settings.md")
    for command in app.registered_commands:
        name = str(command.name or getattr(command.callback, "__name__", ""))
        assert f"`stello-graph {name}" in text, name
    for group in app.registered_groups:
        for command in group.typer_instance.registered_commands if group.typer_instance else ():
            assert f"`stello-graph {group.name} {command.name}" in text, command.name


def test_each_error_code_is_documented() -> None:
    text = read("docs/api.md")
    for code in ErrorCode:
        assert f"`{code}`" in text, code


def test_the_calls_that_replace_the_predecessors_are_there() -> None:
    schema = build_schema(sdl())
    roots = (schema.query_type, schema.mutation_type, schema.subscription_type)
    fields = {name for root in roots if root for name in root.fields}
    table = read("docs/migration.md").partition("## Its calls and ours")[2]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 20
    for _, ours, python in rows:
        assert set(re.findall(r"`(\w+)", ours)) <= fields, ours
        for owner, name in re.findall(r"`(store\.)?(\w+)`", python):
            assert name == "select" or hasattr(SpaceStore if owner else SpaceService, name), python


@pytest.mark.parametrize("name", ["codegen.yml", "client.ts", "main.ts"])
def test_the_client_is_shown_as_it_is(name: str) -> None:
    """What tests/e2e/test_javascript_client.py runs."""
    shown = re.search(rf"<!-- {re.escape(name)} -->\n```\w+\n(.*?)```", read("docs/clients.md"), re.DOTALL)
    assert shown
    assert shown[1] == read(f"examples/client/{name}")


def test_the_shell_asks_with_an_operations_own_fragments(tmp_path: Path) -> None:
    shown = re.search(r"<!-- ask.py -->\n```python\n(.*?)```", read("docs/clients.md"), re.DOTALL)
    assert shown
    (tmp_path / "ask.py").write_text(shown[1], encoding="utf-8")
    asked = [str(ROOT / "docs" / "operations.graphql"), "TopologyEvents", '{"after": 0}']
    body = json.loads(subprocess.check_output([sys.executable, tmp_path / "ask.py", *asked], timeout=60))
    assert body["variables"] == {"after": 0}
    assert validate(build_schema(sdl()), parse(body["query"])) == []
    names = re.findall(r"^(?:fragment|subscription) (\w+)", body["query"], re.MULTILINE)
    assert sorted(names) == ["TopologyEventFields", "TopologyEvents", "TopologyNodeFields"]


def test_the_app_under_a_prefix_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first block of docs/embedding.md: each Viewer's Space is there, a stranger is refused."""
    monkeypatch.chdir(tmp_path)
    shown = re.search(r"```python\n(.*?)```", read("docs/embedding.md"), re.DOTALL)
    assert shown
    names: dict[str, Any] = {}
    exec(shown[1], names)
    question = {"query": "{ me { spaceId } space { name } }"}
    with TestClient(names["app"]) as client:
        known = client.post("/ai/graphql", json=question, headers={"x-team-token": "ada-secret"})
        assert known.json()["data"] == {"me": {"spaceId": "red"}, "space": {"name": "Red"}}
        assert client.post("/ai/graphql", json=question).status_code == 401


def test_what_is_stored_is_exported_or_not() -> None:
    """Of each column the documentation says whether an export has it."""
    stored: dict[str, set[str]] = {}
    for line in read("docs/interchange.md").split("## What is stored")[1].splitlines():
        named, _, columns = line.split("|")[1].partition(":") if line.startswith("| `") else ("", "", "")
        for table in re.findall("`([a-z_]+)`", named):
            stored.setdefault(table, set()).update(re.findall(r"`(\w+)`", columns))
    with sqlite3.connect(":memory:") as connection:
        for statement in schema_script("sql", "schema"):
            connection.execute(statement)
        names = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB '*search_index*'"
        )
        tables = {
            name: {row[1] for row in connection.execute(f"PRAGMA table_info({name})")} for (name,) in names
        }

    assert stored.keys() == tables.keys()
    for table, told in stored.items():
        assert told == set() or told | {"spaceId"} == tables[table] | {"spaceId"}, table


def test_links_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/*.md")]:
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert "://" in link or (page.parent / link).exists(), f"{page}: {link}"


def test_public_names_are_the_exported_ones() -> None:
    for name in stello_graph.__all__:
        assert getattr(stello_graph, name).__doc__, name
    assert sorted(stello_graph.__all__) == stello_graph.__all__


@pytest.mark.parametrize("example", sorted(path.name for path in (ROOT / "examples").glob("[!e]*.py")))
def test_examples_run(example: str) -> None:
    """All that end; those that serve (`embed_*.py`) are asked by tests/e2e/test_embedding.py."""
    done = subprocess.run(
        [sys.executable, "-W", "error", ROOT / "examples" / example],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_documented_operations_are_valid() -> None:
    schema = build_schema(sdl())
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    blocks = re.findall(r"```graphql\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 10
    for block in blocks:
        for definition in parse(block).definitions:
            assert validate(schema, DocumentNode(definitions=(definition,))) == [], block


def test_operations_to_copy_cover_the_schema() -> None:
    """Each field of Query, Mutation and Subscription; tests/e2e/test_front_end.py asks them all."""
    schema = build_schema(sdl())
    document = parse(read("docs/operations.graphql"))
    assert validate(schema, document) == []
    used: dict[str, set[str]] = {}
    for definition in document.definitions:
        if isinstance(definition, OperationDefinitionNode):
            (field,) = definition.selection_set.selections
            assert isinstance(field, FieldNode)
            used.setdefault(definition.operation.value, set()).add(field.name.value)
    roots = {
        "query": schema.query_type,
        "mutation": schema.mutation_type,
        "subscription": schema.subscription_type,
    }
    assert used == {kind: set(root.fields) for kind, root in roots.items() if root}

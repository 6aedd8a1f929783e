from collections.abc import Iterator
from pathlib import Path

import pytest

from stello_graph.store import queries
from stello_graph.store.migrations import migrations, schema_script
from stello_graph.store.queries import Query, QueryFileError, load, named, parse, split_statements

CYPHER = """\
// purpose: Finds
//   things.
// access: read
// params: key, first
// returns: key, session.*
MATCH (n {key: $key}) // with $comment
WHERE n.text <> '$text' AND n.`$name` = "$other"
RETURN collect(n) AS rows LIMIT $first
"""
SQL = """\
-- purpose: Changes things.
-- access: write
-- params: key, op
-- returns: key, tags
-- json: tags
-- unused: op
UPDATE thing SET at = '12:30', -- :comment;
  text = 'it''s :key; --' WHERE key = :key;
SELECT key, tags FROM thing WHERE key = :key;
"""


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


def test_cypher() -> None:
    """A file gives a query: name, access, parameters, rows, and one statement."""
    parsed = parse("a/b", CYPHER, "cypher")

    assert parsed.query == Query("a/b", "read", frozenset({"key", "first"}), ("key", "session.*"))
    assert parsed.statements == (CYPHER[CYPHER.index("MATCH") :].strip(),)
    assert parsed.json_fields == frozenset()


def test_sql() -> None:
    """A file of SQL may hold several statements, fields of JSON, and parameters that it does not use."""
    parsed = parse("a/b", SQL, "sql")

    assert parsed.query == Query("a/b", "write", frozenset({"key", "op"}), ("key", "tags"))
    assert [statement.split()[0] for statement in parsed.statements] == ["UPDATE", "SELECT"]
    assert parsed.json_fields == frozenset({"tags"})


def test_shared() -> None:
    """A query may say that reads of it are asked together; one without keys may not."""
    said = changed(CYPHER, "// returns", "// shared: keys\n// returns")

    assert not parse("a/b", CYPHER, "cypher").query.is_shared
    assert parse(
        "a/b", said.replace("key, first", "keys, first").replace("$key}", "$keys}"), "cypher"
    ).query.is_shared
    for wrong in (said, changed(said, "shared: keys", "shared: all")):
        with pytest.raises(QueryFileError, match="shared is keys"):
            parse("a/b", wrong, "cypher")


def test_no_parameters() -> None:
    """A query without parameters says so."""
    text = "// purpose: One.\n// access: read\n// params: none\n// returns: one\nRETURN [{one: 1}] AS rows"

    assert parse("one", text, "cypher").query.params == frozenset()


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("// params: key, first", "// params: key", "parameters differ: first"),
        ("// params: key, first", "// params: key, first, more", "parameters differ: more"),
        ("// params: key, first\n", "", "lacks 'params'"),
        ("// access: read\n", "", "lacks 'access'"),
        ("// returns: key, session.*\n", "", "lacks 'returns'"),
        ("// access: read", "// access: both", "access read or write"),
        ("// purpose: Finds\n//   things.\n", "", "needs a purpose"),
        ("// purpose: Finds", "// Finds", "starts with a field"),
        (CYPHER[CYPHER.index("MATCH") :], "", "no statement"),
    ],
)
def test_a_file_that_is_wrong(old: str, new: str, reason: str) -> None:
    """A file that does not say what it must is named, with the reason."""
    with pytest.raises(QueryFileError, match=rf"^a/b(?:\.cypher)?: .*{reason}"):
        parse("a/b", changed(CYPHER, old, new), "cypher")


def test_unused_in_sql() -> None:
    """A parameter that SQL has no use for is declared as such, or refused."""
    with pytest.raises(QueryFileError, match=r"^a/b\.sql: .*differ: op"):
        parse("a/b", changed(SQL, "-- unused: op\n", ""), "sql")


def test_an_unknown_name() -> None:
    """A query that does not exist is refused, with the engines that lack it."""
    with pytest.raises(QueryFileError, match="nothing/here: missing in cypher, sql"):
        named("nothing/here")


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Query files of one's own."""
    monkeypatch.setattr(queries, "folder", lambda language: tmp_path / language)
    load.cache_clear()
    named.cache_clear()
    for language in ("cypher", "sql"):
        (tmp_path / language / "things").mkdir(parents=True)
    yield tmp_path
    load.cache_clear()
    named.cache_clear()


def write(folder: Path, language: str, text: str) -> None:
    (folder / language / "things" / f"change.{language}").write_text(text)


def test_an_engine_that_lacks_a_query(folders: Path) -> None:
    """A query must exist for every engine."""
    write(folders, "sql", SQL)

    with pytest.raises(QueryFileError, match="things/change: missing in cypher"):
        named("things/change")


def test_engines_that_differ(folders: Path) -> None:
    """A query must be the same for every engine."""
    write(folders, "sql", SQL)
    write(folders, "cypher", changed(CYPHER, "session.*", "tags"))

    with pytest.raises(QueryFileError, match="things/change: cypher and sql declare different interfaces"):
        named("things/change")


def test_a_wrong_file_among_others(folders: Path) -> None:
    """A wrong file is found when the files are loaded, and named."""
    write(folders, "sql", changed(SQL, "-- access: write\n", ""))

    with pytest.raises(QueryFileError, match=r"things/change\.sql"):
        load("sql")


def test_schema_and_migrations_are_no_queries() -> None:
    """Files of the schema are not queries."""
    assert not [name for name in load("sql") if name.startswith(("schema", "migrations"))]


def test_statements() -> None:
    """A script is split at its semicolons, those inside of strings and triggers left alone."""
    script = "A 'x;y';\nCREATE TRIGGER t AFTER DELETE ON a\nBEGIN\n  DELETE FROM b;\nEND;\nB\n"

    assert list(split_statements(script)) == [
        "A 'x;y';",
        "CREATE TRIGGER t AFTER DELETE ON a\nBEGIN\n  DELETE FROM b;\nEND;",
        "B",
    ]


def test_migrations_are_in_order() -> None:
    """Migrations are numbered upwards from 1 and named after their files."""
    for language in ("cypher", "sql"):
        steps = migrations(language)
        versions = [step.version for step in steps]
        assert versions == sorted(set(versions))
        assert versions[0] == 1
        assert all(step.name.startswith(f"{step.version:04}_") and step.statements for step in steps)


def test_comments_are_no_statements() -> None:
    """A script's comments are not run."""
    (statement,) = schema_script("cypher", "await")

    assert statement.startswith("CALL")

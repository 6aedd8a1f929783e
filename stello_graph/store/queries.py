"""Named queries, read from files.

A query is a file below `cypher/` and a file of the same path below `sql/`; the path is its name.
A file starts with a header of comment lines:

    purpose:  what it is for, one line or more
    access:   read or write
    params:   the names of its parameters, or none; one whose name starts with `columns` is a list of the
              properties that are listed of each thing, in that order (SQLite takes them into the text)
    texts:    many, where its rows may hold long texts of people and models: such a read is bounded for an
              answer; else left out
    shared:   keys, where reads that differ in nothing else may be asked as one: each key has one row at most,
              whose field `key` tells it; else left out
    returns:  the fields of a row; `session.*` means all properties of a session
    json:     (sql only) fields that hold JSON and are decoded
    unused:   (sql only) parameters that this engine has no use for, such as lock tokens

A Cypher file is one statement that returns all its rows as one list named `rows`, since the driver
pays for each record. An SQL file may hold several statements; the last one returns the rows.
"""

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

__all__ = ["Query", "QueryFileError", "QueryText", "folder", "load", "named", "parse"]

Language = Literal["cypher", "sql"]

_HEADER = re.compile(r"(?://|--) ?(?:(purpose|access|params|texts|shared|returns|json|unused):)?(.*)")
_NOT_CODE = re.compile(r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|//[^\n]*|--[^\n]*")
_PARAM = {"cypher": re.compile(r"\$(\w+)"), "sql": re.compile(r"(?<![:\w]):(\w+)")}


class QueryFileError(Exception):
    """A query file does not say what it must; the message names file and reason."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query by name, the same for every engine.

    Attributes:
        has_texts: its rows may hold many long texts.
        is_shared: reads that differ in their keys alone may be asked as one.
    """

    name: str
    access: Literal["read", "write"]
    params: frozenset[str]
    returns: tuple[str, ...]
    has_texts: bool = False
    is_shared: bool = False


@dataclass(frozen=True, slots=True)
class QueryText:
    """What one engine runs for a query. `json_fields` are decoded by the engine."""

    query: Query
    statements: tuple[str, ...]
    json_fields: frozenset[str]


def folder(language: Language) -> Path:
    """The folder of the query files: inside the package when installed, else beside it."""
    packaged = Path(str(files("stello_graph"))) / language
    return packaged if packaged.is_dir() else packaged.parent.parent / language


@cache
def load(language: Language) -> dict[str, QueryText]:
    """All queries of one language by name.

    Raises:
        QueryFileError: a header is incomplete, or declared and used parameters differ.
    """
    root = folder(language)
    found = {}
    for path in sorted(root.rglob(f"*.{language}")):
        name = path.relative_to(root).with_suffix("").as_posix()
        if name.split("/")[0] not in ("schema", "migrations"):
            found[name] = parse(name, path.read_text(encoding="utf-8"), language)
    return found


@cache
def named(name: str) -> Query:
    """The query called `name`, checked to exist for every engine with the same interface.

    Raises:
        QueryFileError: an engine lacks it, or the engines' headers differ.
    """
    texts = {language: load(language).get(name) for language in ("cypher", "sql")}
    cypher, sql = texts["cypher"], texts["sql"]
    if cypher is None or sql is None:
        raise QueryFileError(f"{name}: missing in {', '.join(k for k, v in texts.items() if v is None)}")
    if cypher.query != sql.query:
        raise QueryFileError(f"{name}: cypher and sql declare different interfaces")
    return cypher.query


def parse(name: str, text: str, language: Language) -> QueryText:
    """Reads one query file."""
    header, body = _split_header(name, text)
    try:
        access, params, returns = header["access"], _names(header["params"]), _names(header["returns"])
    except KeyError as missing:
        raise QueryFileError(f"{name}.{language}: the header lacks {missing}") from None
    if access not in ("read", "write") or not header.get("purpose"):
        raise QueryFileError(f"{name}.{language}: the header needs a purpose, and access read or write")
    used = {*_PARAM[language].findall(_NOT_CODE.sub("", body)), *_names(header.get("unused", "none"))}
    if used != set(params):
        wrong = ", ".join(sorted(used ^ set(params)))
        raise QueryFileError(f"{name}.{language}: declared and used parameters differ: {wrong}")
    texts = header.get("texts")
    if texts is not None and (texts != "many" or access != "read"):
        raise QueryFileError(f"{name}.{language}: texts is many, of a read, or left out")
    kind: Literal["read", "write"] = "read" if access == "read" else "write"
    shared = header.get("shared")
    if shared is not None and (shared != "keys" or "keys" not in params or access != "read"):
        raise QueryFileError(f"{name}.{language}: shared is keys, of a read that has them, or left out")
    query = Query(
        name,
        kind,
        frozenset(params),
        tuple(returns),
        has_texts=texts is not None,
        is_shared=shared is not None,
    )
    statements = (body.strip().rstrip(";"),) if language == "cypher" else tuple(split_statements(body))
    return QueryText(query, statements, frozenset(_names(header.get("json", "none"))))


def split_statements(sql: str) -> Iterator[str]:
    """The statements of an SQL script, one by one."""
    pending = ""
    for line in sql.splitlines(keepends=True):
        pending += line
        if line.rstrip().endswith(";") and sqlite3.complete_statement(pending):
            yield pending.strip()
            pending = ""
    if pending.strip():
        yield pending.strip()


def _split_header(name: str, text: str) -> tuple[dict[str, str], str]:
    header: dict[str, str] = {}
    field = None
    lines = text.splitlines()
    for number, line in enumerate(lines):
        match = _HEADER.fullmatch(line)
        if match is None:
            return header, "\n".join(lines[number:])
        field = match[1] or field
        if field is None:
            raise QueryFileError(f"{name}: the header starts with a field")
        header[field] = f"{header.get(field, '')} {match[2].strip()}".strip()
    raise QueryFileError(f"{name}: there is no statement")


def _names(text: str) -> list[str]:
    return [] if text == "none" else [part.strip() for part in text.split(",")]

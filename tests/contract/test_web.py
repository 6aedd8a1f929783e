"""What is served of web/: vendored files as the manifest says, pages without foreign addresses."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from graphql import GraphQLEnumType, build_schema, parse, validate
from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from stello_graph.http.assets import web_root
from stello_graph.http.pages import (
    GRAPHIQL_POLICY,
    STAR_MAP_POLICY,
    graphiql_page,
    star_map_page,
    static_mount,
)

WEB = web_root()
VENDOR = WEB / "vendor"
MANIFEST = json.loads((VENDOR / "MANIFEST.json").read_text("utf-8"))["files"]
PAGES = ("graphiql", "star-map")
OURS = sorted(
    path
    for page in PAGES
    for path in (WEB / page).rglob("*")
    if path.suffix in {".html", ".js", ".css", ".svg"}
)
SCHEMA = build_schema((Path(__file__).parents[2] / "schema.graphql").read_text("utf-8"))
TOOLS = re.compile(r"typescript|@types/.*")
FOREIGN = re.compile(
    r"""(?:\b(?:src|href)\s*=|\bimport\b[^;\n]*?|\burl\(|@import)\s*["'(]*\s*(?:https?:)?//""",
    re.IGNORECASE,
)


@pytest.fixture(scope="module", params=["", "/ai"], ids=["at the root", "under a prefix"])
def prefix(request: pytest.FixtureRequest) -> str:
    value: str = request.param
    return value


@pytest.fixture(scope="module")
def client(prefix: str) -> Iterator[TestClient]:
    routes = [Route("/", star_map_page), Route("/graphql", graphiql_page), static_mount()]
    app = Starlette(routes=[Mount(prefix, routes=routes)] if prefix else routes)
    with TestClient(app, follow_redirects=False) as value:
        yield value


def test_manifest_names_every_file_once() -> None:
    names = [entry["file"] for entry in MANIFEST]
    assert sorted(names) == sorted(path.name for path in VENDOR.iterdir() if path.name != "MANIFEST.json")
    assert all(entry["package"] and entry["version"] and entry["licence"] for entry in MANIFEST)


@pytest.mark.parametrize("entry", MANIFEST, ids=[entry["file"] for entry in MANIFEST])
def test_vendored_file_is_unchanged(entry: dict[str, str]) -> None:
    assert hashlib.sha256((VENDOR / entry["file"]).read_bytes()).hexdigest() == entry["sha256"]


def test_manifest_agrees_with_the_pinned_versions() -> None:
    pinned = json.loads((WEB / "package.json").read_text("utf-8"))["devDependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in pinned.values())
    vendored = {entry["package"]: entry["version"] for entry in MANIFEST}
    assert {name: vendored[name] for name in pinned if not TOOLS.fullmatch(name)} == {
        name: version for name, version in pinned.items() if not TOOLS.fullmatch(name)
    }


@pytest.mark.parametrize("folder", ["web", "examples/client", "bench/peer"])
def test_lock_file_names_no_host(folder: str) -> None:
    lock = WEB.parent / folder / "package-lock.json"
    assert not re.search(r"https?://|\"resolved\"", lock.read_text("utf-8"))


def test_every_vendored_script_has_a_licence_file() -> None:
    licensed = {entry["package"] for entry in MANIFEST if entry["file"].startswith("LICENSE.")}
    assert {entry["package"] for entry in MANIFEST} == licensed


@pytest.mark.parametrize("path", OURS, ids=[str(path.relative_to(WEB)) for path in OURS])
def test_our_files_load_nothing_from_elsewhere(path: Path) -> None:
    assert not FOREIGN.search(path.read_text("utf-8"))


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://x/y.js">',
        "<link href=//x/y.css>",
        "import a from 'https://x/y.js'",
        "import('http://x')",
        "import 'https://x'",
        "url(https://x/f.woff)",
        '@import "//x/y.css"',
    ],
)
def test_foreign_addresses_are_recognised(text: str) -> None:
    assert FOREIGN.search(text)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_no_inline_script_and_its_files_exist(page: str) -> None:
    html = (WEB / page / "index.html").read_text("utf-8")
    assert re.findall(r"<script(?![^>]*\bsrc=)", html) == []
    assert re.findall(r"\son\w+\s*=", html) == []
    loaded = re.findall(r'(?:src|href)="static/([^"]+)"', html)
    assert len(loaded) == len(re.findall(r'(?:src|href)="', html)) - 1, (
        "all but the link to the other page are files of ours"
    )
    assert [name for name in loaded if not (WEB / name).is_file()] == []


@pytest.mark.parametrize("page", ["/", "/graphql"])
def test_page_is_served_with_its_policy(client: TestClient, prefix: str, page: str) -> None:
    response = client.get(prefix + page)
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    policy = {"/": STAR_MAP_POLICY, "/graphql": GRAPHIQL_POLICY}[page]
    assert response.headers["content-security-policy"] == policy
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.headers["cache-control"] == "no-cache"
    assert ("vary" in response.headers) == (page == "/graphql")


@pytest.mark.parametrize("policy", [STAR_MAP_POLICY, GRAPHIQL_POLICY], ids=["star map", "GraphiQL"])
def test_policy_allows_no_inline_script_and_no_foreign_origin(policy: str) -> None:
    directives = dict(part.split(" ", 1) for part in policy.split("; "))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == "'self'"
    assert not re.search(r"https?:|\*|unsafe-eval", policy)


def test_the_star_map_writes_no_styles_inline() -> None:
    assert "unsafe-inline" not in STAR_MAP_POLICY


@pytest.mark.parametrize(
    "name", ["/", "/graphql", "/static/graphiql/boot.js", "/static/vendor/graphiql.min.js"]
)
def test_an_unchanged_file_is_not_sent_again(client: TestClient, prefix: str, name: str) -> None:
    first = client.get(prefix + name)
    again = client.get(prefix + name, headers={"If-None-Match": first.headers["etag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")


@pytest.mark.parametrize("page", ["/", "/graphql"])
def test_everything_a_page_needs_is_reachable(client: TestClient, prefix: str, page: str) -> None:
    text = client.get(prefix + page).text
    for name in re.findall(r'(?:src|href)="(static/[^"]+)"', text):
        response = client.get(f"{prefix}/{name}")
        assert response.status_code == 200, name
        assert response.headers["x-content-type-options"] == "nosniff"
        expected = {"js": "javascript", "css": "text/css", "svg": "image/svg+xml"}[name.rsplit(".", 1)[1]]
        assert expected in response.headers["content-type"]


@pytest.mark.parametrize(
    "name",
    [
        "package.json",
        "package-lock.json",
        "vendor.mjs",
        "index.html",
        "graphiql/index.html",
        "graphiql/INDEX.HTML",
        "node_modules/react/package.json",
        ".npmrc",
        ".gitignore",
        "",
        "vendor",
        "vendor/",
        "vendor/../package.json",
        "vendor/%2e%2e/package.json",
        "vendor/..%2fpackage.json",
        "vendor/..%2f..%2fpyproject.toml",
        "vendor/..%5cpackage.json",
        "vendor/%2fetc%2fpasswd",
        "vendor//etc/passwd",
        "vendor/%00",
        "vendor/" + "x" * 5000,
    ],
)
def test_nothing_else_of_web_is_reachable(client: TestClient, prefix: str, name: str) -> None:
    response = client.get(f"{prefix}/static/{name}", follow_redirects=True)
    assert response.status_code == 404


def test_static_files_are_read_only(client: TestClient, prefix: str) -> None:
    assert client.post(f"{prefix}/static/graphiql/boot.js").status_code == 405


IMPORTED = re.compile(r"""^(?:import|export)\b[^;]*?\bfrom\s+'([^']+)'|\bimport\('([^']+)'\)""", re.MULTILINE)
SCRIPTS = sorted((WEB / "star-map").rglob("*.js"))


@pytest.mark.parametrize("path", SCRIPTS, ids=[str(path.relative_to(WEB)) for path in SCRIPTS])
def test_what_a_module_imports_is_there(path: Path) -> None:
    names = [one or other for one, other in IMPORTED.findall(path.read_text("utf-8"))]
    assert [name for name in names if not (path.parent / name).is_file()] == []


def test_each_text_is_in_both_languages_and_in_use() -> None:
    texts = {
        language: re.findall(
            r"^  '([^']+)':", (WEB / "star-map/texts" / f"{language}.js").read_text("utf-8"), re.MULTILINE
        )
        for language in ("en", "zh")
    }
    assert texts["en"] == texts["zh"]
    assert sorted(set(texts["en"])) == sorted(texts["en"])
    code = "".join(path.read_text("utf-8") for path in SCRIPTS if path.parent.name != "texts")
    groups = re.findall(r"\bt\(`([\w.-]+)\$\{", code)
    used = set(re.findall(r"'([a-z]+\.[\w.-]+)'", code))
    unused = [key for key in texts["en"] if key not in used and not key.startswith(tuple(groups))]
    assert unused == []
    asked = set(re.findall(r"\bt\('([^']+)'", code))
    assert asked - set(texts["en"]) == set()


DOCUMENT = re.compile(r"""([`'])((?:(?:query|mutation|subscription)\s+\w+\s*[({]|\{ \w).*?)\1""", re.DOTALL)

CONSTANT = re.compile(r"^const (\w+) = (?:`(.*?)`|([\d_]+));", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", SCRIPTS, ids=[str(path.relative_to(WEB)) for path in SCRIPTS])
def test_what_a_module_asks_fits_the_schema(path: Path) -> None:
    code = path.read_text("utf-8")
    pieces = {name: text or number.replace("_", "") for name, text, number in CONSTANT.findall(code)}
    for _, text in DOCUMENT.findall(code):
        document = re.sub(r"\$\{(\w+)\}", lambda found: pieces[found[1]], text)
        assert validate(SCHEMA, parse(document)) == [], document


def test_each_value_of_the_schema_that_is_shown_has_its_words() -> None:
    texts = (WEB / "star-map/texts/en.js").read_text("utf-8")
    for name, place in (
        ("ErrorCode", "refusal"),
        ("TopologyEventType", "events.is"),
        ("ContextOrigin", "preview.origin"),
        ("Trigger", "space.trigger"),
        ("TopologyStrategy", "space.strategy"),
        ("PromptMode", "space.mode"),
        ("ForkContext", "space.context"),
    ):
        kind = SCHEMA.type_map[name]
        assert isinstance(kind, GraphQLEnumType)
        assert [value for value in kind.values if f"'{place}.{value}'" not in texts] == []


def test_the_welcome_text_fits_the_schema() -> None:
    script = (WEB / "graphiql" / "boot.js").read_text("utf-8")
    welcome = re.search(r"const WELCOME = `(.*?)`;", script, re.DOTALL)
    assert welcome
    commented = "\n".join(re.findall(r"^#   (.*)$", welcome[1], re.MULTILINE))
    operations = [welcome[1], *re.split(r"\n(?=[{a-z])", commented)]
    assert len(operations) == 6
    for text in operations:
        assert validate(SCHEMA, parse(text)) == [], text

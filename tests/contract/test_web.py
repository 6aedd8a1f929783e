"""What is served of web/: vendored files as the manifest says, pages without foreign addresses."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from graphql import build_schema, parse, validate
from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from stello_graph.http.assets import web_root
from stello_graph.http.pages import CONTENT_SECURITY_POLICY, graphiql_page, home, static_mount

WEB = web_root()
VENDOR = WEB / "vendor"
MANIFEST = json.loads((VENDOR / "MANIFEST.json").read_text("utf-8"))["files"]
OURS = sorted(
    path for path in (WEB / "graphiql").iterdir() if path.suffix in {".html", ".js", ".css", ".svg"}
)
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
    routes = [Route("/", home), Route("/graphql", graphiql_page), static_mount()]
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
    assert {name: vendored[name] for name in pinned} == pinned


def test_lock_file_names_no_host() -> None:
    assert not re.search(r"https?://|\"resolved\"", (WEB / "package-lock.json").read_text("utf-8"))


def test_every_vendored_script_has_a_licence_file() -> None:
    licensed = {entry["package"] for entry in MANIFEST if entry["file"].startswith("LICENSE.")}
    assert {entry["package"] for entry in MANIFEST} == licensed


@pytest.mark.parametrize("path", OURS, ids=[path.name for path in OURS])
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


def test_the_page_has_no_inline_script_and_its_files_exist() -> None:
    html = (WEB / "graphiql" / "index.html").read_text("utf-8")
    assert re.findall(r"<script(?![^>]*\bsrc=)", html) == []
    assert re.findall(r"\son\w+\s*=", html) == []
    loaded = re.findall(r'(?:src|href)="static/([^"]+)"', html)
    assert len(loaded) == len(re.findall(r'(?:src|href)="', html)) - 1, (
        "all but the link to ./ are files of ours"
    )
    assert [name for name in loaded if not (WEB / name).is_file()] == []


def test_page_is_served_with_its_policy(client: TestClient, prefix: str) -> None:
    response = client.get(f"{prefix}/graphql")
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.headers["cache-control"] == "no-cache"
    assert response.headers["vary"] == "Accept"


def test_policy_allows_no_inline_script_and_no_foreign_origin() -> None:
    directives = dict(part.split(" ", 1) for part in CONTENT_SECURITY_POLICY.split("; "))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == "'self'"
    assert not re.search(r"https?:|\*|unsafe-eval", CONTENT_SECURITY_POLICY)


@pytest.mark.parametrize("name", ["/graphql", "/static/graphiql/boot.js", "/static/vendor/graphiql.min.js"])
def test_an_unchanged_file_is_not_sent_again(client: TestClient, prefix: str, name: str) -> None:
    first = client.get(prefix + name)
    again = client.get(prefix + name, headers={"If-None-Match": first.headers["etag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")


def test_everything_the_page_needs_is_reachable(client: TestClient, prefix: str) -> None:
    page = client.get(f"{prefix}/graphql").text
    for name in re.findall(r'(?:src|href)="(static/[^"]+)"', page):
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


def test_home_leads_to_graphiql(client: TestClient, prefix: str) -> None:
    response = client.get(f"{prefix}/")
    assert (response.status_code, response.headers["location"]) == (307, "graphql")
    assert client.get(f"{prefix}/", follow_redirects=True).url.path == f"{prefix}/graphql"


def test_the_welcome_text_fits_the_schema() -> None:
    schema = build_schema((Path(__file__).parents[2] / "schema.graphql").read_text("utf-8"))
    script = (WEB / "graphiql" / "boot.js").read_text("utf-8")
    welcome = re.search(r"const WELCOME = `(.*?)`;", script, re.DOTALL)
    assert welcome
    commented = "\n".join(re.findall(r"^#   (.*)$", welcome[1], re.MULTILINE))
    operations = [welcome[1], *re.split(r"\n(?=[{a-z])", commented)]
    assert len(operations) == 6
    for text in operations:
        assert validate(schema, parse(text)) == [], text

"""Who sees the star map: keys and their scopes; lost connections, prefixes, proxies without WebSockets."""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
import uvicorn
from playwright.sync_api import BrowserContext, Locator, Page, Request, Response, Route, expect
from starlette.applications import Starlette
from starlette.routing import Mount

from stello_graph import Settings, create_app
from tests.browser.console import Console
from tests.browser.faults import serious_faults
from tests.browser.map_server import Ask, MapServer
from tests.browser.routes import route_graphql
from tests.e2e.processes import Store, run, start

pytestmark = pytest.mark.browser

ADMIN: Final = "a-key-of-thirty-two-characters-and-more"
RENAME: Final = (
    "mutation($id: ID!, $label: String!) { updateSession(id: $id, input: {label: $label}) { id } }"
)
# What the browser logs by itself of answers that refuse and of servers that are away.
EXPECTED: Final = re.compile(r"^Failed to load resource: |^WebSocket connection to ")
SOCKETS: Final = {
    "that never open": "constructor() { super(location.origin.replace('http', 'ws') + '/nowhere'); }",
    "that are closed at once": """constructor(...given) {
        super(...given);
        this.addEventListener('open', () => this.close());
    }""",
}


@dataclass(frozen=True)
class Keyed:
    """A server that asks for keys, and some of them."""

    server: MapServer
    reader: str
    reader_id: str
    guest: str
    writer: str
    operator: str


def new_key(store: Store, *args: str) -> str:
    made = run(["keys", "create", "--name", "test", "--store", store.url, *args])
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    folder = tmp_path_factory.mktemp("keyed")
    store = Store(f"sqlite:///{folder / 'map.db'}")
    operator = new_key(store, "--scope", "operator")
    guest = new_key(store, "--scope", "read", "--space", "quiet")
    writer = new_key(store, "--scope", "write", "--space", "quiet")
    process = start(
        store,
        folder / "server.log",
        settings={
            "STELLO_BOOTSTRAP_KEY": ADMIN,
            "STELLO_KEY_SECONDS": "1",
            "STELLO_MAX_IMPORT_BYTES": "1000",
        },
    )
    try:
        process.wait_ready()
        server = MapServer(process)
        with server.client(ADMIN) as ask:
            key = ask('mutation { createApiKey(name: "reader", scope: READ) { secret key { id } } }')
        reader = key["createApiKey"]
        yield Keyed(server, reader["secret"], reader["key"]["id"], guest, writer, operator)
    finally:
        process.close()


@pytest.fixture
def as_admin(keyed: Keyed) -> Iterator[Ask]:
    with keyed.server.client(ADMIN) as ask:
        yield ask


def watched(page: Page, url: str) -> Console:
    seen = Console(url)
    seen.listen(page)
    return seen


def assert_quiet(seen: Console) -> None:
    assert seen.foreign == []
    assert [error for error in seen.errors if not EXPECTED.match(error)] == []


def field(page: Page) -> Locator:
    return page.get_by_label("API key")


def enter(page: Page, key: str) -> None:
    field(page).fill(key)
    field(page).press("Enter")


def forget(page: Page) -> None:
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("button", name="Forget key").click()


def asks_for_map(request: Request) -> bool:
    return "starMap" in (request.post_data or "")


def is_stream(answer: Response) -> bool:
    return "event-stream" in answer.headers.get("content-type", "")


def test_a_key_is_asked_for_once_and_kept_in_the_tab(
    page: Page, context: BrowserContext, keyed: Keyed, as_admin: Ask
) -> None:
    secret = as_admin.session("Behind the gate")
    url = keyed.server.url
    seen = watched(page, url)
    page.goto(f"{url}/#s={secret}")
    expect(field(page)).to_be_focused()
    expect(field(page)).to_have_attribute("type", "password")
    expect(page.get_by_text("stello-graph keys create --name NAME")).to_be_visible()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        assert serious_faults(page) == []
    enter(page, "sk-wrong")
    expect(page.get_by_role("alert")).to_contain_text("does not accept this key")
    expect(field(page)).to_have_value("sk-wrong")
    page.get_by_role("button", name="Show").click()
    expect(field(page)).to_have_attribute("type", "text")
    enter(page, f" {ADMIN} ")
    expect(page).to_have_title("Behind the gate · stello-graph")
    assert set(seen.sent_authorization()[-2:]) == {f"Bearer {ADMIN}"}
    page.reload()
    expect(page).to_have_title("Behind the gate · stello-graph")

    other = context.new_page()
    other.goto(url)
    expect(field(other)).to_have_value("")
    forget(page)
    expect(field(page)).to_have_value("")
    expect(page.get_by_text("Behind the gate")).to_have_count(0)
    expect(page).to_have_title("stello-graph")
    assert ADMIN not in page.evaluate("JSON.stringify([{...sessionStorage}, {...localStorage}])")
    assert_quiet(seen)


def test_another_key_shows_nothing_of_the_space_before(page: Page, keyed: Keyed, as_admin: Ask) -> None:
    as_admin.session("Of the first Space")
    seen = watched(page, keyed.server.url)
    page.goto(keyed.server.url)
    enter(page, ADMIN)
    star = page.get_by_role("treeitem", name="Of the first Space,")
    expect(star).to_be_visible()
    held: list[Route] = []

    def hold(route: Route) -> None:
        if asks_for_map(route.request):
            held.append(route)
        else:
            route.continue_()

    route_graphql(page, hold)
    forget(page)
    enter(page, keyed.guest)
    while len(held) < 1:
        page.wait_for_timeout(20)
    expect(page.get_by_text("Read only", exact=True)).to_be_visible()
    expect(star).to_have_count(0)
    expect(page.locator("canvas")).to_have_attribute("data-selected", "")

    forget(page)
    enter(page, ADMIN)
    while len(held) < 2:
        page.wait_for_timeout(20)
    late, wanted = held
    wanted.continue_()
    expect(star).to_be_visible()
    with page.expect_response(lambda answer: asks_for_map(answer.request)):
        late.continue_()
    as_admin.session("Made after that")
    expect(page.get_by_role("treeitem", name="Made after that,")).to_be_visible()
    expect(star).to_be_visible()
    assert_quiet(seen)


def test_a_reader_sees_all_changes_nothing_and_may_be_shut_out(
    page: Page, keyed: Keyed, as_admin: Ask
) -> None:
    session = as_admin.session("To be read")
    url = keyed.server.url
    seen = watched(page, url)
    page.goto(f"{url}/#s={session}")
    enter(page, keyed.reader)
    expect(page.get_by_role("heading", name="To be read")).to_be_visible()
    expect(page.get_by_text("Read only", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="New session")).to_have_count(0)
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Menu").click()
    expect(page.get_by_role("button", name="Forget key")).to_be_visible()
    expect(page.get_by_role("button", name="Import", exact=True)).to_have_count(0)
    as_admin("mutation($id: ID!) { revokeApiKey(id: $id) { id } }", id=keyed.reader_id)
    expect(field(page)).to_be_visible(timeout=60_000)
    expect(page.get_by_role("alert")).to_contain_text("does not accept this key")
    assert_quiet(seen)


def test_files_that_are_refused(page: Page, keyed: Keyed, tmp_path: Path) -> None:
    (tmp_path / "large.json").write_text(json.dumps(["x" * 5_000_000]))
    (tmp_path / "other.json").write_text('{"what": "else"}')
    seen = watched(page, keyed.server.url)
    page.goto(keyed.server.url)
    enter(page, ADMIN)
    page.get_by_role("button", name="Menu").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Import", exact=True).click()
    chooser.value.set_files([tmp_path / "large.json", tmp_path / "other.json"])
    rows = page.get_by_role("dialog").get_by_role("list").first.locator("> li")
    large, other = rows.nth(0), rows.nth(1)
    expect(large).to_contain_text("The file is larger than this server takes.")
    expect(other).to_contain_text("Nothing in this file can be imported.")
    assert_quiet(seen)


def test_a_reader_of_an_empty_space_is_offered_nothing(page: Page, keyed: Keyed) -> None:
    seen = watched(page, keyed.server.url)
    page.goto(keyed.server.url)
    enter(page, keyed.guest)
    expect(page.get_by_text("There is nothing here yet, and this key can only read.")).to_be_visible()
    expect(page.get_by_role("button", name="Load the demo")).to_have_count(0)
    page.get_by_role("button", name="Read only").click()
    expect(page.get_by_role("dialog", name="Read only")).to_contain_text("and change nothing")
    assert_quiet(seen)


def test_a_writer_may_not_load_the_demo(page: Page, keyed: Keyed) -> None:
    seen = watched(page, keyed.server.url)
    page.goto(keyed.server.url)
    enter(page, keyed.writer)
    expect(page.get_by_role("button", name="Start a session")).to_be_visible()
    expect(page.get_by_role("button", name="Load the demo")).to_have_count(0)
    assert_quiet(seen)


def test_an_operator_sees_no_space(page: Page, keyed: Keyed) -> None:
    seen = watched(page, keyed.server.url)
    page.goto(keyed.server.url)
    enter(page, keyed.operator)
    expect(page.get_by_text("it makes and deletes Spaces")).to_be_visible()
    expect(page.locator("canvas")).to_have_count(0)
    expect(page.get_by_role("button", name="Events")).to_have_count(0)
    assert serious_faults(page) == []
    assert_quiet(seen)


def test_a_server_that_is_away_is_said_and_tried_again(page: Page, tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'map.db'}")
    first = start(store, tmp_path / "first.log")
    first.wait_ready()
    with MapServer(first).client() as ask:
        session = ask.session("Still here")
    seen = watched(page, first.url)
    page.goto(f"{first.url}/#s={session}")
    expect(page).to_have_title("Still here · stello-graph")
    lost = page.get_by_role("status").filter(has_text="Connection lost, trying again…")
    expect(lost).to_have_count(0)
    first.close()
    expect(lost).to_be_visible(timeout=30_000)
    assert serious_faults(page) == []
    expect(page.get_by_role("heading", name="Still here")).to_be_visible()

    second = start(store, tmp_path / "second.log", "--port", first.url.rsplit(":", 1)[1])
    try:
        second.wait_ready()
        with MapServer(second).client() as ask:
            ask(RENAME, id=session, label="Here again")
        expect(lost).to_have_count(0, timeout=60_000)
        expect(page).to_have_title("Here again · stello-graph")
        page.route("**/graphql", lambda route: route.abort())
        page.reload()
        expect(page.get_by_role("alert")).to_contain_text("The server does not answer.")
        page.unroute("**/graphql")
        page.get_by_role("button", name="Try again").click()
        expect(page).to_have_title("Here again · stello-graph")
    finally:
        second.close()
    assert_quiet(seen)


@pytest.mark.parametrize("sockets", SOCKETS)
def test_where_no_socket_serves_changes_come_as_events(
    page: Page, map_server: MapServer, ask: Ask, sockets: str
) -> None:
    seen = watched(page, map_server.url)
    page.add_init_script(f"window.WebSocket = class extends WebSocket {{ {SOCKETS[sockets]} }};")
    page.clock.install()
    session = ask.session("By events")
    page.goto(f"{map_server.url}/#s={session}")
    expect(page).to_have_title("By events · stello-graph")
    with page.expect_response(is_stream):
        pass
    expect(page.get_by_text("Connection lost, trying again…")).to_have_count(0)
    ask(RENAME, id=session, label="Heard of")
    expect(page).to_have_title("Heard of · stello-graph")
    with page.expect_response(is_stream):
        page.clock.fast_forward(46_000)
    ask(RENAME, id=session, label="Heard of again")
    expect(page).to_have_title("Heard of again · stello-graph")
    assert_quiet(seen)


def test_under_a_prefix(page: Page, tmp_path: Path) -> None:
    with host(tmp_path) as url:
        seen = watched(page, f"{url}/ai/")
        page.goto(f"{url}/ai/")
        page.get_by_role("button", name="New session").click()
        page.get_by_role("dialog").get_by_label("Label").fill("Mounted")
        page.keyboard.press("Enter")
        expect(page).to_have_title("Mounted · stello-graph")
        assert page.url.startswith(f"{url}/ai/#s=")
        page.get_by_role("button", name="Menu").click()
        with page.context.expect_page() as opened:
            page.get_by_role("link", name="GraphiQL").click()
        expect(opened.value).to_have_title(re.compile("GraphiQL"))
        assert opened.value.url == f"{url}/ai/graphql"
        assert_quiet(seen)


@contextmanager
def host(folder: Path) -> Iterator[str]:
    """An application that has the service at /ai: this file, run as a script."""
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, __file__, str(folder / "map.db")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])},
    )
    try:
        assert process.stdout
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.terminate()
        process.communicate(timeout=60)


def main(store: str) -> None:
    service = create_app(Settings(store=f"sqlite:///{store}"))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with service.router.lifespan_context(service):
            yield

    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    app = Starlette(routes=[Mount("/ai", service)], lifespan=lifespan)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1])

"""A newcomer's way through the star map: key, demo, talk, fork, look; on each engine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from stello_graph.ids import new_id
from tests.browser.console import Console
from tests.browser.map_server import Ask, MapServer
from tests.e2e.conftest import sqlite_store
from tests.e2e.processes import Store, run, start
from tests.e2e.tasks import forget_keys, forget_tasks
from tests.engines import SQLITE, OpenServer
from tests.neo4j_server import credentials

QUIET: Final = "Ideas for next spring"

pytestmark = [pytest.mark.browser, pytest.mark.parametrize("engine", ["sqlite", "neo4j"], indirect=True)]


@pytest.fixture
def store(engine: str, neo4j_server: OpenServer, tmp_path: Path) -> Iterator[Store]:
    """A store without keys. Of the graph database that all tests share they are forgotten again."""
    if engine == SQLITE:
        yield sqlite_store(tmp_path)
        return
    server = neo4j_server(engine)
    found = Store(server.url, credentials(server))
    forget_tasks(found)
    yield found
    forget_keys(found)


@pytest.fixture
def key(store: Store) -> str:
    """The key of a new Space."""
    space = f"path-{new_id()}".lower().replace("_", "-")
    done = run(
        ["keys", "create", "--space", space, "--name", "newcomer", "--scope", "admin", "--store", store.url],
        store.environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def server(store: Store, key: str, tmp_path: Path) -> Iterator[MapServer]:
    process = start(store, tmp_path / "server.log")
    try:
        process.wait_ready()
        yield MapServer(process)
    finally:
        process.close()


def test_from_the_key_to_a_fork(page: Page, server: MapServer, key: str) -> None:
    seen = Console(server.url)
    seen.listen(page)
    page.goto(server.url + "/")
    page.get_by_label("API key", exact=True).fill(key)
    page.keyboard.press("Enter")

    page.get_by_role("region", name="No sessions yet").get_by_role("button", name="Load the demo").click()
    list_ = page.get_by_role("tree")
    # A graph database plans each query at its first use, which takes a cold one its time.
    expect(page.get_by_text("The demo has")).to_be_visible(timeout=180_000)
    expect(list_.get_by_role("treeitem", name="Whale Bay")).to_be_visible()
    with server.client(key) as ask:
        count = sessions(ask)
        assert count > 20

        page.keyboard.press("/")
        page.keyboard.type(QUIET)
        page.get_by_role("option").filter(has_text=QUIET).first.click()
        field = page.get_by_label("Message", exact=True)
        field.fill("Which hydrophone hears a porpoise?")
        page.keyboard.press("Enter")
        reply = page.locator(".message").last
        expect(reply).to_contain_text("offline")
        expect(page.get_by_role("button", name="Stop")).to_have_count(0)

        page.get_by_role("button", name="Fork…").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name of the fork").fill("A second thought")
        dialog.get_by_text("The messages", exact=True).click()
        dialog.get_by_role("button", name="Fork", exact=True).click()
        expect(page.get_by_role("complementary")).to_contain_text("A second thought")
        expect(page.locator(".message.user").filter(has_text="Which hydrophone")).to_have_count(1)
        expect(list_.get_by_role("treeitem", name="A second thought")).to_be_visible()
        assert sessions(ask) == count + 1
    assert seen.foreign == []
    # A browser tells of the refusal that asked for the key.
    assert [error for error in seen.errors if "401" not in error] == []


def sessions(ask: Ask) -> int:
    return int(ask("{ space { sessionCount } }")["space"]["sessionCount"])

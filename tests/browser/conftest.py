from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.console import Console
from tests.browser.map_server import Ask, MapServer
from tests.e2e.processes import Store, start

CHROMIUM_FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)

# A machine that is busy with other tests may stand still for seconds.
expect.set_options(timeout=60_000)


# Not of the session: its event loop would be in the way of the asynchronous tests of other folders.
@pytest.fixture(scope="package")
def browser(chromium_path: Path) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        value = playwright.chromium.launch(executable_path=chromium_path, args=list(CHROMIUM_FLAGS))
        yield value
        value.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser as on a desk, in English."""
    value = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    yield value
    value.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture
def console(page: Page, server: str) -> Iterator[Console]:
    """What `page` said and asked; nothing of it may be an error, or go to another server."""
    value = Console(server)
    value.listen(page)
    yield value
    assert value.foreign == []
    assert value.errors == []


@pytest.fixture(scope="module")
def map_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MapServer]:
    """`stello-graph serve` as a process, on a new SQLite file, with the offline model."""
    folder = tmp_path_factory.mktemp("map")
    process = start(Store(f"sqlite:///{folder / 'map.db'}"), folder / "server.log")
    try:
        process.wait_ready()
        yield MapServer(process)
    finally:
        process.close()


@pytest.fixture
def ask(map_server: MapServer) -> Iterator[Ask]:
    """Asks `map_server` by GraphQL, to prepare what a page is to show."""
    with map_server.client() as client:
        yield client


@pytest.fixture
def star_map(page: Page, map_server: MapServer) -> Iterator[Page]:
    """`page` at the star map of `map_server`; at the end no error was logged and nobody else was asked."""
    seen = Console(map_server.url)
    seen.listen(page)
    page.goto(map_server.url + "/")
    yield page
    assert seen.foreign == []
    assert seen.errors == []

"""The star map in a browser: how soon a large forest is drawn, how smoothly it is dragged, and how soon
a long session opens.

Called by `python -m bench.page [--sizes 20000,100000] [--chromium PATH]`: see README.md.
"""

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any
from urllib.request import Request, urlopen

from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e.processes import PROGRAM, Store, start

_WINDOW = (1280, 800)
_MESSAGES = 20_000
_CREATE = 'mutation { createSession(input: {label: "Long"}) { id } }'
_APPEND = """mutation($id: ID!, $messages: [MessageInput!]!) {
  appendMessages(sessionId: $id, messages: $messages) { id }
}"""
_DRAWN = """
new MutationObserver((_, observer) => {
  const canvas = document.querySelector('canvas[data-stars]');
  if (!canvas || canvas.dataset.stars === '0' || canvas.dataset.paints === '0') return;
  window.drawnAt = performance.now();
  observer.disconnect();
}).observe(document, { subtree: true, childList: true, attributes: true });
"""
_LOADED = """() => {
  const all = performance.getEntriesByType('resource');
  const asked = all.filter(({ name }) => name.endsWith('/graphql'));
  const map = asked.sort((a, b) => b.decodedBodySize - a.decodedBodySize)[0];
  const pages = performance.getEntriesByType('navigation');
  const files = [...pages, ...all.filter((entry) => !asked.includes(entry))];
  const sum = (name) => files.reduce((total, entry) => total + entry[name], 0);
  return { drawn: window.drawnAt, answered: map.responseEnd, answer: map.decodedBodySize,
    files: files.length, weight: sum('decodedBodySize'), sent: sum('encodedBodySize') };
}"""
_OPENED = """(newest) => new Promise((resolve) => {
  const look = () => {
    if (!document.querySelector(`[data-seq="${newest}"]`)) return requestAnimationFrame(look);
    requestAnimationFrame((painted) => resolve(painted - window.clickedAt));
  };
  look();
})"""
_COUNT_FRAMES = """() => {
  window.frames_ = [];
  const count = (now) => { window.frames_.push(now); window.counting = requestAnimationFrame(count); };
  window.counting = requestAnimationFrame(count);
}"""
_FRAMES = "() => { cancelAnimationFrame(window.counting); return window.frames_; }"


@dataclass(frozen=True)
class Drag:
    """How frames came while the map was dragged."""

    fps: float
    longest: float

    def __str__(self) -> str:
        return f"{self.fps:.0f} fps (longest frame {self.longest:.0f} ms)"


def drag(page: Page) -> Drag:
    """Drags the map to and fro for some seconds."""
    box = page.locator("canvas").bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(_COUNT_FRAMES)
    for turn in range(4):
        page.mouse.move(x + (150 if turn % 2 == 0 else -150), y + 60 * turn - 90, steps=60)
    frames: list[float] = page.evaluate(_FRAMES)
    page.mouse.up()
    gaps = [after - before for before, after in pairwise(frames)]
    return Drag(fps=1000 * len(gaps) / sum(gaps), longest=max(gaps))


def ask(url: str, query: str, **variables: Any) -> Any:
    body = json.dumps({"query": query, "variables": variables}).encode()
    request = Request(f"{url}/graphql", body, {"Content-Type": "application/json"})
    with urlopen(request) as answer:
        return json.load(answer)["data"]


def long_session(url: str) -> str:
    """A session of so many messages, each of some lines."""
    id = ask(url, _CREATE)["createSession"]["id"]
    for first in range(1, _MESSAGES, 1_000):
        messages = [
            {
                "role": "USER" if seq % 2 else "ASSISTANT",
                "content": f"Message **{seq}**" + "\n\nand more of it" * (seq % 5),
            }
            for seq in range(first, first + 1_000)
        ]
        ask(url, _APPEND, id=id, messages=messages)
    return str(id)


def opening(browser: Browser, url: str, session: str, rounds: int) -> list[float]:
    """Milliseconds from the address of a session, in a page that has its map, to its newest message drawn."""
    times: list[float] = []
    for _ in range(rounds):
        page = browser.new_page(viewport={"width": _WINDOW[0], "height": _WINDOW[1]})
        page.goto(url)
        page.wait_for_selector('canvas[data-stars]:not([data-paints="0"])', timeout=120_000)
        page.evaluate("id => { window.clickedAt = performance.now(); location.hash = `s=${id}`; }", session)
        times.append(page.evaluate(_OPENED, _MESSAGES))
        page.close()
    return times


def measure(browser: Browser, url: str, rounds: int) -> list[str]:
    """What a page of one server shows, the median of some loads."""
    loads: list[dict[str, Any]] = []
    for _ in range(rounds):
        context = browser.new_context(viewport={"width": _WINDOW[0], "height": _WINDOW[1]})
        page = context.new_page()
        page.add_init_script(_DRAWN)
        page.goto(url)
        page.wait_for_selector('canvas[data-stars]:not([data-paints="0"])', timeout=120_000)
        loads.append(page.evaluate(_LOADED))
        last = len(loads) == rounds
        if last:
            overview = drag(page)
            for _step in range(8):
                page.mouse.wheel(0, -300)
            near = drag(page)
            page.wait_for_timeout(500)
        context.close()

    def middle(name: str) -> float:
        return median(load[name] for load in loads)

    drawing = median(each["drawn"] - each["answered"] for each in loads)
    return [
        f"first draw          {middle('drawn'):.0f} ms after the address was asked for",
        f"  of that           {drawing:.0f} ms after the map's answer ({middle('answer') / 1e6:.1f} MB)",
        f"dragged, all        {overview}",
        f"dragged, near       {near}",
        f"page weight         {middle('weight') / 1e3:.0f} kB in {middle('files'):.0f} files,"
        f" {middle('sent') / 1e3:.0f} kB as sent",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.page", description=__doc__)
    parser.add_argument("--sizes", default="20000,100000", help="sessions (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="loads of a page (default: %(default)s)")
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="default: from PATH")
    arguments = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f}: where it is high, only large differences count")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory(prefix="bench-page-") as folder:
        browser = playwright.chromium.launch(
            executable_path=arguments.chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        for size in map(int, arguments.sizes.split(",")):
            store = Store(f"sqlite:///{Path(folder) / f'{size}.db'}")
            subprocess.run([PROGRAM, "demo", "--size", str(size), "--store", store.url], check=True)
            server = start(store, Path(folder) / f"{size}.log")
            try:
                server.wait_ready()
                lines = measure(browser, server.url, arguments.rounds)
                times = opening(browser, server.url, long_session(server.url), arguments.rounds)
                lines.append(f"{_MESSAGES:,} messages     newest drawn {median(times):.0f} ms after it opens")
                print(f"\n{size:,} sessions", *lines, sep="\n    ", flush=True)
            finally:
                server.close()
        browser.close()


if __name__ == "__main__":
    main()

"""Faults of a page for people who see, hear or move otherwise, as axe-core finds them."""

from importlib.resources import files
from typing import Final

from playwright.sync_api import Page

__all__ = ["serious_faults"]

_AXE: Final = (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
_RUN: Final = """async () => {
    const { violations } = await axe.run(document, { resultTypes: ['violations'] });
    return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .flatMap(({ id, nodes }) => nodes.map((node) => [id, node.target, node.failureSummary].join(' ')));
}"""

_STILL: Final = """() => Promise.all(
    document.getAnimations()
        .filter(({ effect }) => Number.isFinite(effect.getComputedTiming().endTime))
        .map(({ finished }) => finished.catch(() => null)),
).then(() => null)"""


def serious_faults(page: Page) -> list[str]:
    """What axe-core calls serious or critical in what the page shows now, once nothing moves any more."""
    page.evaluate(_STILL)
    if not page.evaluate("'axe' in window"):
        page.evaluate(_AXE)
    found: list[str] = page.evaluate(_RUN)
    return found

"""The panels beside the map, as tests open them."""

from playwright.sync_api import Locator, Page, expect

__all__ = ["is_saved", "opened", "opened_side", "part"]


def opened(page: Page, session: str, tab: str) -> Locator:
    """The panel of a session, opened by what its links and tabs call."""
    page.evaluate(
        "async ([id, tab]) => (await import('./static/star-map/state.js')).open(id, tab)", [session, tab]
    )
    return page.locator("section.panel")


def opened_side(page: Page, name: str) -> Locator:
    """A page about the whole Space."""
    page.evaluate("async (name) => (await import('./static/star-map/state.js')).openSide(name)", name)
    return page.locator("section.panel")


def part(panel: Locator, name: str) -> Locator:
    """A named part of a panel."""
    return panel.get_by_role("region", name=name, exact=True)


def is_saved(form: Locator, button: str = "Save") -> None:
    """Waits until what was sent is stored and read again."""
    save = form.get_by_role("button", name=button)
    expect(save).to_be_disabled()
    expect(save).to_have_attribute("aria-busy", "false")

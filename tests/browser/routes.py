"""What a page that is open already asks, taken by a test."""

from collections.abc import Callable

from playwright.sync_api import Page, Route


def route_graphql(page: Page, handler: Callable[[Route], object]) -> None:
    """Give `handler` all that the open page asks by GraphQL over HTTP from now on."""
    page.route("**/graphql", handler)
    # Chromium tells the page's process of it a moment later; until then requests still pass by.
    page.route("**/healthz?routed", lambda route: route.fulfill(status=204))
    page.wait_for_function("async () => (await fetch('healthz?routed')).status === 204")
    page.unroute("**/healthz?routed")

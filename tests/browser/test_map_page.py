"""The star map's page as a whole."""

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_the_page_opens(star_map: Page) -> None:
    expect(star_map).to_have_title("stello-graph")
    expect(star_map.get_by_role("main")).to_be_attached()

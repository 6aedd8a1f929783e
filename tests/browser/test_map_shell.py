"""The frame of the star map: bar, side pane, dialogs, keys, phones, languages."""

import re
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, ViewportSize, expect

from tests.browser.console import Console
from tests.browser.faults import serious_faults
from tests.browser.map_server import Ask, MapServer
from tests.browser.routes import route_graphql
from tests.unit.interchange.archives import zipped

pytestmark = pytest.mark.browser

EXPORTS: Final = Path(__file__).parents[1] / "fixtures/chatgpt"
PHONE: Final[ViewportSize] = {"width": 390, "height": 844}


def side(page: Page) -> Locator:
    return page.get_by_role("complementary")


def tree(ask: Ask) -> tuple[str, str, str]:
    """A root, its child, and that one's child."""
    root = ask.session("Japan")
    trains = ask.session("Trains", parentId=root)
    return root, trains, ask.session("Kyoto in the rain", parentId=trains)


def test_an_empty_map_says_how_to_begin(star_map: Page, ask: Ask) -> None:
    start = star_map.get_by_role("region", name="No sessions yet")
    for way in ("Start a session", "Load the demo", "Import a file"):
        expect(start.get_by_role("button", name=way)).to_be_visible()
    assert serious_faults(star_map) == []
    start.get_by_role("button", name="Start a session").click()
    expect(star_map.get_by_role("dialog", name="New session")).to_be_visible()
    assert serious_faults(star_map) == []
    star_map.keyboard.press("Escape")
    expect(star_map.get_by_role("dialog")).to_have_count(0)
    expect(start.get_by_role("button", name="Start a session")).to_be_focused()
    start.get_by_role("button", name="Load the demo").click()
    expect(
        star_map.get_by_role("status").filter(has_text=re.compile("The demo has .* sessions"))
    ).to_be_visible()
    expect(start).to_have_count(0)
    expect(star_map.locator("main :focus")).to_have_count(1)
    assert ask("{ space { sessionCount } }")["space"]["sessionCount"] > 20


def test_files_are_imported_by_choice_and_by_drop(star_map: Page, tmp_path: Path) -> None:
    archive = tmp_path / "tools.zip"
    archive.write_bytes(zipped({"conversations-000.json": (EXPORTS / "tools.json").read_bytes()}))
    star_map.get_by_role("button", name="Menu").click()
    with star_map.expect_file_chooser() as chooser:
        star_map.get_by_role("button", name="Import", exact=True).click()
    assert chooser.value.element.get_attribute("accept") == ".json,.jsonl,.zip,.gz"
    chooser.value.set_files([EXPORTS / "branches.json", EXPORTS / "damaged.json", archive])
    dialog = star_map.get_by_role("dialog", name="Import")
    rows = dialog.get_by_role("list").first.locator("> li")
    first, second = rows.nth(0), rows.nth(1)
    expect(rows.nth(2)).to_contain_text(re.compile(r"tools.zip\s*[1-9]\d* sessions? imported"))
    expect(first).to_contain_text(re.compile(r"branches.json\s*[1-9]\d* sessions? imported"))
    expect(second).to_contain_text(re.compile(r"damaged.json\s*[1-9]\d* sessions? imported"))
    second.get_by_text("5 repaired").click()
    assert serious_faults(star_map) == []
    dialog.get_by_role("button", name="Close").last.click()
    menu = star_map.get_by_role("button", name="Menu")
    expect(menu).to_be_focused()
    menu.blur()

    files = star_map.evaluate_handle(
        """text => {
            const files = new DataTransfer();
            files.items.add(new File([text], 'again.json'));
            return files;
        }""",
        (EXPORTS / "branches.json").read_text("utf-8"),
    )
    star_map.dispatch_event("body", "dragover", {"dataTransfer": files})
    expect(star_map.get_by_text("Drop to import")).to_be_visible()
    star_map.dispatch_event("body", "drop", {"dataTransfer": files})
    expect(star_map.get_by_text("Drop to import")).to_have_count(0)
    expect(dialog).to_contain_text(re.compile(r"again.json\s*0 sessions imported"))
    expect(dialog).to_contain_text("there already")
    star_map.dispatch_event("body", "drop", {"dataTransfer": files})
    star_map.keyboard.press("Escape")
    expect(star_map.get_by_role("dialog")).to_have_count(0)
    expect(star_map.locator("main").locator(":focus")).to_have_count(1)


def test_a_file_that_is_refused_says_why(page: Page, map_server: MapServer) -> None:
    """In words of the page, and in the server's."""
    page.goto(map_server.url + "/")
    page.get_by_role("button", name="Menu").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Import", exact=True).click()
    cut_off = zipped({"conversations.json": (EXPORTS / "tools.json").read_bytes()})[:-30]
    chooser.value.set_files({"name": "cut-off.zip", "mimeType": "application/zip", "buffer": cut_off})
    dialog = page.get_by_role("dialog", name="Import")
    expect(dialog).to_contain_text("Nothing in this file can be imported")
    expect(dialog).to_contain_text("the archive is damaged or not whole")


def lose_the_answer(route: Route) -> None:
    """The server makes a session, but nobody hears of it."""
    if "mutation Create" in (route.request.post_data or ""):
        route.fetch()
        route.fulfill(body="", content_type="text/plain")
    else:
        route.continue_()


def test_a_session_is_made_opened_and_closed_by_keys(star_map: Page, ask: Ask) -> None:
    expect(star_map.get_by_role("banner")).to_be_visible()
    before = ask("{ space { sessionCount } }")["space"]["sessionCount"]
    star_map.keyboard.press("N")
    dialog = star_map.get_by_role("dialog", name="New session")
    expect(dialog.get_by_label("Label")).to_be_focused()
    star_map.keyboard.type("A hub")
    dialog.get_by_label("Role").select_option("MAIN")
    dialog.get_by_label("System prompt").fill("Be brief.")
    dialog.get_by_label("Tags").fill("one, two ,")
    route_graphql(star_map, lose_the_answer)
    star_map.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_have_text("The server does not answer.")
    star_map.unroute("**/graphql")
    star_map.keyboard.press("Enter")
    expect(star_map).to_have_title("A hub · stello-graph")
    expect(side(star_map).get_by_text("MAIN")).to_be_visible()
    hub = re.sub(".*#s=", "", star_map.url)
    made = ask("query($id: ID!) { session(id: $id) { role systemPrompt tags strategy } }", id=hub)
    assert made["session"] == {
        "role": "MAIN",
        "systemPrompt": "Be brief.",
        "tags": ["one", "two"],
        "strategy": "FLAT",
    }
    assert ask("{ space { sessionCount } }")["space"]["sessionCount"] == before + 1

    star_map.get_by_role("button", name="New session").click()
    dialog.get_by_label("Below “A hub”").check()
    dialog.get_by_label("Label").fill("A part")
    expect(dialog.get_by_label("Role")).to_have_count(0)
    dialog.get_by_role("button", name="Create").click()
    expect(star_map).to_have_title("A part · stello-graph")
    expect(side(star_map).get_by_role("navigation").get_by_role("button")).to_have_text(["A hub"])

    star_map.keyboard.press("Control+Home")
    star_map.keyboard.press("Escape")
    expect(side(star_map)).to_have_count(0)
    expect(star_map).to_have_title("stello-graph")
    assert "#" not in star_map.url
    expect(star_map.locator("main").locator(":focus")).to_have_count(1)


def test_the_side_pane(star_map: Page, ask: Ask) -> None:
    root, trains, kyoto = tree(ask)
    star_map.goto(f"{star_map.url}#s={kyoto}")
    pane = side(star_map)
    expect(pane.get_by_role("heading", name="Kyoto in the rain")).to_be_visible()
    path = pane.get_by_role("navigation", name="Where it hangs")
    expect(path.get_by_role("button")).to_have_text(["Japan", "Trains"])

    pane.get_by_role("tab", name="Talk").focus()
    for key, name in [
        ("ArrowRight", "Memory"),
        ("End", "Settings"),
        ("ArrowRight", "Talk"),
        ("ArrowLeft", "Settings"),
    ]:
        star_map.keyboard.press(key)
        expect(pane.get_by_role("tab", name=name, selected=True)).to_be_focused()
        expect(pane.get_by_role("tabpanel", name=name)).to_be_visible()

    handle = star_map.get_by_role("separator", name="Width of the side pane")
    handle.press("Home")
    expect(pane).to_have_css("width", "380px")
    handle.press("ArrowLeft")
    expect(pane).to_have_css("width", "404px")
    grip = handle.bounding_box()
    assert grip
    star_map.mouse.move(grip["x"] + 3, 400)
    star_map.mouse.down()
    star_map.mouse.move(780, 400)
    star_map.mouse.up()
    expect(pane).to_have_css("width", "500px")
    star_map.reload()
    expect(pane).to_have_css("width", "500px")
    expect(pane.get_by_role("heading", name="Kyoto in the rain")).to_be_visible()

    pane.get_by_role("tab", name="Memory").click()
    path.get_by_role("button", name="Trains").click()
    expect(star_map).to_have_title("Trains · stello-graph")
    expect(pane.get_by_role("tab", name="Memory", selected=True)).to_be_focused()
    assert star_map.url.endswith(f"#s={trains}")
    for theme in ("light", "dark"):
        star_map.emulate_media(color_scheme=theme)
        for name in ("Talk", "Memory", "Preview", "Settings"):
            pane.get_by_role("tab", name=name).click()
            expect(pane.get_by_role("tabpanel", name=name)).to_be_visible()
            assert serious_faults(star_map) == [], (theme, name)
        for page in ("Events", "Space"):
            star_map.get_by_role("button", name=page, exact=True).click()
            expect(pane.get_by_role("heading", name=page, level=2)).to_be_visible()
            assert serious_faults(star_map) == [], (theme, page)
        star_map.goto(star_map.url + f"#s={root}")
    star_map.get_by_role("button", name="Close", exact=True).click()
    expect(pane).to_have_count(0)
    events = star_map.get_by_role("button", name="Events", exact=True)
    events.click()
    expect(events).to_have_attribute("aria-pressed", "true")
    events.click()
    expect(pane).to_have_count(0)


def test_what_could_not_be_read_is_read_when_the_server_is_back(star_map: Page, ask: Ask) -> None:
    session = ask.session("Missed")
    expect(star_map.get_by_role("banner")).to_be_visible()

    def refuse(route: Route) -> None:
        if "query Head" in (route.request.post_data or ""):
            route.fulfill(body="", content_type="text/plain")
        else:
            route.continue_()

    route_graphql(star_map, refuse)
    star_map.goto(f"{star_map.url}#s={session}")
    expect(star_map.get_by_role("status").get_by_text("The server does not answer.")).to_be_visible()
    star_map.unroute("**/graphql")
    expect(star_map).to_have_title("stello-graph")
    for state in ("lost", "open"):
        star_map.evaluate(
            "async (state) => { (await import('./static/star-map/graphql.js')).connection.value = state; }",
            state,
        )
    expect(star_map).to_have_title("Missed · stello-graph")


def test_a_dialog_may_end_below_another(star_map: Page) -> None:
    expect(star_map.get_by_role("banner")).to_be_visible()
    star_map.evaluate(
        """async () => {
            const { ask } = await import('./static/star-map/shell/dialog.js');
            ask('Lower', (close) => { window.closeLower = close; });
            ask('Upper', () => 'It stays.');
        }"""
    )
    upper = star_map.get_by_role("dialog", name="Upper")
    expect(upper).to_be_visible()
    star_map.evaluate("window.closeLower()")
    expect(star_map.get_by_role("dialog", name="Lower")).to_have_count(0)
    expect(upper).to_contain_text("It stays.")
    star_map.keyboard.press("Escape")
    expect(star_map.get_by_role("dialog")).to_have_count(0)
    star_map.get_by_role("button", name="Menu").press("?")
    expect(star_map.get_by_role("dialog", name="Keyboard")).to_be_visible()


def test_an_address_that_leads_nowhere_is_said(star_map: Page) -> None:
    star_map.goto(star_map.url + "#s=nowhere")
    said = star_map.get_by_role("status").filter(has_text="There is no such session here.")
    expect(said).to_be_visible()
    expect(side(star_map)).to_have_count(0)
    said.get_by_role("button", name="Dismiss").click()
    expect(said).to_have_count(0)


def test_what_changes_elsewhere_shows(star_map: Page, ask: Ask) -> None:
    root, _, kyoto = tree(ask)
    star_map.goto(f"{star_map.url}#s={kyoto}")
    expect(side(star_map).get_by_role("heading", name="Kyoto in the rain")).to_be_visible()
    rename = "mutation($id: ID!, $label: String!) { updateSession(id: $id, input: {label: $label}) { id } }"
    ask(rename, id=kyoto, label="Kyoto in the sun")
    expect(star_map).to_have_title("Kyoto in the sun · stello-graph")
    ask(rename, id=root, label="Nippon")
    expect(side(star_map).get_by_role("navigation").get_by_role("button").first).to_have_text("Nippon")
    ask("mutation($id: ID!) { archiveSession(id: $id) { id } }", id=kyoto)
    expect(side(star_map).get_by_text("Archived", exact=True)).to_be_visible()
    ask("mutation($id: ID!) { deleteSession(id: $id, expectedCount: 3) }", id=root)
    expect(star_map.get_by_role("status").filter(has_text="The open session was deleted.")).to_be_visible()
    expect(side(star_map)).to_have_count(0)


def test_escape_closes_the_topmost_only(star_map: Page, ask: Ask) -> None:
    star_map.goto(f"{star_map.url}#s={ask.session('Open')}")
    pane = side(star_map)
    expect(pane.get_by_role("heading", name="Open")).to_be_visible()
    expect(pane.get_by_role("textbox", name="Message")).to_be_focused()
    star_map.keyboard.press("F6")
    expect(star_map.locator("main").locator(":focus")).to_have_count(1)
    star_map.keyboard.press("F6")
    expect(star_map.locator(".side").locator(":focus")).to_have_count(1)

    menu = star_map.get_by_role("button", name="Menu")
    menu.click()
    expect(star_map.get_by_role("link", name="GraphiQL")).to_have_attribute("href", "graphql")
    assert serious_faults(star_map) == []
    star_map.keyboard.press("Escape")
    expect(star_map.get_by_role("link", name="GraphiQL")).to_be_hidden()
    expect(pane).to_be_visible()
    star_map.get_by_role("button", name="Offline model").click()
    expect(star_map.get_by_role("dialog", name="Offline model")).to_contain_text("Set ANTHROPIC_API_KEY")
    star_map.keyboard.press("Escape")
    # Not by role: it is hidden a moment before it is gone, and takes keys until then.
    expect(star_map.locator("dialog")).to_have_count(0)
    menu.focus()
    star_map.keyboard.press("?")
    expect(star_map.get_by_role("dialog", name="Keyboard")).to_contain_text("From the map to what is open")
    assert serious_faults(star_map) == []
    star_map.keyboard.press("Escape")
    expect(star_map.locator("dialog")).to_have_count(0)
    expect(pane).to_be_visible()
    expect(menu).to_be_focused()
    star_map.keyboard.press("Escape")
    expect(pane).to_have_count(0)


def step(page: Page) -> str | None:
    """By Tab to the next place: its name, as far as it is written on it; None where one was before."""
    page.keyboard.press("Tab")
    name: str | None = page.evaluate(
        """() => {
            const { ariaLabel, innerText, localName, dataset } = document.activeElement;
            if (dataset.walked) return null;
            dataset.walked = 'yes';
            return (ariaLabel || innerText || localName).trim();
        }"""
    )
    return name


def test_tab_goes_round_the_whole_page(star_map: Page, ask: Ask) -> None:
    star_map.goto(f"{star_map.url}#s={ask.session('Round')}")
    expect(side(star_map).get_by_role("heading", name="Round")).to_be_visible()
    seen: list[str] = []
    while (name := step(star_map)) is not None:
        seen.append(name)
    wanted = [
        "New session",
        "Show archived",
        "Events",
        "Space",
        "Keyboard",
        "Menu",
        "Width of the side pane",
        "Talk",
        "Close",
    ]
    assert [name for name in wanted if name not in seen] == []


def test_what_is_chosen_stays(star_map: Page) -> None:
    archived = star_map.get_by_role("button", name="Show archived")
    expect(archived).to_have_attribute("aria-pressed", "true")
    archived.click()
    expect(archived).to_have_attribute("aria-pressed", "false")
    star_map.get_by_role("button", name="Menu").click()
    star_map.get_by_role("radio", name="Dark").check()
    expect(star_map.locator("html")).to_have_css("color-scheme", "dark")
    star_map.get_by_role("radio", name="中文").check()
    expect(star_map.locator("html")).to_have_attribute("lang", "zh-CN")
    star_map.reload()
    expect(star_map.get_by_role("button", name="新建会话")).to_be_visible()
    expect(star_map.locator("html")).to_have_css("color-scheme", "dark")
    expect(star_map.get_by_role("button", name="显示已归档")).to_have_attribute("aria-pressed", "false")


def test_on_a_phone_in_chinese(browser: Browser, map_server: MapServer, ask: Ask) -> None:
    kyoto = tree(ask)[2]
    context = browser.new_context(
        viewport=PHONE, locale="zh-CN", has_touch=True, is_mobile=True, color_scheme="dark"
    )
    page = context.new_page()
    seen = Console(map_server.url)
    seen.listen(page)
    page.goto(f"{map_server.url}/#s={kyoto}")
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    expect(side(page)).to_have_css("width", "390px")
    expect(page.get_by_role("banner").filter(has_text="新建会话")).to_be_hidden()
    assert serious_faults(page) == []
    side(page).get_by_role("button", name="返回星图").tap()
    expect(side(page)).to_have_count(0)
    page.get_by_role("button", name="菜单").tap()
    assert serious_faults(page) == []
    page.get_by_role("button", name="空间", exact=True).tap()
    expect(side(page).get_by_role("heading", name="空间", level=2)).to_be_visible()
    expect(page.get_by_role("button", name="GraphiQL")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert (seen.errors, seen.foreign) == ([], [])
    context.close()

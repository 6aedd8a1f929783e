"""The map itself: by mouse, by keys, by touch, live, and larger than what is loaded."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, ViewportSize, WebSocketRoute, expect

from tests.browser.columns import columns_of
from tests.browser.faults import serious_faults
from tests.browser.map_server import Ask, MapServer

pytestmark = pytest.mark.browser

PHONE: Final[ViewportSize] = {"width": 390, "height": 844}


@dataclass(frozen=True)
class Forest:
    """Trip (MAIN) has Hotel, Food and Flights, Hotel has Cot, forked from Food; 季度总结, Old are roots."""

    trip: str
    hotel: str
    food: str
    flights: str
    cot: str
    quarter: str
    old: str


@pytest.fixture(scope="module")
def forest(map_server: MapServer) -> Iterator[Forest]:
    with map_server.client() as ask:
        trip = ask.session("Trip", role="MAIN")
        hotel, food, flights = (ask.session(name, parentId=trip) for name in ("Hotel", "Food", "Flights"))
        ask.say(food, "The market hall closes at ten.", "Noted?")
        cot = ask.fork(food, "Cot", parentId=hotel)
        quarter = ask.session("季度总结")
        old = ask.session("Old")
        ask("mutation($id: ID!) { archiveSession(id: $id) { id } }", id=old)
        ask("mutation($a: ID!, $b: ID!) { addRef(fromId: $a, toId: $b) { id } }", a=quarter, b=flights)
        yield Forest(trip, hotel, food, flights, cot, quarter, old)


@pytest.fixture
def sky(forest: Forest, star_map: Page) -> Page:
    """The map of `forest`, and of what other tests have added."""
    expect(canvas(star_map)).to_have_attribute("data-stars", str(count_of(star_map)))
    return star_map


def canvas(page: Page) -> Locator:
    return page.get_by_role("application", name="Star map")


def tree(page: Page) -> Locator:
    return page.get_by_role("tree", name="Sessions")


def star(page: Page, name: str) -> Locator:
    """Its line in the list."""
    return tree(page).get_by_role("treeitem", name=f"{name},")


def count_of(page: Page) -> int:
    document = {"query": "{ starMap { nodeCount } }"}
    answer = page.request.post(page.url.split("#")[0] + "graphql", data=document).json()
    return int(answer["data"]["starMap"]["nodeCount"])


def star_at(page: Page, id: str) -> tuple[float, float]:
    """Where it stands in the window, once the map rests."""
    place = canvas(page).evaluate(
        """async (canvas, id) => {
            const frame = () => new Promise(requestAnimationFrame);
            for (let last = null; ; ) {
                const place = canvas.starAt(id);
                if (place && last && place.x === last.x && place.y === last.y) return place;
                last = place;
                await frame(); await frame(); await frame();
            }
        }""",
        id,
    )
    return place["x"], place["y"]


def colour_at(page: Page, id: str) -> list[int]:
    """What is painted at the middle of a star, once three frames pass in which the map is not painted."""
    colour: list[int] = canvas(page).evaluate(
        """async (canvas, id) => {
            const frame = () => new Promise(requestAnimationFrame);
            for (let paints = null; paints !== canvas.dataset.paints; ) {
                paints = canvas.dataset.paints;
                await frame(); await frame(); await frame();
            }
            const box = canvas.getBoundingClientRect(), place = canvas.starAt(id);
            const [x, y] = [place.x - box.left, place.y - box.top].map((at) => at * window.devicePixelRatio);
            return [...canvas.getContext('2d').getImageData(x, y, 1, 1).data];
        }""",
        id,
    )
    return colour


def comes_to_rest(page: Page) -> bool:
    """Whether there are, soon, thirty frames in which the map is not painted."""
    rests: bool = canvas(page).evaluate(
        """async (canvas) => {
            for (let tries = 0; tries < 10; tries++) {
                const before = canvas.dataset.paints;
                for (let frame = 0; frame < 30; frame++) await new Promise(requestAnimationFrame);
                if (canvas.dataset.paints === before) return true;
            }
            return false;
        }"""
    )
    return rests


def opened(page: Page, id: str) -> None:
    page.wait_for_url(f"**/#s={id}")


def until(page: Page, holds: Callable[[], bool]) -> None:
    """Waits for what the page's own requests bring about."""
    tries = 0
    while not holds():
        tries += 1
        assert tries < 1_000
        page.wait_for_timeout(20)


def asks_for_map(route: Route) -> bool:
    return "starMap" in (route.request.post_data or "")


def answer_maps(page: Page, change: Any) -> None:
    """Snapshots go through `change` before they reach the page."""

    def changed(route: Route) -> None:
        if not asks_for_map(route):
            return route.continue_()
        answer = route.fetch().json()
        change(answer["data"])
        return route.fulfill(json=answer)

    page.route("**/graphql", changed)


def roots_only(data: Any) -> None:
    """As the server answers where the next level would be too many."""
    columns = data["starMap"]["columns"]
    kept = sum(depth == 0 for depth in columns["depth"])
    data["starMap"]["truncated"] = True
    data["starMap"]["nodeCount"] = kept
    data["starMap"]["columns"] = {name: values[:kept] for name, values in columns.items()} | {"refs": []}


@pytest.mark.covers("W44")
def test_the_forest_is_drawn_and_follows_what_happens(sky: Page, forest: Forest, ask: Ask) -> None:
    star_at(sky, forest.trip)
    main, plain, archived = (colour_at(sky, id) for id in (forest.trip, forest.flights, forest.old))
    assert main != plain != archived != main
    assert int(canvas(sky).get_attribute("data-labels") or 0) >= 6
    names = (
        tree(sky).get_by_role("treeitem").evaluate_all("lines => lines.map(line => line.textContent.trim())")
    )
    assert [name.lstrip("▾▸") for name in names[:7]] == [
        "Trip",
        "Hotel",
        "Cot",
        "Food",
        "Flights",
        "季度总结",
        "Old",
    ]
    assert comes_to_rest(sky)

    made = ask.session("Museums", parentId=forest.trip)
    expect(star(sky, "Museums")).to_be_visible()
    assert canvas(sky).evaluate("(canvas, id) => canvas.starAt(id) !== null", made)
    ask('mutation($id: ID!) { updateSession(id: $id, input: {label: "Galleries"}) { id } }', id=made)
    expect(star(sky, "Galleries")).to_be_visible()
    ask.say(made, "Which ones?")
    expect(star(sky, "Galleries, 1 turn")).to_be_visible()
    ask("mutation($id: ID!) { deleteSession(id: $id, expectedCount: 1) }", id=made)
    expect(star(sky, "Galleries")).to_have_count(0)
    assert canvas(sky).evaluate("(canvas, id) => canvas.starAt(id)", made) is None


def test_by_mouse(sky: Page, forest: Forest) -> None:
    x, y = star_at(sky, forest.food)
    sky.mouse.move(x, y)
    expect(canvas(sky)).to_have_attribute("data-hovered", forest.food)
    card = sky.locator(".sky-card")
    expect(card).to_contain_text("Food")
    expect(card).to_contain_text("2 turns")
    dimmed = colour_at(sky, forest.quarter)
    sky.mouse.move(x, y + 60)
    expect(card).to_have_count(0)
    expect(canvas(sky)).to_have_attribute("data-hovered", "")
    assert colour_at(sky, forest.quarter) != dimmed

    sky.mouse.down()
    sky.mouse.move(x + 90, y + 100, steps=4)
    sky.mouse.up()
    assert star_at(sky, forest.food) == pytest.approx((x + 90, y + 40), abs=1)
    sky.mouse.wheel(0, -300)
    bigger = star_at(sky, forest.food)
    assert bigger != pytest.approx((x + 90, y + 40), abs=3)
    for name in ("Zoom in", "Zoom out"):
        before = star_at(sky, forest.food)
        sky.get_by_role("button", name=name).click()
        assert star_at(sky, forest.food) != before
    sky.get_by_role("button", name="Show all").click()
    assert star_at(sky, forest.food) == pytest.approx((x, y), abs=1)

    sky.mouse.click(x, y)
    opened(sky, forest.food)
    expect(canvas(sky)).to_have_attribute("data-selected", forest.food)
    legend = sky.get_by_role("button", name="What the signs mean")
    legend.click()
    expect(sky.get_by_role("list", name="What the signs mean")).to_contain_text("Forked from elsewhere")
    assert serious_faults(sky) == []


def test_by_keys_on_the_canvas(sky: Page, forest: Forest) -> None:
    canvas(sky).focus()
    for key, id in (
        ("Home", forest.trip),
        ("ArrowDown", forest.hotel),
        ("ArrowRight", forest.food),
        ("ArrowLeft", forest.hotel),
        ("ArrowDown", forest.cot),
        ("ArrowUp", forest.hotel),
        ("End", forest.old),
        ("ArrowLeft", forest.quarter),
    ):
        sky.keyboard.press(key)
        expect(canvas(sky)).to_have_attribute("data-selected", id)
    expect(star(sky, "季度总结")).to_have_attribute("aria-selected", "true")
    expect(sky.locator("[data-part=selected-star]")).to_contain_text("季度总结, 0 turns")
    before = star_at(sky, forest.quarter)
    sky.keyboard.press("+")
    assert star_at(sky, forest.quarter) != before
    sky.keyboard.press("Shift+ArrowRight")
    sky.keyboard.press("0")
    assert star_at(sky, forest.quarter) == pytest.approx(before, abs=1)
    sky.keyboard.press("Enter")
    opened(sky, forest.quarter)


def test_by_keys_in_the_list(sky: Page, forest: Forest) -> None:
    trip, hotel, cot = star(sky, "Trip"), star(sky, "Hotel"), star(sky, "Cot")
    trip.focus()
    expect(trip).to_have_attribute("aria-expanded", "true")
    expect(cot).to_have_attribute("aria-level", "3")
    expect(hotel).to_have_attribute("aria-posinset", "1")
    expect(hotel).to_have_attribute("aria-setsize", "3")
    for key, line in (
        ("ArrowRight", hotel),
        ("ArrowDown", cot),
        ("ArrowLeft", hotel),
        ("ArrowLeft", hotel),
        ("ArrowDown", star(sky, "Food")),
        ("ArrowUp", hotel),
        ("Home", trip),
        ("End", tree(sky).get_by_role("treeitem").last),
        ("o", star(sky, "Old")),
        ("Home", trip),
    ):
        sky.keyboard.press(key)
        expect(line).to_be_focused()
        expect(line).to_have_attribute("aria-selected", "true")
    expect(hotel).to_have_attribute("aria-expanded", "false")
    expect(cot).to_have_count(0)
    sky.keyboard.type("fli")
    expect(star(sky, "Flights")).to_be_focused()
    expect(canvas(sky)).to_have_attribute("data-selected", forest.flights)
    sky.keyboard.press("Enter")
    opened(sky, forest.flights)
    expect(star(sky, "Flights")).to_have_attribute("aria-current", "true")

    # The line with the focus says itself what it is.
    expect(sky.locator("[data-part=selected-star]")).to_have_text("")

    sky.get_by_role("button", name="List of sessions").click()
    expect(tree(sky)).to_have_count(0)
    sky.reload()
    expect(canvas(sky)).to_have_attribute("data-selected", forest.flights)
    expect(tree(sky)).to_have_count(0)


def test_a_line_that_is_deleted_elsewhere_hands_on_the_focus(sky: Page, forest: Forest, ask: Ask) -> None:
    gone = ask.session("Gone soon", parentId=forest.trip)
    expect(star(sky, "Gone soon")).to_be_visible()
    star(sky, "Flights").focus()
    sky.keyboard.type("gone")
    expect(star(sky, "Gone soon")).to_be_focused()
    ask("mutation($id: ID!) { deleteSession(id: $id, expectedCount: 1) }", id=gone)
    expect(star(sky, "Gone soon")).to_have_count(0)
    expect(star(sky, "季度总结")).to_be_focused()


def test_search_leads_to_a_star(sky: Page, forest: Forest) -> None:
    canvas(sky).focus()
    sky.keyboard.press("/")
    box = sky.get_by_role("combobox", name="Search sessions and messages")
    expect(box).to_be_focused()
    box.fill("mark")
    hits = sky.get_by_role("option")
    expect(hits.first).to_contain_text("market hall")
    expect(hits.first).to_have_attribute("aria-selected", "true")
    sky.keyboard.press("Escape")
    expect(box).to_have_value("")
    expect(hits).to_have_count(0)
    box.fill("nowhere at all")
    expect(sky.locator(".search-none")).to_have_text("Nothing found.")
    box.fill("???")
    expect(sky.locator(".search-none")).not_to_have_text("Nothing found.")
    box.fill("hotel")
    expect(hits.first).to_contain_text("Hotel")
    # Before its hits are there, those of the text before it still show.
    box.fill("flights")
    sky.keyboard.press("Enter")
    opened(sky, forest.flights)
    box.fill("季度")
    expect(hits).to_have_count(1)
    assert serious_faults(sky) == []
    sky.keyboard.press("Enter")
    opened(sky, forest.quarter)
    expect(canvas(sky)).to_have_attribute("data-selected", forest.quarter)
    x, y = star_at(sky, forest.quarter)
    shown = canvas(sky).bounding_box()
    assert shown
    assert (x, y) == pytest.approx((shown["x"] + shown["width"] / 2, shown["y"] + shown["height"] / 2), abs=2)


def test_what_lies_deeper_is_loaded_when_it_is_asked_for(
    page: Page, map_server: MapServer, forest: Forest
) -> None:
    answer_maps(page, roots_only)
    page.goto(map_server.url)
    expect(star(page, "Trip")).to_have_attribute("aria-expanded", "false")
    expect(star(page, "Hotel")).to_have_count(0)
    with map_server.client() as ask:
        extra = ask.session("Extra", parentId=forest.trip)
        expect(star(page, "Trip")).to_contain_text("4")
        expect(star(page, "Extra")).to_have_count(0)
        ask("mutation($id: ID!) { deleteSession(id: $id, expectedCount: 1) }", id=extra)
        expect(star(page, "Trip")).to_contain_text("3")

    page.get_by_role("combobox").fill("Cot")
    page.get_by_role("option").first.click()
    opened(page, forest.cot)
    expect(star(page, "Cot")).to_have_attribute("aria-selected", "true")
    expect(star(page, "Food")).to_have_count(0)
    page.goto(f"{map_server.url}/#s={forest.cot}")
    page.reload()
    expect(canvas(page)).to_have_attribute("data-selected", forest.cot)

    star(page, "Trip").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    more = tree(page).get_by_text("2 more")
    expect(more).to_be_visible()
    star(page, "Hotel").focus()
    page.keyboard.press("End")
    page.keyboard.press("Home")
    more.click()
    expect(star(page, "Food")).to_be_visible()
    expect(star(page, "Flights")).to_be_visible()
    expect(more).to_have_count(0)

    page.goto(map_server.url)
    page.reload()
    expect(star(page, "Trip")).to_be_visible()
    canvas(page).focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    expect(star(page, "Hotel")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(canvas(page)).to_have_attribute("data-selected", forest.hotel)


def test_a_lost_connection_loses_nothing(page: Page, map_server: MapServer, forest: Forest, ask: Ask) -> None:
    sockets: list[WebSocketRoute] = []
    asked: list[int] = []
    pruned = [False]

    def relay(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        sockets.append(socket)

        def sent(text: str | bytes) -> None:
            message = json.loads(text)
            if message["type"] == "subscribe" and "topologyEvents" in message["payload"]["query"]:
                asked.append(message["payload"]["variables"]["after"])
                if pruned[0]:
                    pruned[0] = False
                    refusal = {"message": "pruned", "extensions": {"code": "LIMIT_EXCEEDED"}}
                    socket.send(json.dumps({"id": message["id"], "type": "error", "payload": [refusal]}))
                    return
            server.send(text)

        socket.on_message(sent)

    page.route_web_socket("**/graphql", relay)
    page.goto(map_server.url)
    until(page, lambda: len(asked) == 1)
    first = ask.session("While connected")
    expect(star(page, "While connected")).to_be_visible()
    sockets[-1].close(code=1012)
    until(page, lambda: len(asked) >= 2)
    second = ask.session("While away")
    expect(star(page, "While away")).to_be_visible()
    expect(star(page, "While connected")).to_have_count(1)
    assert asked[-1] > asked[0]

    snapshots: list[str] = []
    page.on(
        "request", lambda request: snapshots.append(request.post_data or "") if request.post_data else None
    )
    pruned[0] = True
    before = len(asked)
    sockets[-1].close(code=1012)
    until(page, lambda: len(asked) > before + 1)
    expect(page.get_by_text("Connection lost, trying again…")).to_have_count(0)
    third = ask.session("After the gap")
    expect(star(page, "After the gap")).to_be_visible()
    assert any("starMap" in text for text in snapshots)
    for id in (first, second, third):
        ask("mutation($id: ID!) { deleteSession(id: $id, expectedCount: 1) }", id=id)
    expect(star(page, "After the gap")).to_have_count(0)


def test_a_connection_that_dies_without_a_word_is_given_up(
    page: Page, map_server: MapServer, forest: Forest, ask: Ask
) -> None:
    sockets: list[WebSocketRoute] = []
    dead: list[WebSocketRoute] = []

    def relay(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        server = socket.connect_to_server()
        server.on_message(lambda text: None if socket in dead else socket.send(text))

    page.route_web_socket("**/graphql", relay)
    page.clock.install()
    page.goto(map_server.url)
    before = ask.session("While it lives")
    expect(star(page, "While it lives")).to_be_visible()
    dead += sockets
    after = ask.session("While it is dead")
    page.clock.fast_forward(11_000)
    assert len(sockets) == len(dead)
    expect(star(page, "While it is dead")).to_have_count(0)
    page.clock.fast_forward(6_000)
    expect(star(page, "While it is dead")).to_be_visible()
    assert len(sockets) > len(dead)
    for id in (before, after):
        ask("mutation($id: ID!) { deleteSession(id: $id, expectedCount: 1) }", id=id)


def test_archived_stars_and_colours_follow_what_is_chosen(sky: Page, forest: Forest) -> None:
    star_at(sky, forest.trip)
    light = colour_at(sky, forest.trip)
    state = "() => import(new URL('static/star-map/state.js', location.href)).then(state => { %s })"
    sky.evaluate(state % "state.theme.value = 'dark'")
    expect(sky.locator("html")).to_have_attribute("data-theme", "dark")
    star_at(sky, forest.trip)
    assert colour_at(sky, forest.trip) != light
    everything = int(canvas(sky).get_attribute("data-stars") or 0)
    sky.evaluate(state % "state.showArchived.value = false")
    expect(canvas(sky)).to_have_attribute("data-stars", str(everything - 1))
    expect(star(sky, "Old")).to_have_count(0)
    sky.evaluate(state % "state.showArchived.value = true")
    expect(star(sky, "Old")).to_have_count(1)


def test_a_map_that_does_not_come_is_asked_for_again(
    page: Page, map_server: MapServer, forest: Forest
) -> None:
    refusal = {"message": "The store is away.", "extensions": {"code": "STORE_UNAVAILABLE"}}

    def refuse(route: Route) -> None:
        if asks_for_map(route):
            route.fulfill(json={"data": None, "errors": [refusal]})
        else:
            route.continue_()

    page.route("**/graphql", refuse)
    page.goto(f"{map_server.url}/#s=%")
    said = page.get_by_role("status").filter(has_text="The store is away.")
    expect(said).to_be_visible()
    page.unroute("**/graphql")
    expect(star(page, "Trip")).to_be_visible()
    expect(said).to_have_count(0)


def test_on_a_phone(browser: Browser, map_server: MapServer, forest: Forest) -> None:
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True, locale="zh-CN")
    page = context.new_page()
    page.goto(map_server.url)
    surface = page.get_by_role("application", name="星图")
    expect(surface).not_to_have_attribute("data-stars", "0")
    expect(page.get_by_role("tree")).to_have_count(0)
    page.get_by_role("button", name="会话列表").tap()
    expect(page.get_by_role("treeitem", name="Hotel,")).to_be_visible()
    assert serious_faults(page) == []
    page.get_by_role("treeitem", name="Hotel,").tap()
    opened(page, forest.hotel)
    expect(page.get_by_role("tree")).to_have_count(0)
    page.goto(map_server.url)
    page.reload()
    expect(surface).not_to_have_attribute("data-stars", "0")
    place = surface.evaluate("(canvas, id) => canvas.starAt(id)", forest.quarter)
    assert place
    page.touchscreen.tap(place["x"] + 9, place["y"] + 6)
    opened(page, forest.quarter)
    context.close()


def test_twenty_thousand_sessions(page: Page, map_server: MapServer, forest: Forest) -> None:
    def many(data: Any) -> None:
        data["starMap"] |= {"nodeCount": 20_000, "columns": columns_of(20_000)}

    answer_maps(page, many)
    page.goto(map_server.url)
    expect(canvas(page)).to_have_attribute("data-stars", "20000")
    lines = tree(page).get_by_role("treeitem")
    expect(lines.first).to_be_visible()
    assert lines.count() < 80
    lines.first.focus()
    page.keyboard.press("End")
    expect(lines.filter(has=page.locator("xpath=self::*[@tabindex='0']"))).to_be_focused()
    assert lines.count() < 80
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(lines.first).to_have_attribute("aria-expanded", "true")
    expect(lines.nth(1)).to_have_attribute("aria-level", "2")
    assert lines.count() < 80
    before = star_at(page, "s0")
    canvas(page).hover()
    page.mouse.down()
    page.mouse.move(600, 300, steps=5)
    page.mouse.up()
    assert star_at(page, "s0") != before
    assert comes_to_rest(page)

"""Beside the conversation: memory, what the model sees next, and the settings of a session."""

import re
from typing import Any, Final, Literal

import pytest
from playwright.sync_api import Browser, Page, Route, ViewportSize, expect

from tests.browser.faults import serious_faults
from tests.browser.map_server import Ask, MapServer
from tests.browser.panels import is_saved, opened, opened_side, part
from tests.browser.routes import route_graphql

pytestmark = pytest.mark.browser

Theme = Literal["light", "dark"]
PHONE: Final[ViewportSize] = {"width": 390, "height": 844}


def test_a_digest_is_made_of_the_transcript_and_written_by_hand(star_map: Page, ask: Ask) -> None:
    session = ask.session("Trip")
    ask.say(session, "We go to Lisbon in May and stay for nine days.")
    digest = part(opened(star_map, session, "memory"), "Digest")
    expect(digest).to_contain_text("There is none yet.")
    consolidate = digest.get_by_role("button", name="Consolidate")
    consolidate.click()
    expect(digest.locator(".prose")).to_contain_text("Lisbon")
    expect(star_map.get_by_text("The digest was renewed.")).to_be_visible()
    expect(consolidate).to_be_focused()
    consolidate.click()
    expect(star_map.get_by_text("Nothing was said since the last digest")).to_be_visible()

    digest.get_by_role("button", name="Edit").click()
    digest.get_by_label("Digest").fill("Porto, not Lisbon.")
    digest.get_by_role("button", name="Edit").click()
    star_map.get_by_role("dialog", name="Unsaved changes").get_by_role(
        "button", name="Go back to them"
    ).click()
    digest.get_by_role("button", name="Save").click()
    expect(digest.locator(".prose")).to_have_text("Porto, not Lisbon.")
    expect(digest.get_by_role("button", name="Edit")).to_be_focused()
    assert memory_of(ask, session) == "Porto, not Lisbon."


def test_what_is_refused_stands_beside_its_button(star_map: Page, ask: Ask) -> None:
    session = ask.session("Closed")
    ask("mutation($id: ID!) { archiveSession(id: $id) { id } }", id=session)
    digest = part(opened(star_map, session, "memory"), "Digest")
    digest.get_by_role("button", name="Consolidate").click()
    expect(digest.get_by_role("alert")).to_contain_text("archived")
    star_map.evaluate("async () => (await import('./static/star-map/texts.js')).chooseLanguage('zh')")
    expect(star_map.locator("section.panel").get_by_role("alert")).to_contain_text("会话已归档：")


def test_an_insight_is_put_replaced_and_cleared(star_map: Page, ask: Ask) -> None:
    source, session = ask.session("Weather desk"), ask.session("Picnic")
    ask(
        "mutation($insight: InsightInput!) { putInsights(insights: [$insight]) { id } }",
        insight={"sessionId": session, "content": "It will rain.", "sourceSessionId": source},
    )
    insight = part(opened(star_map, session, "memory"), "Insight")
    expect(insight.get_by_role("blockquote")).to_have_text("It will rain.")
    expect(insight.get_by_role("button", name="Weather desk")).to_be_visible()

    insight.get_by_label("A new insight").fill("It will be dry.")
    insight.get_by_role("button", name="Replace").click()
    expect(insight.get_by_role("blockquote")).to_have_text("It will be dry.")
    expect(insight).to_contain_text("From the application")
    expect(insight.get_by_label("A new insight")).to_have_value("")
    insight.get_by_role("button", name="Clear the insight").click()
    expect(insight).to_contain_text("None is pending.")
    expect(insight).to_be_focused()


def test_a_main_session_integrates_what_its_tree_knows(star_map: Page, ask: Ask) -> None:
    main = ask.session("Overview", role="MAIN")
    kitchen, garden = (ask.session(label, parentId=main) for label in ("Kitchen", "Garden"))
    for child in (kitchen, garden):
        ask('mutation($id: ID!) { putMemory(sessionId: $id, content: "New tiles.") { id } }', id=child)
    synthesis = part(opened(star_map, main, "memory"), "Synthesis")
    synthesis.get_by_role("button", name="Integrate", exact=True).click()
    expect(synthesis.locator(".prose").first).to_contain_text("Kitchen")
    delivered = synthesis.get_by_role("listitem")
    expect(delivered).to_have_count(2)

    synthesis.get_by_role("button", name="Integrate", exact=True).click()
    expect(synthesis).to_contain_text("No digest changed since the last time")
    synthesis.get_by_role("button", name="Integrate all the same").click()
    expect(delivered).to_have_count(2)
    delivered.get_by_role("button", name="Kitchen").click()
    expect(star_map).to_have_url(re.compile(f"#s={kitchen}$"))


def test_a_transcript_is_compacted(star_map: Page, ask: Ask) -> None:
    session = ask.session("Long talk")
    ask.say(session, "One.", "Two.", "Three.")
    compression = part(opened(star_map, session, "memory"), "Compression")
    expect(compression).to_contain_text("The model sees all 6 messages as they are.")
    compact = compression.get_by_role("button", name="Compact")
    compact.click()
    expect(star_map.get_by_text("There was nothing to compact.")).to_be_visible()
    kept = compression.get_by_label("Keep the newest messages")
    kept.press("Backspace")
    kept.press("Backspace")
    kept.press("2")
    expect(kept).to_have_value("2")
    compact.click()
    expect(compression).to_contain_text("In place of the messages up to number 4")
    expect(compression.locator(".prose")).not_to_be_empty()


def test_leaving_unsaved_changes_asks(star_map: Page, ask: Ask) -> None:
    session, other = ask.session("Draft"), ask.session("Elsewhere")
    panel = opened(star_map, session, "memory")
    panel.get_by_label("A new insight").fill("Not said yet.")
    other_panel = opened(star_map, other, "memory")
    asked = star_map.get_by_role("dialog", name="Unsaved changes")
    asked.get_by_role("button", name="Go back to them").click()
    expect(star_map).to_have_url(re.compile(f"#s={session}$"))
    expect(panel.get_by_label("A new insight")).to_have_value("Not said yet.")

    panel.get_by_label("A new insight").press("Escape")
    expect(asked).to_be_visible()
    star_map.keyboard.press("Escape")
    expect(panel.get_by_label("A new insight")).to_have_value("Not said yet.")
    opened(star_map, other, "memory")
    asked.get_by_role("button", name="Discard").click()
    expect(asked).not_to_be_attached()
    expect(other_panel.get_by_label("A new insight")).to_have_value("")
    opened(star_map, session, "memory")
    expect(panel.get_by_label("A new insight")).to_have_value("")


# The page closes the panel in the very turn in which the form appears, before anything is painted.
CLOSE_AS_IT_APPEARS = """
async (label) => {
  const { close } = await import('./static/star-map/state.js');
  new MutationObserver((_, seen) => {
    const labels = [...document.querySelectorAll('.panel label')];
    if (!labels.some((found) => found.textContent.includes(label))) return;
    seen.disconnect();
    close();
  }).observe(document.body, { childList: true, subtree: true });
}
"""


def test_a_form_that_has_just_appeared_is_not_left_unasked(star_map: Page, ask: Ask) -> None:
    session = ask.session("Quick")
    panel = opened(star_map, session, "memory")
    panel.get_by_label("A new insight").fill("Not said yet.")
    star_map.keyboard.press("Escape")
    asked = star_map.get_by_role("dialog", name="Unsaved changes")
    expect(asked).to_be_visible()
    star_map.evaluate(CLOSE_AS_IT_APPEARS, "A new insight")
    asked.get_by_role("button", name="Go back to them").click()
    expect(panel).not_to_be_attached()
    expect(asked).to_be_visible()
    asked.get_by_role("button", name="Go back to them").click()
    expect(panel.get_by_label("A new insight")).to_have_value("Not said yet.")


def test_the_preview_says_where_each_part_comes_from(star_map: Page, ask: Ask) -> None:
    session = ask.session("Seen", systemPrompt="Be brief.")
    ask.say(session, *(f"Word {number}." for number in range(1, 9)))
    ask('mutation($id: ID!) { putInsight(sessionId: $id, content: "Rain.") { id } }', id=session)
    panel = opened(star_map, session, "preview")
    parts = panel.locator("ol.context > li")
    expect(parts.filter(has_text="System prompt")).to_contain_text("Be brief.")
    expect(parts.filter(has_text="Insight")).to_contain_text("Rain.")
    expect(panel.get_by_role("meter")).to_be_visible()
    expect(panel).to_contain_text("of 200,000 tokens")
    panel.get_by_label("Your next words").fill("And now?")
    expect(parts.last).to_contain_text("Your words")
    expect(parts.last).to_contain_text("And now?")

    expect(parts.filter(has_text="message 8")).to_have_count(0)
    panel.get_by_role("button", name=re.compile("Show the [0-9]+ between")).click()
    expect(parts.filter(has_text=re.compile(r"message \d"))).to_have_count(16)
    tool = part(panel, "Tools").locator("details").first
    tool.locator("summary").click()
    expect(tool.locator("pre")).to_contain_text('"type": "object"')

    ask("mutation { configureSpace(input: { maxContextTokens: 1000 }) { id } }")
    panel.get_by_label("Your next words").fill("long " * 2_000)
    expect(panel).to_contain_text("sending now would first compress")
    ask("mutation { configureSpace(input: { maxContextTokens: null }) { id } }")


@pytest.mark.covers("W44")
def test_settings_send_what_changed_and_can_be_given_back(star_map: Page, ask: Ask) -> None:
    ask('mutation { configureSpace(input: { systemPrompt: "The Space\'s prompt." }) { id } }')
    for skill in ("plan", "tidy"):
        ask('mutation($n: String!) { putSkill(name: $n, description: "", content: "x") { name } }', n=skill)
    session = ask.session("Old name", tags=["kept"], metadata={"a": 1})
    sent: list[Any] = []
    star_map.on("request", lambda request: sent.append(request.post_data_json if request.post_data else None))
    said = part(opened(star_map, session, "settings"), "What it is told")
    said.get_by_label("Name", exact=True).fill("New name")
    prompt = said.get_by_role("group", name="System prompt")
    expect(prompt).to_contain_text("The Space's prompt.")
    prompt.get_by_label("Its own").check()
    prompt.get_by_role("textbox").fill("Mine.")
    said.get_by_label("May use all skills").uncheck()
    said.get_by_label("tidy").check()
    said.get_by_label("Metadata").fill("{")
    said.get_by_role("button", name="Save").click()
    expect(said.get_by_label("Metadata")).to_be_focused()
    said.get_by_label("Metadata").fill('{"b": [2]}')
    said.get_by_text("In place of the Space’s settings").click()
    said.get_by_label("Model", exact=True).fill("small")
    said.get_by_role("button", name="Save").click()
    is_saved(said)
    changed = {"label": "New name", "systemPrompt": "Mine.", "skills": ["tidy"], "metadata": {"b": [2]}}
    assert [body["variables"]["input"] for body in sent if "updateSession" in str(body)] == [
        {**changed, "overrides": {"model": "small"}}
    ]
    assert settings_of(ask, session) == {**changed, "tags": ["kept"], "overrides": {"model": "small"}}

    prompt.get_by_label("Its own").uncheck()
    said.get_by_label("May use all skills").check()
    said.get_by_label("Model", exact=True).fill("")
    said.get_by_label("Tags").fill("one, two\nthree\n")
    said.get_by_role("button", name="Save").click()
    is_saved(said)
    assert settings_of(ask, session) == {
        **changed,
        "systemPrompt": None,
        "skills": None,
        "tags": ["one, two", "three"],
        "overrides": {"model": None},
    }


def test_links_trimming_and_archiving(star_map: Page, ask: Ask) -> None:
    session, friend = ask.session("Harbour"), ask.session("Lighthouse keeper")
    ask.say(session, "One.", "Two.")
    panel = opened(star_map, session, "settings")
    links = part(panel, "Links to other branches")
    links.get_by_label("Add a link").fill("lighth")
    links.get_by_role("button", name="Link to “Lighthouse keeper”").click()
    expect(links.get_by_role("listitem")).to_have_count(1)
    expect(links.get_by_label("Add a link")).to_be_focused()
    links.get_by_role("button", name="Lighthouse keeper", exact=True).click()
    expect(star_map).to_have_url(re.compile(f"#s={friend}$"))
    opened(star_map, friend, "settings")
    expect(links).to_contain_text("Linked from")
    links.get_by_role("button", name="Harbour").click()
    opened(star_map, session, "settings")
    links.get_by_role("button", name="Remove the link to Lighthouse keeper").click()
    expect(links).to_contain_text("No links yet.")

    trim = part(panel, "Trim the transcript")
    trim.get_by_label("Keep the newest messages").fill("2")
    trim.get_by_role("button", name="Trim the transcript").click()
    star_map.get_by_role("dialog").get_by_role("button", name="Trim the transcript").click()
    expect(trim).to_contain_text("It has 2 messages.")

    ending = part(panel, "Archive and delete")
    ending.get_by_role("button", name="Archive", exact=True).click()
    expect(ending).to_contain_text("This session is archived")
    ending.get_by_role("button", name="Unarchive").click()
    expect(ending).to_contain_text("stays on the map")


def test_deleting_asks_for_the_number_that_goes(star_map: Page, ask: Ask) -> None:
    root = ask.session("Doomed")
    ask.session("Child", parentId=root)
    ending = part(opened(star_map, root, "settings"), "Archive and delete")
    ending.get_by_role("button", name="Delete").click()
    asked = star_map.get_by_role("dialog", name="Delete")
    expect(asked).to_contain_text("“Doomed” and all below it are deleted for good: 2 sessions.")
    asked.get_by_label("Type 2 to go on").fill("1")
    asked.get_by_label("Type 2 to go on").press("Enter")
    expect(asked.get_by_role("button", name="Delete")).to_be_disabled()

    ask.session("Late child", parentId=root)
    asked.get_by_label("Type 2 to go on").fill("2")
    asked.get_by_role("button", name="Delete").click()
    asked.get_by_label("Type 3 to go on").fill("3")
    asked.get_by_role("button", name="Delete").click()
    expect(star_map.get_by_text("3 sessions were deleted.")).to_be_visible()
    expect(star_map.locator("section.panel")).not_to_be_attached()
    assert ask("query($id: ID!) { session(id: $id) { id } }", id=root)["session"] is None


def test_what_changes_elsewhere_shows_by_itself(star_map: Page, ask: Ask) -> None:
    session, friend = ask.session("Live"), ask.session("Friend")
    digest = part(opened(star_map, session, "memory"), "Digest")
    expect(digest).to_contain_text("There is none yet.")
    ask('mutation($id: ID!) { putMemory(sessionId: $id, content: "From elsewhere.") { id } }', id=session)
    expect(digest).to_contain_text("From elsewhere.")

    panel = opened(star_map, session, "settings")
    said = part(panel, "What it is told")
    said.get_by_label("Tags").fill("mine")
    ask('mutation($id: ID!) { updateSession(id: $id, input: { label: "Renamed" }) { id } }', id=session)
    expect(said.get_by_label("Name", exact=True)).to_have_value("Renamed")
    expect(said.get_by_label("Tags")).to_have_value("mine")
    said.get_by_role("button", name="Undo").click()
    expect(said.get_by_label("Tags")).to_have_value("")
    ask("mutation($a: ID!, $b: ID!) { addRef(fromId: $a, toId: $b) { id } }", a=friend, b=session)
    expect(part(panel, "Links to other branches")).to_contain_text("Linked from")


def test_what_cannot_be_read_is_said_and_read_again(star_map: Page, ask: Ask) -> None:
    session = ask.session("Hidden")
    refusal = {"message": "The store is away.", "extensions": {"code": "STORE_UNAVAILABLE"}}

    def refuse(route: Route) -> None:
        if "query Memory" in (route.request.post_data or ""):
            route.fulfill(json={"data": None, "errors": [refusal]})
        else:
            route.continue_()

    route_graphql(star_map, refuse)
    panel = opened(star_map, session, "memory")
    expect(panel.get_by_role("alert")).to_contain_text("The store is away.")
    star_map.unroute("**/graphql")
    panel.get_by_role("button", name="Try again").click()
    expect(part(panel, "Digest")).to_contain_text("There is none yet.")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_panels_have_no_serious_fault(
    browser: Browser, map_server: MapServer, ask: Ask, theme: Theme
) -> None:
    """On a phone and in Chinese, with everything open that can be."""
    session = ask.session(
        "满", role="MAIN", tags=["一"], metadata={"键": 1}, skills=[], systemPrompt="简短。"
    )
    ask.say(session, "你好。")
    ask('mutation($id: ID!) { putInsight(sessionId: $id, content: "会下雨。") { id } }', id=session)
    ask("mutation($id: ID!) { consolidate(sessionId: $id) { id } }", id=session)
    context = browser.new_context(viewport=PHONE, locale="zh-CN", color_scheme=theme)
    page = context.new_page()
    page.goto(map_server.url + "/")
    for tab, words in (("memory", "会话摘要"), ("preview", "系统提示词"), ("settings", "跨分支链接")):
        panel = opened(page, session, tab)
        expect(panel).to_contain_text(words)
        for closed in panel.locator("details > summary").all():
            closed.click()
        assert serious_faults(page) == [], tab
        assert is_within(page), tab
    panel = opened_side(page, "space")
    for button in panel.get_by_role("navigation").get_by_role("button").all():
        button.click()
        expect(button).to_have_attribute("aria-current", "page")
        expect(panel.get_by_text("正在加载…")).to_have_count(0)
        assert serious_faults(page) == [], button.text_content()
        assert is_within(page), button.text_content()
    context.close()


def is_within(page: Page) -> bool:
    """Whether nothing reaches beyond the screen's sides."""
    fits: bool = page.evaluate(
        "[...document.querySelectorAll('.side *')].every((one) => one.closest('.scrolls, pre, .tabs')"
        " || one.getBoundingClientRect().right <= innerWidth + 1)"
    )
    return fits


def settings_of(ask: Ask, session: str) -> Any:
    return ask(
        "query($id: ID!) { session(id: $id)"
        " { label systemPrompt skills tags metadata overrides { model } } }",
        id=session,
    )["session"]


def memory_of(ask: Ask, session: str) -> str | None:
    answer = ask("query($id: ID!) { session(id: $id) { memory } }", id=session)["session"]["memory"]
    assert answer is None or isinstance(answer, str)
    return answer

"""Beside the conversation: memory, what the model sees next, and the settings of a session."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.map_server import Ask
from tests.browser.panels import opened, part

pytestmark = pytest.mark.browser


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
    digest.get_by_role("button", name="Save").click()
    expect(digest.locator(".prose")).to_have_text("Porto, not Lisbon.")
    assert memory_of(ask, session) == "Porto, not Lisbon."


def test_what_is_refused_stands_beside_its_button(star_map: Page, ask: Ask) -> None:
    session = ask.session("Closed")
    ask("mutation($id: ID!) { archiveSession(id: $id) { id } }", id=session)
    digest = part(opened(star_map, session, "memory"), "Digest")
    digest.get_by_role("button", name="Consolidate").click()
    expect(digest.get_by_role("alert")).to_contain_text("archived")


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
    assert star_map.url.endswith(f"#s={kitchen}")


def test_a_transcript_is_compacted(star_map: Page, ask: Ask) -> None:
    session = ask.session("Long talk")
    ask.say(session, "One.", "Two.", "Three.")
    compression = part(opened(star_map, session, "memory"), "Compression")
    expect(compression).to_contain_text("The model sees all 6 messages as they are.")
    compact = compression.get_by_role("button", name="Compact")
    compact.click()
    expect(star_map.get_by_text("There was nothing to compact.")).to_be_visible()
    compression.get_by_label("Keep the newest messages").fill("2")
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
    assert star_map.url.endswith(f"#s={session}")
    expect(panel.get_by_label("A new insight")).to_have_value("Not said yet.")

    opened(star_map, other, "memory")
    asked.get_by_role("button", name="Discard").click()
    expect(asked).not_to_be_attached()
    expect(other_panel.get_by_label("A new insight")).to_have_value("")
    opened(star_map, session, "memory")
    expect(panel.get_by_label("A new insight")).to_have_value("")


def memory_of(ask: Ask, session: str) -> str | None:
    answer = ask("query($id: ID!) { session(id: $id) { memory } }", id=session)["session"]["memory"]
    assert answer is None or isinstance(answer, str)
    return answer

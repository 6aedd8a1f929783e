"""Beside the map: what concerns the whole Space."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

from tests.browser.console import Console
from tests.browser.faults import serious_faults
from tests.browser.map_server import Ask, MapServer
from tests.browser.panels import is_saved, opened, opened_side, part
from tests.browser.routes import route_graphql
from tests.e2e.processes import run

pytestmark = pytest.mark.browser

CONFIG = "{ space { name config { model systemPrompt sharedMemory maxContextTokens everyNTurns consolidateOn "
CONFIG += "integrateOn splitGuard { forApi minTurns } } } }"


def test_settings_of_the_space_change_only_where_they_were_changed(star_map: Page, ask: Ask) -> None:
    sent: list[object] = []
    star_map.on("request", lambda request: sent.append(request.post_data_json if request.post_data else None))
    panel = opened_space(star_map, "General")
    save = panel.get_by_role("button", name="Save")
    expect(save).to_be_disabled()
    panel.get_by_label("Name", exact=True).fill("Workshop")
    panel.get_by_label("Sessions share memory").check()
    prompt = panel.get_by_role("group", name="System prompt", exact=True)
    prompt.get_by_label("Its own").check()
    prompt.get_by_role("textbox").fill("Be brief.")
    on = panel.get_by_role("group", name="Integrate a tree when")
    on.get_by_label("a digest was renewed").check()
    on.get_by_label("it is archived").check()
    panel.get_by_label("Turns before the first fork").fill("")
    save.click()
    expect(panel.get_by_label("Turns before the first fork")).to_be_focused()
    panel.get_by_label("Turns before the first fork").fill("0")
    panel.get_by_label("Context, in tokens").fill("50000")
    save.click()
    is_saved(panel)
    expect(star_map.get_by_text("Workshop")).to_be_visible()
    changes = next(body["variables"]["input"] for body in sent if "configureSpace" in str(body))  # type: ignore[index]
    assert changes == {
        "name": "Workshop",
        "sharedMemory": True,
        "systemPrompt": "Be brief.",
        "integrateOn": ["ON_ARCHIVE", "AFTER_CONSOLIDATE"],
        "maxContextTokens": 50_000,
        "splitGuard": {"minTurns": 0},
    }
    config = ask(CONFIG)["space"]["config"]
    assert (config["systemPrompt"], config["splitGuard"]["minTurns"]) == ("Be brief.", 0)

    prompt.get_by_label("Its own").uncheck()
    panel.get_by_label("Context, in tokens").fill("")
    save.click()
    expect(panel.get_by_label("Context, in tokens")).to_have_value("200000")
    assert ask(CONFIG)["space"]["config"]["systemPrompt"] is None


def test_what_is_typed_while_a_form_saves_stays(star_map: Page, ask: Ask) -> None:
    ask('mutation { configureSpace(input: { name: "Before" }) { id } }')
    panel = opened_space(star_map, "General")
    name, save = panel.get_by_label("Name", exact=True), panel.get_by_role("button", name="Save")

    def type_meanwhile(route: Route) -> None:
        if "mutation Configure" in (route.request.post_data or ""):
            name.fill("Before")
            panel.get_by_label("Answer, in tokens").fill("1234")
        route.continue_()

    route_graphql(star_map, type_meanwhile)
    name.fill("After")
    save.click()
    expect(star_map.get_by_text("Saved.", exact=True)).to_be_visible()
    assert ask("{ space { name } }")["space"]["name"] == "After"
    expect(name).to_have_value("Before")
    expect(panel.get_by_label("Answer, in tokens")).to_have_value("1234")
    star_map.unroute("**/graphql")
    save.click()
    is_saved(panel)
    saved = ask("{ space { name config { maxOutputTokens } } }")["space"]
    assert saved == {"name": "Before", "config": {"maxOutputTokens": 1234}}


def test_of_two_writers_of_a_record_a_person_chooses(star_map: Page, ask: Ask) -> None:
    panel = opened_space(star_map, "Records")
    added = added_to(panel, "New record")
    added.locator("summary").click()
    added.get_by_label("Key", exact=True).fill("goals.q3")
    added.get_by_label("Value").fill("{broken")
    added.get_by_role("button", name="New record").click()
    expect(added.get_by_text("This is no JSON")).to_be_visible()
    expect(added.get_by_label("Value")).to_be_focused()
    added.get_by_label("Value").fill('{"ship": "map"}')
    added.get_by_role("button", name="New record").click()
    record = entry(panel, "goals.q3")
    expect(record).to_contain_text("revision 1")

    record.locator("summary").click()
    record.get_by_label("Value").fill('"mine"')
    write(ask, "goals.q3", "theirs")
    record.get_by_role("button", name="Save").click()
    asked = star_map.get_by_role("dialog", name="Changed meanwhile")
    expect(asked).to_contain_text('"theirs"')
    asked.get_by_role("button", name="Overwrite with mine").click()
    expect(record).to_contain_text("revision 3")
    assert ask('{ record(key: "goals.q3") { value } }')["record"]["value"] == "mine"

    record.get_by_label("Value").fill('"mine again"')
    write(ask, "goals.q3", "theirs again")
    panel.get_by_label("Keys that begin with").fill("goals")
    expect(record).to_contain_text("revision 4")
    record.get_by_role("button", name="Save").click()
    expect(asked).to_contain_text('"theirs again"')
    asked.get_by_role("button", name="Keep theirs").click()
    expect(record.get_by_label("Value")).to_have_value('"theirs again"')
    is_saved(record)
    assert ask('{ record(key: "goals.q3") { value } }')["record"]["value"] == "theirs again"

    write(ask, "other", 1)
    panel.get_by_label("Keys that begin with").fill("oth")
    expect(record).not_to_be_attached()
    other = entry(panel, "other")
    other.locator("summary").click()
    other.get_by_role("button", name="Delete other").click()
    star_map.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(panel).to_contain_text("No record begins like that.")


def test_what_sessions_share_is_kept_by_name(star_map: Page, ask: Ask) -> None:
    ask("mutation { configureSpace(input: { sharedMemory: false }) { id } }")
    panel = opened_space(star_map, "Shared memory")
    expect(panel).to_contain_text("Shared memory is off")
    fill_new(
        panel, "New shared memory", {"Slug": "house-rules", "Summary": "How we work", "Text": "Be kind."}
    )
    rules = entry(panel, "house-rules")
    rules.locator("summary").click()
    rules.get_by_label("Text").fill("Be very kind.")
    rules.get_by_role("button", name="Save").click()
    is_saved(rules)
    assert ask("{ sharedMemories { slug summary body } }")["sharedMemories"] == [
        {"slug": "house-rules", "summary": "How we work", "body": "Be very kind."}
    ]

    section(panel, "Skills")
    fill_new(
        panel, "New skill", {"Name": "tidy", "Description": "Tidies up", "Instructions": "Go through it."}
    )
    expect(entry(panel, "tidy")).to_contain_text("Tidies up")
    again = added_to(panel, "New skill")
    again.get_by_label("Name").fill("tidy")
    again.get_by_label("Instructions").fill("Go through it twice.")
    again.get_by_role("button", name="New skill").click()
    asked = star_map.get_by_role("dialog", name="New skill")
    expect(asked).to_contain_text("“tidy” is there already.")
    asked.get_by_role("button", name="Cancel").click()
    expect(again.get_by_label("Name")).to_have_value("tidy")
    assert ask("{ skills { content } }")["skills"] == [{"content": "Go through it."}]
    again.get_by_role("button", name="New skill").click()
    asked.get_by_role("button", name="Replace").click()
    is_saved(again, "New skill")
    assert ask("{ skills { content } }")["skills"] == [{"content": "Go through it twice."}]
    section(panel, "Fork profiles")
    fill_new(panel, "New fork profile", {"Name": "review", "Opening words": "Look at ${what}."})
    profile = entry(panel, "review")
    profile.locator("summary").click()
    profile.get_by_label("What the child gets").select_option("A summary")
    profile.get_by_role("button", name="Save").click()
    expect(profile.locator("summary")).to_contain_text("A summary")
    assert ask("{ forkProfiles { name context prompt skills } }")["forkProfiles"] == [
        {"name": "review", "context": "COMPRESS", "prompt": "Look at ${what}.", "skills": None}
    ]
    profile.get_by_role("button", name="Delete review").click()
    star_map.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(panel).to_contain_text("There are none yet.")


def test_events_show_as_they_come(star_map: Page, ask: Ask) -> None:
    old = ask.session("Old star")
    panel = opened_side(star_map, "events")
    rows = panel.get_by_role("listitem")
    expect(rows.first).to_contain_text("Created · Old star")
    new = ask.session("New star")
    expect(rows.first).to_contain_text("Created · New star")

    assert serious_faults(star_map) == []
    panel.get_by_label("Kind").select_option("Archived")
    expect(rows).to_have_count(0)
    ask("mutation($id: ID!) { archiveSession(id: $id) { id } }", id=new)
    expect(rows).to_have_count(1)
    panel.get_by_role("button", name="Pause").click()
    ask("mutation($id: ID!) { archiveSession(id: $id) { id } }", id=old)
    expect(panel.get_by_role("status")).to_contain_text("one new event waits")
    expect(rows).to_have_count(1)
    panel.get_by_role("button", name="Pause").click()
    expect(rows).to_have_count(2)

    panel.get_by_label("Filter by text").fill("new STAR")
    expect(rows).to_have_count(1)
    rows.get_by_role("button", name="New star").click()
    expect(star_map).to_have_url(re.compile(f"#s={new}$"))


def test_a_reader_sees_all_and_changes_nothing(
    browser: Browser, context: BrowserContext, page: Page, map_server: MapServer, ask: Ask
) -> None:
    """The last without keys: from the first one on everyone needs one."""
    session = ask.session("Read me")
    ask.say(session, "Hello.")
    page.goto(map_server.url + "/")
    panel = opened_space(page, "Keys")
    expect(panel).to_contain_text("This server works without keys")
    panel.get_by_label("Name").fill("desk")
    panel.get_by_role("button", name="New key").click()
    shown = page.get_by_role("dialog", name="The new key")
    admin = shown.get_by_label("The new key").input_value()
    page.keyboard.press("Escape")
    expect(shown.get_by_label("The new key")).to_have_value(admin)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown.get_by_role("button", name="Copy").click()
    expect(shown.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == admin
    shown.get_by_role("button", name="Use it in this tab").click()
    expect(panel.get_by_role("row", name=re.compile("desk"))).to_be_visible()
    expect(panel.get_by_text("This server works without keys")).to_have_count(0)

    with map_server.client(admin) as owner:
        made = owner('mutation { createApiKey(name: "glass", scope: READ) { secret } }')["createApiKey"]
    with with_key(browser, map_server, made["secret"]) as glass:
        reads_only(glass, session)

    section(panel, "Skills")
    section(panel, "Keys")
    panel.get_by_role("button", name="Revoke glass").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(panel.get_by_role("row", name=re.compile("glass"))).to_contain_text("Revoked")


def test_an_operator_makes_and_deletes_spaces(browser: Browser, map_server: MapServer) -> None:
    store = f"sqlite:///{map_server.process.log.with_name('map.db')}"
    made = run(["keys", "create", "--scope", "operator", "--name", "ops", "--store", store])
    with with_key(browser, map_server, made.stdout.strip()) as page:
        panel = page.locator("section.panel")
        expect(panel.get_by_role("row")).to_have_count(2)
        panel.get_by_label("Id").fill("Team B")
        panel.get_by_label("Name").fill("Team B")
        panel.get_by_role("button", name="New Space").click()
        expect(panel.get_by_label("Id")).to_be_focused()
        panel.get_by_label("Id").fill("team-b")
        panel.get_by_role("button", name="New Space").click()
        row = panel.get_by_role("row", name=re.compile("team-b"))
        expect(row).to_be_visible()
        assert serious_faults(page) == []
        row.get_by_role("button", name="Delete Team B").click()
        asked = page.get_by_role("dialog", name="Delete")
        asked.get_by_label("Type 0 to go on").fill("0")
        asked.get_by_role("button", name="Delete").click()
        expect(row).not_to_be_attached()


def test_drafts_are_of_one_space(page: Page, map_server: MapServer) -> None:
    """After those that gave the server keys."""
    store = f"sqlite:///{map_server.process.log.with_name('map.db')}"
    create = ["keys", "create", "--name", "owner", "--store", store, "--scope", "admin"]
    ours = run(create).stdout.strip()
    theirs = run([*create, "--space", "theirs"]).stdout.strip()
    with map_server.client(theirs) as owner:
        made = owner('mutation { createApiKey(name: "glass", scope: READ) { secret } }')["createApiKey"]
    page.goto(map_server.url + "/")
    enter(page, ours)
    opened_space(page, "Keys").get_by_label("Name").fill("Ours alone")
    forget_key(page)
    asked = page.get_by_role("dialog", name="Unsaved changes")
    asked.get_by_role("button", name="Go back to them").click()
    enter(page, ours)
    panel = page.locator("section.panel")
    expect(panel.get_by_label("Name")).to_have_value("Ours alone")
    forget_key(page)
    asked.get_by_role("button", name="Go back to them").click()
    enter(page, theirs)
    expect(panel.get_by_role("button", name="New key")).to_be_disabled()
    expect(panel.get_by_label("Name")).to_have_value("")

    forget_key(page)
    enter(page, made["secret"])
    expect(opened_side(page, "space")).to_contain_text("Only a key of the scope ADMIN")


def enter(page: Page, key: str) -> None:
    expect(page.get_by_label("API key")).to_be_focused()
    page.keyboard.type(key)
    page.keyboard.press("Enter")
    expect(page.get_by_role("banner")).to_be_visible()


def forget_key(page: Page) -> None:
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("button", name="Forget key").click()


@contextmanager
def with_key(browser: Browser, server: MapServer, key: str) -> Iterator[Page]:
    """The star map in another browser that has a key; no error may be logged in it."""
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    seen = Console(server.url)
    seen.listen(page)
    page.add_init_script(f"sessionStorage.setItem('stello-graph:/:api-key', {key!r})")
    page.goto(server.url + "/")
    yield page
    assert seen.errors == []
    context.close()


def reads_only(page: Page, session: str) -> None:
    memory = opened(page, session, "memory")
    expect(part(memory, "Digest")).to_contain_text("There is none yet.")
    expect(memory.get_by_role("button")).to_have_count(0)
    settings = opened(page, session, "settings")
    expect(settings).to_contain_text("This key may read only")
    expect(settings.get_by_label("Name", exact=True)).to_be_disabled()
    expect(settings.get_by_role("button")).to_have_count(0)
    space = opened_space(page, "General")
    expect(space).to_contain_text("Only a key of the scope ADMIN")
    expect(space.get_by_label("Name", exact=True)).to_be_disabled()
    expect(space.get_by_role("button", name="Keys")).to_have_count(0)
    section(space, "Skills")
    expect(entry(space, "tidy")).to_be_visible()
    expect(space.get_by_text("New skill")).to_have_count(0)


def opened_space(page: Page, name: str) -> Locator:
    panel = opened_side(page, "space")
    section(panel, name)
    return panel


def section(panel: Locator, name: str) -> None:
    panel.get_by_role("navigation").get_by_role("button", name=name, exact=True).click()


def entry(panel: Locator, name: str) -> Locator:
    """One of those that are there, by its name."""
    return panel.locator("details", has=panel.page.locator("summary strong").get_by_text(name, exact=True))


def added_to(panel: Locator, name: str) -> Locator:
    """The form for a new one, by what it adds."""
    return panel.locator("details", has=panel.page.locator("summary").get_by_text(name, exact=True))


def fill_new(panel: Locator, name: str, fields: dict[str, str]) -> None:
    added = added_to(panel, name)
    added.locator("summary").click()
    for label, text in fields.items():
        added.get_by_label(label, exact=True).fill(text)
    added.get_by_role("button", name=name).click()
    is_saved(added, name)


def write(ask: Ask, key: str, value: object) -> None:
    ask(
        "mutation($key: String!, $value: JSON!) { putRecord(key: $key, value: $value) { revision } }",
        key=key,
        value=value,
    )

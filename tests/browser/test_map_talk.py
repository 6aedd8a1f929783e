"""The conversation of the star map, as people use it."""

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest
from playwright.sync_api import (
    APIResponse,
    Browser,
    BrowserContext,
    Locator,
    Page,
    Request,
    Route,
    WebSocketRoute,
    expect,
)

from tests.browser.console import Console
from tests.browser.faults import serious_faults
from tests.browser.map_server import Ask, MapServer
from tests.browser.routes import route_graphql
from tests.e2e.machine import PIXEL
from tests.e2e.processes import Store, run, start
from tests.model_server import Answer, ModelServer, Refuse, say, think, use

pytestmark = pytest.mark.browser

PHONE: Final[Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
KEY: Final = "a-key-of-these-tests-and-of-nobody-else"
APPEND: Final = """mutation($id: ID!, $messages: [MessageInput!]!) {
    appendMessages(sessionId: $id, messages: $messages) { id }
}"""
CONFIRM: Final = """mutation($turn: ID!, $call: String!) {
    confirmToolCall(turnId: $turn, toolCallId: $call, approve: true) { id }
}"""
RENAME: Final = (
    "mutation($id: ID!, $label: String!) { updateSession(id: $id, input: {label: $label}) { id } }"
)
STARTED: Final = "mutation($input: SendInput!) { startTurn(input: $input) { id } }"
MESSAGES: Final = "query($id: ID!) { session(id: $id) { messages(last: 50) { nodes { role content } } } }"


@dataclass(frozen=True)
class Tools:
    """A server with tools, a key and a model that does what a test says."""

    server: MapServer
    model: ModelServer
    ask: Ask

    def started(self, session: str, text: str) -> None:
        """Somebody else begins a turn."""
        self.ask(STARTED, input={"sessionId": session, "content": text})

    def said(self, session: str) -> list[tuple[str, str]]:
        """What is stored."""
        nodes = self.ask(MESSAGES, id=session)["session"]["messages"]["nodes"]
        return [(node["role"], node["content"]) for node in nodes]


@pytest.fixture(scope="module")
def tool_server(
    running_model_server: ModelServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MapServer]:
    folder = tmp_path_factory.mktemp("tools")
    process = start(
        Store(f"sqlite:///{folder / 'map.db'}"),
        folder / "server.log",
        *("--tools", "tests.e2e.machine"),
        settings={
            "ANTHROPIC_API_KEY": running_model_server.api_key,
            "ANTHROPIC_BASE_URL": running_model_server.url,
            "STELLO_BOOTSTRAP_KEY": KEY,
        },
    )
    try:
        process.wait_ready()
        yield MapServer(process)
    finally:
        process.close()


@pytest.fixture
def tools(tool_server: MapServer, model_server: ModelServer) -> Iterator[Tools]:
    with tool_server.client(KEY) as ask:
        yield Tools(tool_server, model_server, ask)


def with_key(context: BrowserContext, key: str) -> None:
    context.add_init_script(f"sessionStorage.setItem('stello-graph:/:api-key', '{key}')")


@pytest.fixture
def seen(page: Page, tools: Tools) -> Iterator[Console]:
    """What `page` said and asked: at the end no error was logged and nobody else was asked."""
    value = Console(tools.server.url)
    value.listen(page)
    yield value
    assert value.foreign == []
    assert value.errors == []


@pytest.fixture
def keyed(page: Page, context: BrowserContext, seen: Console) -> Page:
    """A page that has the key."""
    with_key(context, KEY)
    return page


def show(page: Page, server: MapServer, session: str) -> Locator:
    """Opens a session by its address; the field to write in."""
    page.goto(f"{server.url}/#s={session}")
    field = page.get_by_label("Message", exact=True)
    expect(field).to_be_visible()
    return field


def messages(page: Page) -> Locator:
    return page.locator(".message")


def test_by_keyboard_alone_one_sends_and_forks(
    star_map: Page, context: BrowserContext, map_server: MapServer, ask: Ask
) -> None:
    session = ask.session("Kitchen")
    profile = {"name": "critic", "systemPrompt": "You criticise ${what}.", "context": "NONE"}
    ask("mutation($input: ForkProfileInput!) { putForkProfile(input: $input) { name } }", input=profile)
    field = show(star_map, map_server, session)
    expect(star_map.get_by_text("Nothing was said yet.")).to_be_visible()
    expect(star_map.locator(".composer")).to_contain_text("Offline model")
    field.focus()
    keys = star_map.keyboard
    keys.type("First line")
    keys.press("Shift+Enter")
    keys.type("**second** line")
    keys.press("Enter")
    expect(messages(star_map)).to_have_count(2)
    expect(messages(star_map).first.locator(".said")).to_have_text("First line\n**second** line")
    expect(messages(star_map).last.locator(".markdown")).to_contain_text("second")
    expect(field).to_be_focused()
    expect(field).to_have_value("")

    context.grant_permissions(["clipboard-read", "clipboard-write"])
    messages(star_map).first.get_by_role("button", name="Copy").focus()
    keys.press("Enter")
    expect(star_map.get_by_text("Copied.")).to_be_visible()
    assert star_map.evaluate("navigator.clipboard.readText()") == "First line\n**second** line"

    field.focus()
    keys.press("Enter")
    field.evaluate(
        "e => e.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', isComposing: true, bubbles: true}))"
    )
    keys.type("half a thought")
    star_map.reload()
    expect(field).to_have_value("half a thought")
    expect(messages(star_map)).to_have_count(2)

    button = messages(star_map).first.get_by_role("button", name="Fork from here")
    button.focus()
    keys.press("Enter")
    dialog = star_map.get_by_role("dialog", name="Fork “Kitchen”")
    expect(dialog.get_by_label("Name of the fork")).to_be_focused()
    keys.press("Escape")
    expect(dialog).to_have_count(0)
    expect(button).to_be_focused()
    keys.press("Enter")
    keys.press("Enter")
    expect(dialog.get_by_label("Name of the fork")).to_be_focused()
    dialog.get_by_label("Profile").focus()
    keys.press("c")
    expect(dialog.get_by_label(re.compile("^Nothing"))).to_be_checked()
    dialog.get_by_label("what", exact=True).fill("plans")
    dialog.get_by_label(re.compile("^Nothing")).focus()
    keys.press("ArrowUp")
    keys.press("ArrowUp")
    expect(dialog.get_by_label(re.compile("^The messages"))).to_be_checked()
    dialog.get_by_label(re.compile("^Opening words")).fill("Shall we?")
    dialog.get_by_label("Name of the fork").fill("Pantry")
    assert serious_faults(star_map) == []
    keys.press("Enter")
    expect(dialog).to_have_count(0)
    expect(star_map.get_by_role("heading", name="Pantry")).to_be_visible()
    expect(messages(star_map)).to_have_count(2)
    expect(messages(star_map).first).to_contain_text("from “Kitchen”")
    expect(star_map.get_by_role("group", name="Forked here")).to_be_visible()
    expect(messages(star_map).last).to_contain_text("Shall we?")
    expect(field).to_be_focused()
    child = star_map.url.split("#s=")[1]
    made = ask("query($id: ID!) { session(id: $id) { label systemPrompt node { sourceSeq } } }", id=child)
    assert made["session"] == {
        "label": "Pantry",
        "systemPrompt": "You criticise plans.",
        "node": {"sourceSeq": 1},
    }
    ask(RENAME, id=session, label="Galley")
    star_map.get_by_role("button", name="from “Galley”").first.click()
    expect(field).to_have_value("half a thought")


def test_a_fork_that_knows_nothing(star_map: Page, map_server: MapServer, ask: Ask) -> None:
    prompts = {"blank": "Be $tone; it costs $$5 and $${tone}.", "heir": "Be brief."}
    for name, context in {"blank": "NONE", "heir": "INHERIT"}.items():
        profile = {"name": name, "systemPrompt": prompts[name], "context": context}
        ask("mutation($input: ForkProfileInput!) { putForkProfile(input: $input) { name } }", input=profile)
    for role, profile_name, made in (
        ("STANDARD", "blank", "Be kind; it costs $5 and ${tone}."),
        ("MAIN", "heir", "Be brief."),
    ):
        session = ask.session(f"Source {role}", role=role)
        ask.say(session, "One", "Two")
        show(star_map, map_server, session)
        messages(star_map).nth(1).get_by_role("button", name="Fork from here").click()
        dialog = star_map.get_by_role("dialog")
        dialog.get_by_label("Name of the fork").fill(f"Fresh {role}")
        expect(dialog.get_by_text("Up to message 2.")).to_have_count(1 if role == "STANDARD" else 0)
        dialog.get_by_label("Profile").select_option(profile_name)
        expect(dialog.get_by_label(re.compile("^Nothing"))).to_be_checked()
        expect(dialog.get_by_role("radio")).to_have_count(3 if role == "STANDARD" else 1)
        if role == "STANDARD":
            expect(dialog.get_by_text("Up to message 2.")).to_have_count(0)
            dialog.get_by_label("tone", exact=True).fill("kind")
        else:
            expect(dialog.get_by_text("A main conversation gives its forks no context.")).to_be_visible()
        dialog.get_by_role("button", name="Fork", exact=True).click()
        expect(star_map.get_by_role("heading", name=f"Fresh {role}")).to_be_visible()
        expect(star_map.get_by_text("Up to message")).to_have_count(0)
        child = star_map.url.split("#s=")[1]
        fork = ask("query($id: ID!) { session(id: $id) { systemPrompt messageCount } }", id=child)
        assert fork["session"] == {"systemPrompt": made, "messageCount": 0}


HOSTILE: Final = [
    "<script>window.hurt = 1</script>",
    "<img src=https://evil.example/a.png onerror='window.hurt=1'>",
    "[a](javascript:window.hurt=1) [b](data:text/html,<script>hurt=1</script>) <javascript:alert(1)>",
    "![c](https://evil.example/b.png) ![d](javascript:hurt=1)",
    "<svg onload=window.hurt=1><use href='https://evil.example/s.svg#x'/></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=hurt=1&gt;'>",
    "<p style='background:url(https://evil.example/c.png)'>x</p><style>@import 'https://evil.example/c.css';</style>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'><base href='https://evil.example/'>",
    "<iframe srcdoc='<script>parent.hurt=1</script>'></iframe><form action=/graphql><input name=body></form>",
    "[e]: https://evil.example/ \"' onmouseover=hurt=1 '\"\n\n[e] <a id=body name=body href=/graphql>f</a>",
    "```html onload=hurt=1\n</code></pre><script>hurt=1</script>\n```",
    "[g](https://good.example/ 'title') <b>bold</b> a<br>b",
    *(">" * 20_000, "_a" * 20_000, "- " * 10_000),
]
CODE: Final = "```python\ndef f(): return '</span><img src=x onerror=hurt=1>'\n```"


def test_nothing_in_a_message_runs_or_loads(star_map: Page, map_server: MapServer, ask: Ask) -> None:
    session = ask.session("<img src=x onerror=hurt=1>")
    foreign = {"type": "image", "source": {"type": "url", "url": "https://evil.example/p.png"}}
    vector = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/svg+xml", "data": "PHN2Zy8+"},
    }
    thought = {"type": "thinking", "thinking": HOSTILE[0], "signature": "s"}
    call = {"id": "a", "name": "<b onclick=hurt=1>", "arguments": {"x": HOSTILE[1]}}
    ask(
        APPEND,
        id=session,
        messages=[
            {"role": "USER", "content": "\n".join(HOSTILE)},
            *[{"role": "ASSISTANT", "content": text} for text in [*HOSTILE, CODE]],
            {"role": "ASSISTANT", "content": "", "parts": [thought], "toolCalls": [call]},
            {"role": "TOOL", "content": HOSTILE[0], "parts": [foreign, vector], "toolCallId": "a"},
        ],
    )
    show(star_map, map_server, session)
    expect(messages(star_map)).to_have_count(len(HOSTILE) + 3)
    expect(star_map.locator(".hljs-keyword")).not_to_have_count(0)
    assert serious_faults(star_map) == []
    for summary in star_map.locator(".talk summary").all():
        summary.click()
    for place in star_map.locator(".talk a, .talk .markdown *").all():
        place.dispatch_event("mouseover")
    expect(star_map.get_by_text("A picture that is not stored here.")).to_have_count(2)
    talk = star_map.locator(".talk")
    expect(
        talk.locator("script, img, svg, math, style, iframe, form:not(.composer), meta, base")
    ).to_have_count(0)
    found = star_map.locator(".markdown *").evaluate_all(
        "all => all.flatMap(e => [...e.attributes].map(a => a.name))"
    )
    assert set(found) <= {"href", "title", "target", "rel", "class", "type", "tabindex", "align", "start"}
    links = star_map.locator(".markdown a").evaluate_all(
        "all => all.map(a => [a.getAttribute('href'), a.target, a.rel])"
    )
    assert {tuple(link[1:]) for link in links} == {("_blank", "noopener noreferrer nofollow")}
    assert {link[0] for link in links if link[0]} == {
        "https://evil.example/b.png",
        "https://evil.example/",
        "https://good.example/",
    }
    assert star_map.evaluate("window.hurt") is None


def test_twenty_thousand_messages_cost_no_more_than_two_hundred(
    star_map: Page, map_server: MapServer, ask: Ask
) -> None:
    session = ask.session("Long")
    for start_ in range(1, 20_001, 1_000):
        batch = [
            {
                "role": "USER" if seq % 2 else "ASSISTANT",
                "content": f"Message **{seq}**" + "\n\nmore" * (seq % 5),
            }
            for seq in range(start_, start_ + 1_000)
        ]
        ask(APPEND, id=session, messages=batch)
    show(star_map, map_server, session)
    box = star_map.get_by_role("region", name="Conversation")
    newest = star_map.locator("[data-seq='20000']")
    expect(newest).to_be_in_viewport()
    lost = star_map.evaluate("document.querySelectorAll('*').length")
    # A message that is in sight stays where it is while older ones come above it.
    for _ in range(8):
        before = star_map.evaluate(PLACE)
        oldest = int(before["oldest"])
        box.evaluate("e => e.scrollTop = 700")
        seen = star_map.evaluate(PLACE)
        expect(star_map.locator(f"[data-seq='{oldest - 1}']")).to_be_attached()
        after = star_map.evaluate(TOP_OF, seen["seq"])
        assert abs(after - seen["top"]) < 2
    assert star_map.locator(".message").count() <= 150
    assert star_map.evaluate("document.querySelectorAll('*').length") < 8 * lost
    expect(newest).to_have_count(0)
    box.focus()
    star_map.keyboard.press("End")
    expect(star_map.get_by_role("button", name="Newest messages")).to_be_visible()
    ask(APPEND, id=session, messages=[{"role": "USER", "content": "The last one"}])
    star_map.get_by_role("button", name=re.compile("Newest messages|New messages")).click()
    expect(star_map.get_by_text("The last one")).to_be_in_viewport()
    expect(star_map.get_by_role("button", name="Newest messages")).to_have_count(0)


PLACE: Final = """() => {
    const box = document.querySelector('.transcript');
    const all = [...box.querySelectorAll('[data-seq]')];
    const edge = box.getBoundingClientRect().top;
    const seen = all.find(e => e.getBoundingClientRect().top > edge + 20);
    return {seq: seen.dataset.seq, top: seen.getBoundingClientRect().top, oldest: all[0].dataset.seq};
}"""
TOP_OF: Final = "seq => document.querySelector(`[data-seq='${seq}']`).getBoundingClientRect().top"


def test_tools_thoughts_and_questions(keyed: Page, tools: Tools) -> None:
    session = tools.ask.session("Tools")
    tools.model.script(
        Answer(
            [
                think("Let me see the wall.", "c2ln"),
                say("I look."),
                use("picture", id="a"),
                use("fails", id="b"),
            ]
        ),
        Answer([use("erase", id="c"), use("erase", id="d")]),
        "Done.",
    )
    field = show(keyed, tools.server, session)
    field.fill("Clean up")
    field.press("Enter")
    first, second = [keyed.get_by_role("group", name="May “erase” run?").nth(place) for place in (0, 1)]
    expect(second).to_be_visible()
    keyed.reload()
    expect(second).to_be_visible()
    expect(keyed.get_by_role("status").get_by_text("Waits for your answer")).to_be_visible()
    looked = messages(keyed).nth(1)
    expect(looked.locator(".tool").first).to_contain_text("done")
    expect(looked.locator(".tool").last).to_contain_text("failed")
    looked.get_by_text("Thoughts").click()
    expect(looked.get_by_text("Let me see the wall.")).to_be_visible()
    looked.locator("summary", has_text="picture").click()
    expect(looked.get_by_role("img", name="Picture")).to_have_attribute(
        "src", f"data:image/png;base64,{PIXEL}"
    )
    assert (
        looked.get_by_role("img", name="Picture").evaluate("e => e.decode().then(() => e.naturalWidth)") == 1
    )
    looked.locator("summary", has_text="fails").click()
    expect(looked.locator(".tool").last).to_contain_text("out of order")
    expect(looked.get_by_role("button", name="Fork from here")).to_have_count(1)
    expect(messages(keyed).nth(2).get_by_role("button", name="Fork from here")).to_have_count(0)

    assert serious_faults(keyed) == []
    second.get_by_label("Reason (optional)").fill("keep it")
    second.get_by_role("button", name="Refuse").click()
    expect(keyed.get_by_role("group", name="May “erase” run?")).to_have_count(1)
    expect(keyed.get_by_label("Message", exact=True)).to_be_focused()
    first.get_by_role("button", name="Approve").click()
    expect(messages(keyed).last).to_contain_text("Done.")
    asked = messages(keyed).nth(2)
    expect(asked.locator(".tool").first).to_contain_text(re.compile(r"done\s*\d+ ms"))
    asked.locator("summary").last.click()
    expect(asked.locator(".tool").last).to_contain_text("keep it")
    expect(asked.get_by_role("button", name="Fork from here")).to_have_count(1)

    question = keyed.get_by_role("group", name="May “erase” run?")
    tools.model.script(Answer([use("erase", id="e")]))
    field.fill("Again")
    field.press("Enter")
    expect(question).to_be_visible()
    keyed.get_by_role("button", name="Stop").click()
    expect(keyed.get_by_text("Stopped.")).to_be_visible()
    expect(question).to_have_count(0)
    tools.model.script(Answer([use("erase", id="f")]), "Somebody said yes.")
    field.fill("Once more")
    field.press("Enter")
    expect(question).to_be_visible()
    running = tools.ask("query($id: ID!) { session(id: $id) { activeTurn { id } } }", id=session)
    tools.ask(CONFIRM, turn=running["session"]["activeTurn"]["id"], call="f")
    expect(messages(keyed).last).to_contain_text("Somebody said yes.")
    expect(question).to_have_count(0)


def test_what_is_said_elsewhere_appears(star_map: Page, map_server: MapServer, ask: Ask) -> None:
    session = ask.session("Shared")
    field = show(star_map, map_server, session)
    field.fill("From here")
    field.press("Enter")
    expect(messages(star_map)).to_have_count(2)
    ask.say(session, *["A line\n" * 9] * 3)
    expect(messages(star_map)).to_have_count(8)
    expect(messages(star_map).last).to_be_in_viewport()
    star_map.get_by_role("region", name="Conversation").evaluate("e => e.scrollTop = 0")
    expect(star_map.get_by_role("button", name="Newest messages")).to_be_visible()
    ask.say(session, "The newest of all")
    star_map.get_by_role("button", name="New messages").click()
    expect(messages(star_map).last).to_be_in_viewport()
    expect(messages(star_map)).to_have_count(10)
    ask("mutation($id: ID!) { trimMessages(sessionId: $id, keepLast: 4) { id } }", id=session)
    expect(messages(star_map)).to_have_count(4)
    field.focus()
    ask("mutation($id: ID!) { archiveSession(id: $id) { id } }", id=session)
    expect(star_map.get_by_text("This conversation is archived")).to_be_visible()
    expect(star_map.get_by_role("region", name="Conversation")).to_be_focused()
    ask("mutation($id: ID!) { unarchiveSession(id: $id) { id } }", id=session)
    expect(field).to_be_visible()


@pytest.mark.covers("W47")
def test_a_session_that_cannot_be_read_leaves_the_other_as_it_was(
    star_map: Page, map_server: MapServer, ask: Ask
) -> None:
    here, there = ask.session("Harbour"), ask.session("Pier")
    ask.say(here, "What is here")
    ask.say(there, "What is there")
    field = show(star_map, map_server, here)
    expect(messages(star_map)).to_have_count(2)
    field.fill("Not sent yet")
    refusal = {"message": "The store is away.", "extensions": {"code": "STORE_UNAVAILABLE"}}

    def refuse(route: Route) -> None:
        if there in (route.request.post_data or ""):
            route.fulfill(json={"data": None, "errors": [refusal]})
        else:
            route.continue_()

    route_graphql(star_map, refuse)
    star_map.get_by_role("treeitem", name="Pier,").click()
    expect(star_map.get_by_text("The store is away.").first).to_be_visible()
    expect(star_map.get_by_text("What is here")).to_have_count(0)
    star_map.get_by_role("treeitem", name="Harbour,").click()
    expect(messages(star_map)).to_have_count(2)
    expect(field).to_have_value("Not sent yet")
    star_map.unroute("**/graphql")
    star_map.get_by_role("treeitem", name="Pier,").click()
    expect(messages(star_map).first).to_contain_text("What is there")
    assert ask(MESSAGES, id=here)["session"]["messages"]["nodes"][0]["content"] == "What is here"


def slow(text: str, at: int = 3) -> tuple[Answer, threading.Event]:
    """An answer that waits in its middle for a test."""
    gate = threading.Event()
    return Answer([say(text)], gate=gate, gate_at=at), gate


@pytest.mark.covers("W47")
def test_a_reply_is_followed_after_a_reload_and_a_lost_connection(keyed: Page, tools: Tools) -> None:
    session = tools.ask.session("Slow")
    answer, gate = slow("The first words, **then** the rest of them, and an end.")
    tools.model.script(answer)
    sockets: list[WebSocketRoute] = []

    def through(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    keyed.route_web_socket(re.compile("/graphql$"), through)
    field = show(keyed, tools.server, session)
    field.fill("Tell me")
    field.press("Enter")
    live = keyed.locator(".message.live")
    expect(live).to_contain_text("The first words")
    keyed.reload()
    expect(live).to_contain_text("The first words")
    count = len(sockets)
    sockets[-1].close(code=1012, reason="restart")
    expect(keyed.get_by_role("button", name="Stop")).to_be_visible()
    gate.set()
    expect(messages(keyed).last.locator(".markdown")).to_have_text(
        "The first words, then the rest of them, and an end."
    )
    expect(live).to_have_count(0)
    expect(keyed.get_by_role("button", name="Stop")).to_have_count(0)
    assert len(sockets) > count
    assert [role for role, _ in tools.said(session)] == ["USER", "ASSISTANT"]

    tools.model.script(
        Answer([say("[This](https://good.example/) stands.\n\n" + "and on " * 500)], pause=0.05)
    )
    field.fill("And now?")
    field.press("Enter")
    expect(live).to_contain_text("and on")
    live.get_by_role("link", name="This").focus()
    expect(live).to_contain_text("and on " * 9)
    expect(live.get_by_role("link", name="This")).to_be_focused()
    field.press("Escape")
    expect(keyed.get_by_text("Stopped.")).to_be_visible()
    expect(messages(keyed).last.locator(".mark")).to_have_text("cut off")
    expect(keyed.get_by_role("heading", name="Slow")).to_be_visible()


def test_a_message_that_gets_no_answer_is_said_once(keyed: Page, tools: Tools, seen: Console) -> None:
    session = tools.ask.session("Once")
    tools.model.script("Heard.", "Heard again.")
    sockets: list[WebSocketRoute] = []

    def through(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    keyed.route_web_socket(re.compile("/graphql$"), through)
    field = show(keyed, tools.server, session)
    taken: list[APIResponse] = []

    def lose_the_answer(route: Route) -> None:
        if "startTurn" not in (route.request.post_data or "") or taken:
            route.fallback()
        else:
            taken.append(route.fetch())
            route.fulfill(status=502, body="bad gateway", content_type="text/plain")

    route_graphql(keyed, lose_the_answer)
    field.fill("Once")
    field.press("Enter")
    expect(keyed.get_by_text("Not sent: the server does not answer.")).to_be_visible()
    assert [error for error in seen.errors if "502" not in error] == []
    seen.errors.clear()
    keyed.reload()
    expect(messages(keyed)).to_have_count(2)
    expect(messages(keyed).last).to_contain_text("Heard.")
    assert tools.said(session) == [("USER", "Once"), ("ASSISTANT", "Heard.")]
    assert len(taken) == 1

    keys: list[str] = []

    def store_is_away(route: Route) -> None:
        if not is_sent(route.request):
            route.fallback()
            return
        keys.append(json.loads(route.request.post_data or "")["variables"]["input"]["idempotencyKey"])
        if len(keys) > 1:
            route.fallback()
            return
        refusal = {"message": "The store is away.", "extensions": {"code": "STORE_UNAVAILABLE"}}
        route.fulfill(status=200, json={"data": None, "errors": [refusal]})

    route_graphql(keyed, store_is_away)
    field.fill("Twice?")
    field.press("Enter")
    expect(keyed.get_by_text("Not sent: the server does not answer.")).to_be_visible()
    sockets[-1].close(code=1012, reason="restart")
    expect(messages(keyed).last).to_contain_text("Heard again.")
    assert [text for _, text in tools.said(session)] == ["Once", "Heard.", "Twice?", "Heard again."]
    assert len(keys) == 2
    assert len(set(keys)) == 1


def is_sent(request: Request) -> bool:
    return "startTurn" in (request.post_data or "")


def test_what_one_wrote_in_a_space_stays_there(page: Page, tools: Tools, seen: Console) -> None:
    store = f"sqlite:///{tools.server.process.log.with_name('map.db')}"
    made = run(["keys", "create", "--scope", "write", "--name", "else", "--space", "other", "--store", store])
    other = made.stdout.strip()
    tools.ask.session("Here", id="twin")
    with tools.server.client(other) as ask:
        ask.session("There", id="twin")

    def refuse(route: Route) -> None:
        if is_sent(route.request):
            route.abort()
        else:
            route.fallback()

    page.route("**/graphql", refuse)
    page.goto(f"{tools.server.url}/healthz")
    take_key(page, KEY)
    field = show(page, tools.server, "twin")
    field.fill("Sent here")
    field.press("Enter")
    expect(page.get_by_text("Not sent: the server does not answer.")).to_be_visible()
    field.fill("Meant for here")
    assert "Meant for here" in kept(page)
    page.unroute("**/graphql")
    take_key(page, other)
    page.reload()
    expect(page.get_by_role("heading", name="There")).to_be_visible()
    expect(page.get_by_text("Nothing was said yet.")).to_be_visible()
    expect(field).to_have_value("")
    assert "here" not in kept(page)
    with tools.server.client(other) as ask:
        assert ask(MESSAGES, id="twin")["session"]["messages"]["nodes"] == []
    assert tools.said("twin") == []
    field.fill("Nobody is to read this")
    assert "Nobody" in kept(page)
    assert [error for error in seen.errors if "ERR_FAILED" not in error] == []
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("button", name="Forget key").click()
    expect(page.get_by_label("API key")).to_be_visible()
    assert "Nobody" not in kept(page)
    seen.errors.clear()


def take_key(page: Page, key: str) -> None:
    page.evaluate("key => sessionStorage.setItem('stello-graph:/:api-key', key)", key)


def kept(page: Page) -> str:
    return str(page.evaluate("Object.values({...sessionStorage}).join()"))


def test_somebody_elses_turn_is_waited_for_or_interrupted(keyed: Page, tools: Tools) -> None:
    session = tools.ask.session("Shared")
    field = show(keyed, tools.server, session)
    first, gate = slow("Somebody else is answered at length here.")
    tools.model.script(first, "Second.")
    tools.started(session, "From elsewhere")
    assert first.reached.wait(60)
    field.fill("Me too")
    field.press("Enter")
    outgoing = keyed.locator(".message.outgoing")
    expect(outgoing).to_contain_text("A turn is running already.")
    expect(keyed.locator(".message.live")).to_contain_text("Somebody else")
    outgoing.get_by_role("button", name="Wait for it").click()
    expect(outgoing).to_contain_text("Waiting for the running turn…")
    gate.set()
    expect(messages(keyed).last).to_contain_text("Second.")
    expect(messages(keyed)).to_have_count(4)

    second, gate = slow("This one will be broken off for another.")
    tools.model.script(second, "Third.")
    tools.started(session, "Again from elsewhere")
    assert second.reached.wait(60)
    field.fill("Now me")
    field.press("Enter")
    outgoing.get_by_role("button", name="Interrupt it").click()
    gate.set()
    expect(messages(keyed).last).to_contain_text("Third.")
    assert [text for role, text in tools.said(session) if role == "USER"] == [
        *("From elsewhere", "Me too"),
        *("Again from elsewhere", "Now me"),
    ]


def test_a_failed_turn_tells_why_and_is_tried_again(keyed: Page, tools: Tools, seen: Console) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        if is_said(route.request):
            held.append(route)
        else:
            route.fallback()

    # From the start: a request that is on its way as this begins is not told of.
    keyed.route("**/graphql", hold)
    session = tools.ask.session("Fails")
    tools.model.respond = lambda body: Refuse(529, "overloaded_error", "Overloaded")
    field = show(keyed, tools.server, session)
    field.fill("Hello?")
    field.press("Enter")
    again = keyed.get_by_role("alert").get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    keyed.reload()
    expect(again).to_be_visible()
    tools.model.respond = lambda body: "Now I am here."
    with keyed.expect_request(is_said):
        again.click()
    expect(again).to_have_count(0)
    held.pop().abort()
    expect(again).to_be_visible()
    assert [error for error in seen.errors if "ERR_FAILED" not in error] == []
    seen.errors.clear()
    with keyed.expect_request(is_said):
        again.click()
    expect(again).to_have_count(0)
    held.pop().continue_()
    expect(messages(keyed).last).to_contain_text("Now I am here.")
    expect(again).to_have_count(0)
    assert [text for role, text in tools.said(session) if role == "USER"] == ["Hello?", "Hello?"]

    tools.model.respond = lambda body: Refuse(529, "overloaded_error", "Overloaded")
    keyed.get_by_role("button", name="Fork…").click()
    dialog = keyed.get_by_role("dialog")
    dialog.get_by_label("Name of the fork").fill("In short")
    dialog.get_by_label(re.compile("^A summary")).check()
    dialog.get_by_role("button", name="Fork", exact=True).click()
    expect(dialog.get_by_role("alert")).not_to_be_empty()
    tools.model.respond = lambda body: "They greeted each other."
    dialog.get_by_role("button", name="Fork", exact=True).click()
    expect(keyed.get_by_role("heading", name="In short")).to_be_visible()
    expect(keyed.get_by_role("group", name="Forked here")).to_contain_text("from “Fails”")
    entered = [variables(request) for request in seen.requests if is_visit(request)]
    child = keyed.url.split("#s=")[1]
    assert [visit["id"] for visit in entered] == [session, session, child]
    assert len({visit["holder"] for visit in entered}) == 1
    # Whoever goes on to another session's memory is in none.
    keyed.get_by_role("tab", name="Memory").click()
    with keyed.expect_request(is_leave) as left:
        keyed.get_by_role("navigation", name="Where it hangs").get_by_role("button", name="Fails").click()
    assert variables(left.value) == {"id": child, "holder": entered[0]["holder"]}
    with keyed.expect_request(is_visit):
        keyed.get_by_role("tab", name="Talk").click()
    with keyed.expect_request(is_leave) as left:
        keyed.get_by_role("button", name="Close", exact=True).click()
    assert variables(left.value) == {"id": session, "holder": entered[0]["holder"]}


def is_said(request: Request) -> bool:
    return "query Said" in (request.post_data or "")


def is_leave(request: Request) -> bool:
    return "leaveSession" in (request.post_data or "")


def is_visit(request: Request) -> bool:
    return "enterSession" in (request.post_data or "")


def variables(request: Request) -> dict[str, str]:
    sent: dict[str, dict[str, str]] = json.loads(request.post_data or "")
    return sent["variables"]


def test_who_may_not_write_reads_and_an_archived_session_is_read(
    browser: Browser, keyed: Page, tools: Tools
) -> None:
    session = tools.ask.session("Old")
    tools.ask(APPEND, id=session, messages=[{"role": "USER", "content": "Said before"}])
    tools.ask("mutation($id: ID!) { archiveSession(id: $id) { id } }", id=session)
    made = tools.ask('mutation { createApiKey(name: "reader", scope: READ) { secret } }')
    keyed.goto(f"{tools.server.url}/#s={session}")
    expect(keyed.get_by_text("Said before")).to_be_visible()
    expect(keyed.get_by_text("This conversation is archived")).to_be_visible()
    expect(keyed.get_by_role("button", name="Fork from here")).to_have_count(0)
    keyed.locator(".composer").get_by_role("button", name="Unarchive").click()
    expect(keyed.get_by_label("Message", exact=True)).to_be_visible()

    phone = browser.new_context(**PHONE, locale="zh-CN")
    with_key(phone, made["createApiKey"]["secret"])
    reader = phone.new_page()
    seen = Console(tools.server.url)
    seen.listen(reader)
    reader.goto(f"{tools.server.url}/#s={session}")
    expect(reader.get_by_text("此密钥只能读取，不能写入。")).to_be_in_viewport()
    expect(reader.get_by_text("Said before")).to_be_in_viewport()
    expect(reader.locator("textarea")).to_have_count(0)
    expect(reader.get_by_role("button", name="从这里分叉")).to_have_count(0)
    assert reader.evaluate("document.documentElement.scrollWidth") <= 390
    assert [request for request in seen.requests if is_visit(request)] == []
    assert seen.errors == []
    phone.close()


def test_on_a_phone_one_sends_and_goes_back(browser: Browser, map_server: MapServer, ask: Ask) -> None:
    session = ask.session("Pocket")
    ask.say(session, *["A line\n" * 9] * 4)
    context = browser.new_context(**PHONE, locale="en-GB", color_scheme="dark")
    page = context.new_page()
    seen = Console(map_server.url)
    seen.listen(page)
    field = show(page, map_server, session)
    expect(messages(page).last).to_be_in_viewport()
    expect(field).not_to_be_focused()
    page.get_by_role("region", name="Conversation").evaluate("e => e.scrollTop = 0")
    page.get_by_role("button", name="Newest messages").tap()
    expect(messages(page).last).to_be_in_viewport()
    field.fill("From the pocket")
    page.get_by_role("button", name="Send").tap()
    expect(messages(page)).to_have_count(10)
    expect(messages(page).last.locator(".markdown")).to_be_in_viewport()
    assert serious_faults(page) == []
    messages(page).last.get_by_role("button", name="Fork from here").tap()
    expect(page.get_by_role("dialog").get_by_role("button", name="Fork", exact=True)).to_be_in_viewport()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").tap()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert (seen.foreign, seen.errors) == ([], [])
    context.close()

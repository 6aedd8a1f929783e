"""What the API promises beside the store's laws: paging, codes, defaults, scopes."""

from typing import Any

import pytest

from stello_graph.graphql.schema import schema
from stello_graph.model.values import KeyScope
from tests.unit.graphql.conftest import Api

CREATE = "mutation($input: CreateSessionInput!) { createSession(input: $input) { id label role strategy tags metadata } }"
APPEND = """mutation($id: ID!, $messages: [MessageInput!]!, $key: String) {
  appendMessages(sessionId: $id, messages: $messages, idempotencyKey: $key) { seq role content toolCalls { id name arguments } }
}"""
PAGE = """query($id: ID!, $first: Int, $after: String, $last: Int, $before: String, $roles: [MessageRole!]) {
  session(id: $id) { messages(first: $first, after: $after, last: $last, before: $before, roles: $roles) {
    totalCount nodes { seq } edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  } }
}"""


async def create(api: Api, **input: Any) -> dict[str, Any]:
    data = await api.ask(CREATE, input=input)
    session: dict[str, Any] = data["createSession"]
    return session


async def filled(api: Api, id: str, count: int) -> None:
    await create(api, id=id)
    messages = [{"role": "ASSISTANT" if n % 2 else "USER", "content": str(n)} for n in range(count)]
    await api.ask(APPEND, id=id, messages=messages)


async def page(api: Api, **arguments: Any) -> dict[str, Any]:
    data = await api.ask(PAGE, id="s", **arguments)
    messages: dict[str, Any] = data["session"]["messages"]
    return messages


def seqs(found: dict[str, Any]) -> list[int]:
    return [node["seq"] for node in found["nodes"]]


@pytest.mark.covers("MSG-1")
async def test_messages_are_paged_from_either_end(api: Api) -> None:
    """last/before walks back, first/after walks on; both are oldest first and meet without a gap."""
    await filled(api, "s", 7)
    newest = await page(api, last=3)
    assert seqs(newest) == [5, 6, 7]
    assert newest["totalCount"] == 7
    assert newest["pageInfo"] == {
        "hasNextPage": False,
        "hasPreviousPage": True,
        "startCursor": "5",
        "endCursor": "7",
    }
    earlier = await page(api, last=3, before=newest["pageInfo"]["startCursor"])
    assert seqs(earlier) == [2, 3, 4]
    assert earlier["pageInfo"]["hasNextPage"]
    first = await page(api, last=3, before=earlier["pageInfo"]["startCursor"])
    assert seqs(first) == [1]
    assert not first["pageInfo"]["hasPreviousPage"]
    oldest = await page(api, first=4)
    assert seqs(oldest) == [1, 2, 3, 4]
    assert oldest["pageInfo"]["hasNextPage"]
    rest = await page(api, first=4, after=oldest["pageInfo"]["endCursor"])
    assert seqs(rest) == [5, 6, 7]
    assert not rest["pageInfo"]["hasNextPage"]
    assert rest["pageInfo"]["hasPreviousPage"]


async def test_messages_are_the_last_fifty_by_default(api: Api) -> None:
    """Neither first nor last: the newest 50."""
    await filled(api, "s", 60)
    assert seqs(await page(api)) == list(range(11, 61))


@pytest.mark.covers("MSG-1")
async def test_messages_by_role(api: Api) -> None:
    """Roles filter before the page is cut, and the total counts only them."""
    await filled(api, "s", 6)
    found = await page(api, first=2, roles=["ASSISTANT"])
    assert seqs(found) == [2, 4]
    assert found["totalCount"] == 3
    assert found["pageInfo"]["hasNextPage"]


async def test_pages_that_are_none(api: Api) -> None:
    """first with last, a foreign cursor and a page of 0 are INVALID_INPUT; over 1,000 is LIMIT_EXCEEDED."""
    await create(api, id="s")
    for arguments in ({"first": 1, "last": 1}, {"last": 0}, {"first": -1}, {"after": "x"}, {"before": "-3"}):
        assert (await api.refused(PAGE, id="s", **arguments))["code"] == "INVALID_INPUT", arguments
    assert (await api.refused(PAGE, id="s", first=1_001))["code"] == "LIMIT_EXCEEDED"


@pytest.mark.covers("SES-6")
async def test_sessions_are_paged_in_order_of_creation(api: Api) -> None:
    """Cursors continue a list; filters hold on every page."""
    made = [(await create(api, tags=["even"] if n % 2 == 0 else []))["id"] for n in range(5)]
    document = """query($after: String) { sessions(first: 2, after: $after, tag: "even") {
      totalCount nodes { id } pageInfo { hasNextPage endCursor } } }"""
    first = (await api.ask(document))["sessions"]
    assert [node["id"] for node in first["nodes"]] == [made[0], made[2]]
    assert first["totalCount"] == 3
    rest = (await api.ask(document, after=first["pageInfo"]["endCursor"]))["sessions"]
    assert [node["id"] for node in rest["nodes"]] == [made[4]]
    assert not rest["pageInfo"]["hasNextPage"]


async def test_a_defaulted_argument_given_as_null_has_its_default(api: Api) -> None:
    """null is not a page of nothing."""
    await filled(api, "s", 2)
    assert len((await api.ask("{ getChildren(first: null, after: null) { id } }"))["getChildren"]) == 1
    assert (await api.ask("{ starMap(maxNodes: null, includeArchived: null) { nodeCount } }"))["starMap"][
        "nodeCount"
    ] == 1
    session = await create(api, role=None, tags=None, metadata=None)
    assert session["role"] == "STANDARD"
    assert session["tags"] == []
    assert session["metadata"] == {}


async def test_an_update_changes_what_is_given_and_null_clears(api: Api) -> None:
    """Not given leaves a field; null clears it where it can be null; a label cannot."""
    await create(api, id="s", systemPrompt="p", skills=["x"], overrides={"model": "m", "roleContext": "r"})
    update = """mutation($input: UpdateSessionInput!) { updateSession(id: "s", input: $input) {
      label systemPrompt skills overrides { model roleContext } } }"""
    changed = (await api.ask(update, input={"systemPrompt": None, "overrides": {"model": None}}))[
        "updateSession"
    ]
    assert changed == {
        "label": "Root",
        "systemPrompt": None,
        "skills": ["x"],
        "overrides": {"model": None, "roleContext": "r"},
    }
    assert (await api.ask(update, input={"skills": None}))["updateSession"]["skills"] is None
    assert (await api.ask(update, input={"skills": []}))["updateSession"]["skills"] == []
    assert (await api.ask(update, input={"overrides": None}))["updateSession"]["overrides"][
        "roleContext"
    ] is None
    assert (await api.refused(update, input={"label": None}))["code"] == "INVALID_INPUT"


@pytest.mark.covers("FORK-5")
async def test_a_fork_inherits_what_is_not_given(api: Api) -> None:
    """skills: not given inherits, null allows all, [] none, a list replaces."""
    await create(api, id="s", systemPrompt="p", skills=["x"], overrides={"model": "m"})
    fork = """mutation($input: ForkInput!) { fork(input: $input) {
      systemPrompt skills tags overrides { model } node { parentId sourceSessionId sourceSeq } } }"""

    async def forked(**input: Any) -> dict[str, Any]:
        data = await api.ask(fork, input={"sourceSessionId": "s", "label": "f", **input})
        result: dict[str, Any] = data["fork"]
        return result

    plain = await forked()
    assert plain == {
        "systemPrompt": "p",
        "skills": ["x"],
        "tags": [],
        "overrides": {"model": "m"},
        "node": {"parentId": "s", "sourceSessionId": "s", "sourceSeq": None},
    }
    assert (await forked(skills=None))["skills"] is None
    assert (await forked(skills=[]))["skills"] == []
    assert (await forked(systemPrompt="own", skills=["y"]))["skills"] == ["y"]


@pytest.mark.covers("S3")
async def test_a_main_session_leaks_nothing_and_gives_no_context(api: Api) -> None:
    """MAIN is a root, hangs its forks flat, and refuses INHERIT."""
    await create(api, id="m", role="MAIN", systemPrompt="secret", skills=["x"])
    fork = "mutation($input: ForkInput!) { fork(input: $input) { id systemPrompt skills node { parentId } } }"
    child = (await api.ask(fork, input={"sourceSessionId": "m", "label": "c", "id": "c"}))["fork"]
    assert child["systemPrompt"] is None
    assert child["skills"] is None
    grandchild = (await api.ask(fork, input={"sourceSessionId": "c", "label": "g"}))["fork"]
    assert grandchild["node"]["parentId"] == "m", "a MAIN tree is FLAT by default"
    refused = await api.refused(fork, input={"sourceSessionId": "m", "label": "c", "context": "INHERIT"})
    assert refused["code"] == "FORK_REFUSED"
    assert (await api.refused(CREATE, input={"role": "MAIN", "parentId": "m"}))["code"] == "INVALID_INPUT"


@pytest.mark.covers("FORK-9", "W28")
async def test_through_seq_cuts_where_it_can(api: Api) -> None:
    """Inside a tool group, out of range or with NONE it is INVALID_INPUT; else the fork has exactly that much."""
    await create(api, id="s")
    call = {"role": "ASSISTANT", "content": "", "toolCalls": [{"id": "1", "name": "t", "arguments": {}}]}
    messages = [
        {"role": "USER", "content": "q"},
        call,
        {"role": "TOOL", "content": "r", "toolCallId": "1"},
        {"role": "ASSISTANT", "content": "a"},
    ]
    await api.ask(APPEND, id="s", messages=messages)
    fork = "mutation($input: ForkInput!) { fork(input: $input) { messageCount node { sourceSeq } } }"
    base = {"sourceSessionId": "s", "label": "f", "context": "INHERIT"}
    for seq, count in ((1, 1), (3, 3), (4, 4)):
        found = (await api.ask(fork, input={**base, "throughSeq": seq}))["fork"]
        assert found == {"messageCount": count, "node": {"sourceSeq": seq}}
    for seq in (2, 0, 5):
        assert (await api.refused(fork, input={**base, "throughSeq": seq}))["code"] == "INVALID_INPUT", seq
    none = {**base, "context": "NONE", "throughSeq": 1}
    assert (await api.refused(fork, input=none))["code"] == "INVALID_INPUT"


@pytest.mark.covers("MSG-3")
async def test_appended_messages_are_whole_and_stored_once(api: Api) -> None:
    """Half a tool group is INVALID_INPUT; the same key gives the first result, another input CONFLICT."""
    await create(api, id="s")
    call = {
        "role": "ASSISTANT",
        "content": "",
        "toolCalls": [{"id": "1", "name": "t", "arguments": {"x": [1]}}],
    }
    assert (await api.refused(APPEND, id="s", messages=[call]))["code"] == "INVALID_INPUT"
    assert (await api.refused(APPEND, id="s", messages=[]))["code"] == "INVALID_INPUT"
    user = [{"role": "USER", "content": "q"}]
    first = await api.ask(APPEND, id="s", messages=user, key="k")
    assert await api.ask(APPEND, id="s", messages=user, key="k") == first
    other = [{"role": "USER", "content": "other"}]
    assert (await api.refused(APPEND, id="s", messages=other, key="k"))["code"] == "CONFLICT"
    assert seqs(await page(api)) == [1]


@pytest.mark.covers("W13")
@pytest.mark.parametrize(
    ("input", "code"),
    [
        ({"label": "x" * 201}, "INVALID_INPUT"),
        ({"label": "a\nb"}, "INVALID_INPUT"),
        ({"label": "a\x00b"}, "INVALID_INPUT"),
        ({"id": "a/b"}, "INVALID_INPUT"),
        ({"id": ""}, "INVALID_INPUT"),
        ({"id": "x" * 129}, "INVALID_INPUT"),
        ({"parentId": "nope"}, "NOT_FOUND"),
        ({"systemPrompt": "\x00"}, "INVALID_INPUT"),
        ({"systemPrompt": "x" * (1024 * 1024 + 1)}, "LIMIT_EXCEEDED"),
        ({"metadata": float("nan")}, "INVALID_INPUT"),
        ({"tags": ["x"] * 101}, None),
        ({"tags": [str(n) for n in range(101)]}, "LIMIT_EXCEEDED"),
        ({"tags": [""]}, "INVALID_INPUT"),
        ({"metadata": {"深": ["值", None, 1.5, True]}}, None),
        ({"label": ""}, None),
    ],
)
async def test_bad_input_has_its_code_and_writes_nothing(
    api: Api, input: dict[str, Any], code: str | None
) -> None:
    """Refused before any write."""
    if code is None:
        await create(api, **input)
        return
    api.engine.ran.clear()
    assert (await api.refused(CREATE, input=input))["code"] == code
    if code != "NOT_FOUND":
        assert api.engine.ran == []
    assert (await api.ask("{ sessions { totalCount } }"))["sessions"]["totalCount"] == 0


async def test_deep_metadata_is_refused(api: Api) -> None:
    """Depth is bounded, so that no reader falls over it."""
    deep: Any = 1
    for _ in range(500):
        deep = [deep]
    assert (await api.refused(CREATE, input={"metadata": deep}))["code"] == "INVALID_INPUT"


async def test_a_faulty_server_tells_nothing(api: Api, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    """An unknown error is masked; the id that it tells is in the log."""

    async def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("secret")

    monkeypatch.setattr(type(api.engine), "read", broken)
    error = await api.refused("{ getChildren { id } }")
    assert error["code"] == "INTERNAL"
    assert "secret" not in error["message"]
    assert error["id"] in caplog.text
    assert "secret" in caplog.text


async def test_scopes(api: Api) -> None:
    """READ reads, WRITE writes, only ADMIN configures, nobody without a key does anything."""
    api.scope = KeyScope.READ
    assert (await api.ask("{ me { scope spaceId } }"))["me"] == {"scope": "READ", "spaceId": "default"}
    assert (await api.refused(CREATE, input={}))["code"] == "FORBIDDEN"
    api.scope = KeyScope.WRITE
    await create(api)
    configure = "mutation($input: SpaceConfigInput!) { configureSpace(input: $input) { name config { maxContextTokens } } }"
    assert (await api.refused(configure, input={"name": "n"}))["code"] == "FORBIDDEN"
    api.scope = KeyScope.OPERATOR
    assert (await api.refused("{ getChildren { id } }"))["code"] == "FORBIDDEN"
    context = api.context()
    context._viewer = None
    result = await schema.execute("{ me { scope } }", context_value=context)
    assert result.errors
    assert (result.errors[0].extensions or {})["code"] == "UNAUTHENTICATED"


@pytest.mark.covers("SCH-2", "W48", "SRV-4", "SPLIT-3")
async def test_a_space_is_configured_field_by_field(api: Api) -> None:
    """Only the fields given change; null clears those that can be; numbers have bounds."""
    configure = """mutation($input: SpaceConfigInput!) { configureSpace(input: $input) {
      name config { systemPrompt model maxContextTokens splitGuard { minTurns cooldownTurns } consolidateOn strategy } } }"""
    guard = {
        "splitGuard": {"minTurns": 9},
        "systemPrompt": "p",
        "maxContextTokens": 16_000,
        "strategy": "FLAT",
    }
    config = (await api.ask(configure, input=guard))["configureSpace"]["config"]
    assert config == {
        "systemPrompt": "p",
        "model": "offline",
        "maxContextTokens": 16_000,
        "splitGuard": {"minTurns": 9, "cooldownTurns": 5},
        "consolidateOn": [],
        "strategy": "FLAT",
    }
    config = (await api.ask(configure, input={"systemPrompt": None, "consolidateOn": ["ON_LEAVE"]}))[
        "configureSpace"
    ]["config"]
    assert config["systemPrompt"] is None
    assert config["consolidateOn"] == ["ON_LEAVE"]
    assert config["splitGuard"]["minTurns"] == 9
    assert config["strategy"] == "FLAT"
    for bad in (
        {"maxContextTokens": 999},
        {"everyNTurns": 0},
        {"name": None},
        {"consolidateOn": ["AFTER_CONSOLIDATE"]},
        {"splitGuard": {"minTurns": -1}},
    ):
        assert (await api.refused(configure, input=bad))["code"] == "INVALID_INPUT", bad
    assert (await create(api))["strategy"] == "FLAT", "a root's default is the Space's"


@pytest.mark.covers("CTX-3", "SRV-4")
async def test_null_prompts_take_the_spaces(api: Api) -> None:
    """A session without a prompt of its own sees the Space's, as it is when it is compiled."""
    await create(api, id="s")
    await api.ask('mutation { configureSpace(input: {systemPrompt: "of the Space"}) { id } }')
    preview = '{ contextPreview(sessionId: "s", content: "hi") { messages { role content origin } wouldCompress tools { name } } }'
    messages = (await api.ask(preview))["contextPreview"]["messages"]
    assert messages[0] == {"role": "system", "content": "of the Space", "origin": "SYSTEM_PROMPT"}
    assert messages[-1] == {"role": "user", "content": "hi", "origin": "USER_INPUT"}


async def test_delete_asks_the_count_back(api: Api) -> None:
    """expectedCount must be right; CONFLICT tells the count."""
    await create(api, id="r")
    await create(api, id="c", parentId="r")
    delete = 'mutation($n: Int!) { deleteSession(id: "r", expectedCount: $n) }'
    refused = await api.refused(delete, n=1)
    assert refused["code"] == "CONFLICT"
    assert refused["count"] == 2
    assert (await api.ask(delete, n=2))["deleteSession"] == ["r", "c"]
    assert (await api.refused(delete, n=2))["code"] == "NOT_FOUND"


async def test_two_mutations_of_one_request_see_each_other(api: Api) -> None:
    """Nothing is answered from before a write."""
    await create(api, id="s")
    document = """mutation {
      a: updateSession(id: "s", input: {label: "a"}) { node { label } }
      b: updateSession(id: "s", input: {label: "b"}) { node { label } }
    }"""
    assert await api.ask(document) == {"a": {"node": {"label": "a"}}, "b": {"node": {"label": "b"}}}


async def test_compact(api: Api) -> None:
    """Ten messages stay by default, also where null is given; the rest has a summary of its place."""
    await filled(api, "s", 12)
    document = """mutation($keep: Int) { compact(sessionId: "s", keepLast: $keep) {
      messageCount compression { summary throughSeq tokens createdAt }
    } }"""
    compacted = (await api.ask(document, keep=None))["compact"]
    assert compacted["messageCount"] == 12
    assert compacted["compression"]["throughSeq"] == 2
    assert compacted["compression"]["summary"]
    assert (await api.refused(document, keep=-1))["code"] == "INVALID_INPUT"
    api.scope = KeyScope.READ
    assert (await api.refused(document, keep=0))["code"] == "FORBIDDEN"


async def test_turns_by_status_are_the_newest_of_the_whole_space(api: Api) -> None:
    """Newest first over all sessions; first is bounded; a status that there is not is refused."""
    for id in ("a", "b"):
        await create(api, id=id)
    ids = []
    for session in ("a", "b", "a"):
        sent = await api.ask(
            'mutation($id: ID!) { send(input: {sessionId: $id, content: "hello"}) { id } }', id=session
        )
        ids.append(sent["send"]["id"])
    document = "query($first: Int) { turnsByStatus(status: COMPLETED, first: $first) { id sessionId } }"

    found = (await api.ask(document))["turnsByStatus"]

    assert [(turn["id"], turn["sessionId"]) for turn in found] == [
        (ids[2], "a"),
        (ids[1], "b"),
        (ids[0], "a"),
    ]
    assert (await api.ask(document, first=1))["turnsByStatus"] == found[:1]
    assert (await api.ask("{ turnsByStatus(status: RUNNING) { id } }"))["turnsByStatus"] == []
    assert (await api.refused(document, first=1001))["code"] == "LIMIT_EXCEEDED"
    assert (await api.refused(document, first=-1))["code"] == "INVALID_INPUT"
    assert (await api.refused("{ turnsByStatus(status: SLEEPING) { id } }"))["code"] == "INVALID_INPUT"


PROFILE = "name systemPrompt systemPromptMode skills context prompt"
PUT_PROFILE = "mutation($input: ForkProfileInput!) { putForkProfile(input: $input) { " + PROFILE + " } }"


async def test_fork_profiles(api: Api) -> None:
    """A profile is put with its defaults, listed, used by name, and deleted; only by ADMIN."""
    plain = {"name": "a", "systemPromptMode": "PREPEND"}
    unset = {"systemPrompt": None, "skills": None, "context": None, "prompt": None}
    assert (await api.ask(PUT_PROFILE, input={"name": "a"}))["putForkProfile"] == {**plain, **unset}
    whole = {
        "name": "研究员",
        "systemPrompt": "For ${who}.",
        "systemPromptMode": "PRESET",
        "skills": [],
        "context": "INHERIT",
        "prompt": "Hello.",
    }
    assert (await api.ask(PUT_PROFILE, input=whole))["putForkProfile"] == whole
    assert (await api.ask("{ forkProfiles { " + PROFILE + " } }"))["forkProfiles"] == [
        {**plain, **unset},
        whole,
    ]

    await filled(api, "s", 2)
    fork = "mutation($input: ForkInput!) { fork(input: $input) { systemPrompt skills messageCount } }"
    asked = {"sourceSessionId": "s", "label": "f", "profile": "研究员", "systemPrompt": "own"}
    made = (await api.ask(fork, input={**asked, "vars": {"who": "me"}}))["fork"]
    assert made == {"systemPrompt": "For me.", "skills": [], "messageCount": 3}
    missing = await api.refused(fork, input=asked)
    assert (missing["code"], "who" in missing["message"]) == ("INVALID_INPUT", True)
    unknown = await api.refused(fork, input={**asked, "profile": "nobody"})
    assert unknown["code"] == "NOT_FOUND"

    delete = 'mutation { deleteForkProfile(name: "a") }'
    assert (await api.ask(delete))["deleteForkProfile"] is True
    assert (await api.ask(delete))["deleteForkProfile"] is False
    api.scope = KeyScope.WRITE
    assert (await api.refused(delete))["code"] == "FORBIDDEN"
    assert (await api.refused(PUT_PROFILE, input=whole))["code"] == "FORBIDDEN"
    assert len((await api.ask("{ forkProfiles { name } }"))["forkProfiles"]) == 1


async def test_a_fork_by_summary(api: Api) -> None:
    """The context is one block of the child's prompt; the transcript starts empty."""
    await filled(api, "s", 4)
    fork = """mutation { fork(input: {sourceSessionId: "s", label: "f", context: COMPRESS}) {
      systemPrompt messageCount node { sourceSessionId sourceSeq }
    } }"""
    made = (await api.ask(fork))["fork"]
    assert made["systemPrompt"].startswith("<parent_context>")
    assert made["messageCount"] == 0
    assert made["node"] == {"sourceSessionId": "s", "sourceSeq": 4}


async def test_the_split_guard_of_the_api(api: Api) -> None:
    """FORK_REFUSED says why; nothing is made."""
    await create(api, id="s")
    await api.ask("mutation { configureSpace(input: {splitGuard: {forApi: true, minTurns: 1}}) { id } }")
    fork = 'mutation { fork(input: {sourceSessionId: "s", label: "f"}) { id } }'
    refused = await api.refused(fork)
    assert (refused["code"], refused["missingTurns"]) == ("FORK_REFUSED", 1)
    assert "1 more completed turn" in refused["message"]
    assert (await api.ask("{ space { sessionCount } }"))["space"]["sessionCount"] == 1

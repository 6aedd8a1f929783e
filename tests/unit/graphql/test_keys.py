"""Keys and Spaces through GraphQL, and what telling a key costs."""

import asyncio
from typing import Any

import pytest

from stello_graph.errors import StoreUnavailable, Unauthenticated
from stello_graph.forest.keys import Keyring
from stello_graph.graphql.context import Context
from stello_graph.graphql.schema import schema
from stello_graph.model.values import KeyScope, Viewer
from tests.unit.graphql.conftest import Api

KEY = "id name prefix scope createdAt lastUsedAt revokedAt"


async def operate(api: Api, document: str) -> Any:
    """What an operator is answered."""
    context = Context(api.graph, Viewer(space_id=None, scope=KeyScope.OPERATOR))
    return await schema.execute(document, context_value=context)


async def make(api: Api, scope: str = "WRITE") -> tuple[dict[str, Any], str]:
    made = await api.ask(
        f'mutation($scope: KeyScope!) {{ createApiKey(name: "front-end", scope: $scope) {{ secret key {{ {KEY} }} }} }}',
        scope=scope,
    )
    return made["createApiKey"]["key"], made["createApiKey"]["secret"]


async def test_a_key_is_made_listed_and_revoked(api: Api) -> None:
    """Its secret is told once; its beginning tells it from others."""
    key, secret = await make(api)

    assert (key["name"], key["scope"], key["revokedAt"], key["lastUsedAt"]) == (
        "front-end",
        "WRITE",
        None,
        None,
    )
    assert secret.startswith(key["prefix"])
    assert len(secret) == 50
    assert await api.ask(f"{{ apiKeys {{ {KEY} }} }}") == {"apiKeys": [key]}
    viewer = await api.graph.keyring.viewer(secret)
    assert viewer == Viewer(space_id="default", key_name="front-end", scope=KeyScope.WRITE)
    document = "mutation($id: ID!) { revokeApiKey(id: $id) { id revokedAt } }"
    revoked = (await api.ask(document, id=key["id"]))["revokeApiKey"]
    assert revoked["revokedAt"] is not None
    assert (await api.ask(document, id=key["id"]))["revokeApiKey"] == revoked
    with pytest.raises(Unauthenticated):
        await api.graph.keyring.viewer(secret)
    assert (await api.refused(document, id="nobody"))["code"] == "NOT_FOUND"


@pytest.mark.parametrize("name", ["", "a" * 201, "line\\nbreak"])
async def test_names_of_keys(api: Api, name: str) -> None:
    """A name is one line of 1 to 200 characters."""
    refused = await api.refused(f'mutation {{ createApiKey(name: "{name}", scope: READ) {{ secret }} }}')

    assert refused["code"] == "INVALID_INPUT"
    assert "keys/create" not in api.engine.ran


async def test_the_secret_is_not_kept(api: Api) -> None:
    """Neither the store's file nor its log holds it."""
    _, secret = await make(api)
    folder = api.engine._path.parent

    assert not any(secret.encode() in path.read_bytes() for path in folder.glob("stello.db*"))


async def test_spaces_by_an_operator(api: Api) -> None:
    """Made once, listed in pages, deleted with the number that is expected."""
    made = await operate(
        api, 'mutation { createSpace(id: "team-a", name: "Team A") { id name sessionCount } }'
    )
    assert made.data == {"createSpace": {"id": "team-a", "name": "Team A", "sessionCount": 0}}
    taken = await operate(api, 'mutation { createSpace(id: "team-a", name: "x") { id } }')
    assert taken.errors[0].extensions["code"] == "CONFLICT"
    for id in ("", "Team", "a b", "a" * 65, "a/b"):
        wrong = await operate(api, f'mutation {{ createSpace(id: "{id}", name: "x") {{ id }} }}')
        assert wrong.errors[0].extensions["code"] == "INVALID_INPUT", id
    page = await operate(
        api,
        '{ spaces(first: 1, after: "default") { id config { model maxContextTokens } usage { llmCalls } } }',
    )
    assert page.errors is None
    assert [one["id"] for one in page.data["spaces"]] == ["team-a"]
    other = await operate(api, 'mutation { deleteSpace(id: "team-a", expectedCount: 1) }')
    assert (other.errors[0].extensions["code"], other.errors[0].extensions["count"]) == ("CONFLICT", 0)
    assert (await operate(api, 'mutation { deleteSpace(id: "team-a", expectedCount: 0) }')).data == {
        "deleteSpace": True
    }
    gone = await operate(api, 'mutation { deleteSpace(id: "team-a", expectedCount: 0) }')
    assert gone.errors[0].extensions["code"] == "NOT_FOUND"
    assert [one["id"] for one in (await operate(api, "{ spaces { id } }")).data["spaces"]] == ["default"]


async def test_a_space_goes_with_its_running_turns(api: Api) -> None:
    """A turn that runs is cancelled first."""
    space = api.graph.space("default")
    await api.ask('mutation { createSession(input: {id: "a"}) { id } }')
    data = await api.ask('mutation { startTurn(input: {sessionId: "a", content: "hello"}) { id } }')

    await api.graph.delete_space("default", 1)

    assert await space.store.turns([data["startTurn"]["id"]]) == {}


async def test_wrong_keys_cost_little(api: Api) -> None:
    """However many come at once, they are looked up together; what is no key at all costs nothing."""
    _, secret = await make(api)
    wrong = [f"stello_{number:043}" for number in range(2_000)]
    api.engine.ran.clear()

    found = await asyncio.gather(*map(api.graph.keyring.viewer, [*wrong, secret]), return_exceptions=True)

    assert [type(one) for one in found[:-1]] == [Unauthenticated] * 2_000
    assert isinstance(found[-1], Viewer)
    assert api.engine.ran.count("keys/find") <= 2
    api.engine.ran.clear()
    for text in (None, "", "x" * 50, f"{secret}x", secret[:-1], "stello_" + "é" * 43, "\ud800"):
        with pytest.raises(Unauthenticated):
            await api.graph.keyring.viewer(text)
    assert "keys/find" not in api.engine.ran


async def test_a_known_key_costs_nothing(api: Api) -> None:
    """It is trusted for a while, and its use is written once."""
    _, secret = await make(api)
    await api.graph.keyring.viewer(secret)
    api.engine.ran.clear()

    for _ in range(100):
        await api.graph.keyring.viewer(secret)
    await api.graph.keyring.aclose()

    assert api.engine.ran.count("keys/find") == 0
    assert api.engine.ran.count("keys/touch") <= 1
    assert (await api.graph.keys("default"))[0].last_used_at is not None


async def refused_at_last(ring: Keyring, secret: str) -> None:
    for _ in range(200):
        try:
            await ring.viewer(secret)
        except Unauthenticated:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the key is still let in")


async def test_a_key_that_is_revoked_elsewhere(api: Api) -> None:
    """Another process trusts it no longer than it says."""
    key, secret = await make(api)
    elsewhere = Keyring(api.graph.store, None, 0.05)
    await elsewhere.viewer(secret)
    await api.graph.revoke_key("default", key["id"])

    await refused_at_last(elsewhere, secret)
    await elsewhere.aclose()


async def test_keys_that_another_process_makes(api: Api) -> None:
    """A process without keys looks again, and asks for ever once there was one."""
    elsewhere = Keyring(api.graph.store, None, 0.05)
    api.engine.ran.clear()
    assert await asyncio.gather(*(elsewhere.in_use() for _ in range(100))) == [False] * 100
    assert api.engine.ran.count("keys/in_use") <= 2
    key, _ = await make(api)
    assert await api.graph.keyring.in_use()
    await api.graph.revoke_key("default", key["id"])

    for _ in range(200):
        if await elsewhere.in_use():
            break
        await asyncio.sleep(0.05)
    assert await elsewhere.in_use()
    api.engine.ran.clear()
    assert await elsewhere.in_use()
    assert "keys/in_use" not in api.engine.ran


async def test_while_the_store_is_away(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is let in or turned away by what is not known; afterwards all is as before."""
    _, secret = await make(api)
    ring = Keyring(api.graph.store, None, 0.01)

    async def away(*_: object) -> Any:
        raise StoreUnavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(api.graph.store, "find_keys", away)
        patch.setattr(api.graph.store, "keys_in_use", away)
        with pytest.raises(StoreUnavailable):
            await ring.in_use()
        with pytest.raises(StoreUnavailable):
            await ring.viewer(secret)
    assert await ring.in_use()
    assert (await ring.viewer(secret)).key_name == "front-end"
    await ring.aclose()


async def test_a_caller_who_goes_away(api: Api) -> None:
    """Others who ask for the same key at the same time are answered."""
    _, secret = await make(api)
    ring = Keyring(api.graph.store, None, 60)
    first, second = [asyncio.create_task(ring.viewer(secret)) for _ in range(2)]
    await asyncio.sleep(0)
    first.cancel()

    assert (await second).key_name == "front-end"
    await ring.aclose()


async def test_a_key_that_is_revoked_while_it_is_looked_up(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read before it was revoked lets nobody in afterwards: here it ends at once."""
    key, secret = await make(api)
    ring, find, reached, go_on = (
        api.graph.keyring,
        api.graph.store.find_keys,
        asyncio.Event(),
        asyncio.Event(),
    )
    ring.forget()

    async def slow(hashes: Any) -> Any:
        found = await find(hashes)
        reached.set()
        await go_on.wait()
        return found

    monkeypatch.setattr(api.graph.store, "find_keys", slow)
    early = asyncio.create_task(ring.viewer(secret))
    await reached.wait()
    await api.graph.revoke_key("default", key["id"])
    go_on.set()
    await early

    with pytest.raises(Unauthenticated):
        await ring.viewer(secret)


async def test_a_key_that_is_made_while_it_is_asked_for(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """That there was none yet is not believed once this process has made one."""
    ring, ask, reached, go_on = (
        api.graph.keyring,
        api.graph.store.keys_in_use,
        asyncio.Event(),
        asyncio.Event(),
    )
    ring.forget()

    async def slow() -> bool:
        found = await ask()
        reached.set()
        await go_on.wait()
        return found

    monkeypatch.setattr(api.graph.store, "keys_in_use", slow)
    early = asyncio.create_task(ring.in_use())
    await reached.wait()
    await api.graph.create_key("default", "late", KeyScope.READ)
    go_on.set()
    await early

    assert await ring.in_use()

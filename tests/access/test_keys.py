"""Real servers: from the first key on nobody is let in without one, and a revoked one ends what runs by it."""

import asyncio
from typing import Final

import pytest
from websockets.exceptions import ConnectionClosed

from tests.e2e.client import Refused, Socket
from tests.e2e.conftest import Serve
from tests.e2e.processes import Server, Store, run
from tests.e2e.waiting import until

pytestmark = pytest.mark.parametrize("engine", ["sqlite", "neo4j"], indirect=True)

QUICK: Final = {"STELLO_KEY_SECONDS": "0.5"}
ME: Final = "{ me { spaceId keyName scope } }"
FOLLOW: Final = "subscription { topologyEvents { nodeId type } }"
CREATE_KEY: Final = "mutation ($name: String!, $scope: KeyScope!) { createApiKey(name: $name, scope: $scope) { secret key { id } } }"
REVOKE: Final = "mutation ($id: ID!) { revokeApiKey(id: $id) { revokedAt } }"


def command(store: Store, *args: str) -> str:
    """What a command prints."""
    done = run(args, {**store.environment, **QUICK, "STELLO_STORE": store.url})
    assert done.returncode == 0, done.stderr
    return done.stdout


def secret_of(store: Store, *args: str) -> str:
    """The secret of a new key, which is printed alone."""
    told = command(store, "keys", "create", "--name", "key", *args)
    assert told.startswith("stello_")
    assert len(told.splitlines()) == 1
    return told.strip()


def two_servers(store: Store, serve: Serve) -> tuple[Server, Server]:
    first, second = [serve(store, settings=QUICK, ready=False) for _ in range(2)]
    first.wait_ready()
    second.wait_ready()
    return first, second


async def status(server: Server, key: str | None = None) -> int:
    async with server.client(key) as client:
        return (await client.http.post("/graphql", json={"query": ME})).status_code


async def refuses(server: Server, key: str | None = None) -> None:
    async def refused() -> bool:
        return await status(server, key) == 401

    await until(refused, "the server lets nobody in with this key")


async def close_code(socket: Socket) -> int | None:
    """With which code the server closes a socket, whatever it says before."""
    try:
        async with asyncio.timeout(60):
            while True:
                await socket.hear()
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else None


def payload(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.mark.covers("TC23-KEYS")
async def test_from_the_first_key_on(store: Store, serve: Serve) -> None:
    """Servers without keys close, their sockets too; a revoked key is felt in all; no key any more opens nothing."""
    first, second = two_servers(store, serve)
    assert (await status(first), await status(second)) == (200, 200)
    assert "Access     this machine only" in first.output()

    async with second.client() as client, client.socket() as socket:
        await socket.subscribe(FOLLOW, {})
        admin = secret_of(store)
        assert await close_code(socket) == 4403
    for server in (first, second):
        await refuses(server)
        assert await status(server, admin) == 200

    async with first.client(admin) as here:
        made = (await here.ask(CREATE_KEY, name="front-end", scope="WRITE"))["createApiKey"]
        async with second.client(made["secret"]) as there:
            assert (await there.ask(ME))["me"] == {
                "spaceId": "default",
                "keyName": "front-end",
                "scope": "WRITE",
            }
            async with there.socket(payload(made["secret"])) as socket:
                await socket.subscribe(FOLLOW, {})
                await here.ask(REVOKE, id=made["key"]["id"])
                assert await close_code(socket) == 4403
            with pytest.raises(Refused) as forbidden:
                await here.ask("{ spaces { id } }")
            assert forbidden.value.code == "FORBIDDEN"
        assert await status(first, made["secret"]) == 401
        await refuses(second, made["secret"])

    lines = command(store, "keys", "list").splitlines()
    assert len(lines) == 3
    assert not any(admin in line or made["secret"] in line for line in lines)
    (last,) = [line.split()[0] for line in lines[1:] if made["key"]["id"] not in line]
    assert "Revoked key" in command(store, "keys", "revoke", last)
    await refuses(first, admin)
    again = serve(store, settings=QUICK)
    assert await status(again) == 401
    assert "Access     by key" in again.output()
    for server in (first, second, again):
        assert admin not in server.output()
        assert made["secret"] not in server.output()


@pytest.mark.covers("SRV-5")
async def test_operators_and_two_tenants(store: Store, serve: Serve) -> None:
    """An operator makes and deletes Spaces; each tenant follows its own map; a deleted Space lets nobody in."""
    operator = secret_of(store, "--scope", "operator")
    keys = [secret_of(store, "--space", id, "--scope", "write") for id in ("access-a", "access-b")]
    server = serve(store, settings={**QUICK, "STELLO_JANITOR_SECONDS": "0.2"})
    async with server.client(operator) as ops, server.client(keys[0]) as a, server.client(keys[1]) as b:
        listed = [one["id"] for one in (await ops.ask("{ spaces(first: 1000) { id } }"))["spaces"]]
        assert {"access-a", "access-b", "default"} <= {*listed}
        with pytest.raises(Refused) as forbidden:
            await ops.ask("{ getChildren { id } }")
        assert forbidden.value.code == "FORBIDDEN"

        async with b.socket(payload(keys[1])) as socket:
            await socket.subscribe("subscription { topologyEvents(after: 0) { nodeId } }", {})
            await a.create("of-a")
            await b.create("of-b")
            heard = await socket.hear()
            assert heard["payload"]["data"]["topologyEvents"] == {"nodeId": "of-b"}
            assert (await b.ask('{ session(id: "of-a") { id } }')) == {"session": None}

            with pytest.raises(Refused) as other:
                await ops.ask('mutation { deleteSpace(id: "access-b", expectedCount: 0) }')
            assert (other.value.code, other.value.extensions["count"]) == ("CONFLICT", 1)
            await ops.ask('mutation { deleteSpace(id: "access-b", expectedCount: 1) }')
            assert await close_code(socket) == 4403
        await refuses(server, keys[1])
        assert (await a.ask('{ session(id: "of-a") { id } }')) == {"session": {"id": "of-a"}}

        async def made_again() -> bool:
            try:
                await ops.ask('mutation { createSpace(id: "access-b", name: "Again") { id } }')
            except Refused as refused:
                if refused.code != "CONFLICT":
                    raise
                return False
            return True

        await until(made_again, "the id is free again")
        new = secret_of(store, "--space", "access-b", "--scope", "read")
        async with server.client(new) as c:
            assert (await c.ask("{ getChildren { id } space { name sessionCount } }")) == {
                "getChildren": [],
                "space": {"name": "Again", "sessionCount": 0},
            }
    for id, count in (("access-a", "1"), ("access-b", "0")):
        command(store, "spaces", "delete", id, "--expected-count", count)
    assert "access-" not in command(store, "spaces", "list")

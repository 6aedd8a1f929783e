"""Whoever asks whether the server is ready needs no key, so what that costs is bounded."""

import asyncio

import pytest
from starlette.requests import Request

from stello_graph.errors import StoreUnavailable
from stello_graph.http.health import Health
from tests.unit.http.conftest import OpenApp

ASKED = Request({"type": "http"})


async def test_many_who_ask_at_once(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """They ask the store once, and one who goes away takes nothing from the others."""
    app = await open_app()
    asked, go_on = 0, asyncio.Event()

    async def ping() -> str:
        nonlocal asked
        asked += 1
        await go_on.wait()
        return "here"

    monkeypatch.setattr(app.graph.store, "ping", ping)
    health = Health(app.graph)
    asking = [asyncio.create_task(health.ready(ASKED)) for _ in range(50)]
    await asyncio.sleep(0)
    asking.pop(0).cancel()
    await asyncio.sleep(0)
    go_on.set()

    assert {answer.status_code for answer in await asyncio.gather(*asking)} == {200}
    assert asked == 1
    assert (await health.ready(ASKED)).status_code == 200
    assert asked == 2


async def test_away_and_back(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each who asks later learns what is then."""
    app = await open_app()
    health = Health(app.graph)

    async def away() -> str:
        raise StoreUnavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(app.graph.store, "ping", away)
        assert (await health.ready(ASKED)).status_code == 503
        assert (await health.ready(ASKED)).status_code == 503
    assert (await health.ready(ASKED)).status_code == 200

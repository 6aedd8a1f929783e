"""Memory across sessions, as the API gives it."""

from typing import Any

from stello_graph.model.values import KeyScope
from tests.unit.graphql.conftest import Api

PUT = "mutation($insights: [InsightInput!]!) { putInsights(insights: $insights) { id insight { content sourceSessionId revision } } }"
INTEGRATE = 'mutation($force: Boolean) { integrate(sessionId: "main", force: $force) { called synthesis insights { sessionId content } dropped } }'


async def tree(api: Api) -> None:
    await api.ask('mutation { createSession(input: {id: "main", role: MAIN}) { id } }')
    for id in ("a", "b"):
        await api.ask(
            'mutation($id: ID!) { createSession(input: {id: $id, parentId: "main"}) { id } }',
            id=id,
        )
        await api.ask(
            "mutation($id: ID!, $text: String!) { putMemory(sessionId: $id, content: $text) { id } }",
            id=id,
            text=f"memory of {id}",
        )


async def insight_of(api: Api, id: str) -> Any:
    data = await api.ask("query($id: ID!) { session(id: $id) { insight { content } } }", id=id)
    return data["session"]["insight"]


async def test_several_insights(api: Api) -> None:
    """Answered in the order asked, each with its source."""
    await tree(api)
    given = [
        {"sessionId": "b", "content": "for b"},
        {"sessionId": "a", "content": "for a", "sourceSessionId": "b"},
    ]
    assert (await api.ask(PUT, insights=given))["putInsights"] == [
        {"id": "b", "insight": {"content": "for b", "sourceSessionId": None, "revision": 1}},
        {"id": "a", "insight": {"content": "for a", "sourceSessionId": "b", "revision": 1}},
    ]
    assert (await api.ask(PUT, insights=[]))["putInsights"] == []


async def test_all_or_none(api: Api) -> None:
    """Each refusal has its code, and nothing is put."""
    await tree(api)
    await api.ask('mutation { archiveSession(id: "b") { id } }')
    good = {"sessionId": "a", "content": "x"}
    for bad, code in (
        ({"sessionId": "nobody", "content": "x"}, "NOT_FOUND"),
        ({"sessionId": "b", "content": "x"}, "SESSION_ARCHIVED"),
        (good, "INVALID_INPUT"),
        ({"sessionId": "main", "content": " "}, "INVALID_INPUT"),
        ({"sessionId": "/", "content": "x"}, "INVALID_INPUT"),
        ({"sessionId": "main", "content": "x" * 1_100_000}, "LIMIT_EXCEEDED"),
    ):
        assert (await api.refused(PUT, insights=[good, bad]))["code"] == code
    many = [{"sessionId": f"s{n}", "content": "x"} for n in range(1_001)]
    assert (await api.refused(PUT, insights=many))["code"] == "LIMIT_EXCEEDED"
    assert await insight_of(api, "a") is None


async def test_integrating(api: Api) -> None:
    """The offline model integrates; without new L2 nothing is called; null for force is false."""
    await tree(api)
    result = (await api.ask(INTEGRATE))["integrate"]
    assert result["called"]
    assert "memory of a" in result["synthesis"]
    assert {one["sessionId"] for one in result["insights"]} == {"a", "b"}
    assert result["dropped"] == []
    assert "memory of b" in (await insight_of(api, "a"))["content"]
    again = (await api.ask(INTEGRATE, force=None))["integrate"]
    assert again == {"called": False, "synthesis": result["synthesis"], "insights": [], "dropped": []}
    assert (await api.ask(INTEGRATE, force=True))["integrate"]["called"]
    data = await api.ask('{ session(id: "main") { synthesis } }')
    assert data["session"]["synthesis"] == result["synthesis"]


async def test_refusals(api: Api) -> None:
    """Only MAIN integrates, and only who may write."""
    await tree(api)
    document = "mutation($id: ID!) { integrate(sessionId: $id) { called } }"
    assert (await api.refused(document, id="a"))["code"] == "INVALID_INPUT"
    assert (await api.refused(document, id="nobody"))["code"] == "NOT_FOUND"
    await api.ask('mutation { archiveSession(id: "main") { id } }')
    assert (await api.refused(document, id="main"))["code"] == "SESSION_ARCHIVED"
    api.scope = KeyScope.READ
    assert (await api.refused(document, id="main"))["code"] == "FORBIDDEN"
    assert (await api.refused(PUT, insights=[]))["code"] == "FORBIDDEN"

"""The demo as a newcomer uses it: every conversation can be looked at and goes on."""

from stello_graph.model.context import ContextOrigin
from stello_graph.model.requests import Send
from stello_graph.model.turn import TurnStatus
from stello_graph.model.values import SessionStatus
from tests.unit.graphql.conftest import Api


async def test_every_conversation_goes_on(api: Api) -> None:
    """With what it remembers: summaries, insights and the synthesis stand in the prompts of those that have them."""
    assert await api.ask("mutation { loadDemo }") == {"loadDemo": 40}
    refused = await api.refused("mutation { loadDemo }")
    assert refused["code"] == "CONFLICT"

    space = api.graph.space()
    nodes = await space.store.star_map(None, max_depth=None, max_nodes=100, include_archived=False)
    sessions = await space.store.sessions(nodes.columns["id"])
    seen = set()
    for session in sessions.values():
        if session.status is SessionStatus.ACTIVE:
            seen |= {one.origin for one in (await space.preview(session.id, "And now?")).messages}
            turn = await space.send(Send(session_id=session.id, content="And now?"))
            assert turn.status is TurnStatus.COMPLETED, session.id
    assert seen >= {ContextOrigin.INSIGHT, ContextOrigin.SYNTHESIS, ContextOrigin.COMPRESSION}


async def test_what_was_integrated_is_known(api: Api) -> None:
    """Nothing new since: a model is asked only once there is."""
    await api.ask("mutation { loadDemo }")
    for main in ("whale-bay", "survey"):
        found = await api.graph.space().integrate(main)
        assert not found.called
        assert found.synthesis

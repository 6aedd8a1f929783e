"""The model that a Space's settings show is the one that answers there."""

from pathlib import Path

from stello_graph.llm.offline import OfflineLLM
from stello_graph.llm.scripted import ScriptedLLM
from stello_graph.model.values import KeyScope
from stello_graph.service import SpaceAgent, StelloGraph
from stello_graph.settings import Settings
from stello_graph.store.store import GraphStore
from tests.unit.graphql.conftest import Api, RecordingEngine

OFFLINE = "{ space { offline } }"
CONFIG = "{ space { config { model maxContextTokens } } }"
CONFIGURE = """mutation($input: SpaceConfigInput!) {
  configureSpace(input: $input) { config { model maxContextTokens } }
}"""


async def test_the_spaces_own_model(tmp_path: Path) -> None:
    """What the application gives the Space, unless its settings name another; the server's where that fails."""
    fails = False

    async def agents(space_id: str) -> SpaceAgent:
        if fails:
            raise RuntimeError("no key")
        return SpaceAgent(llm=ScriptedLLM(default_model=f"own of {space_id}", window=5_000))

    engine = RecordingEngine(tmp_path / "s.db")
    llm = ScriptedLLM(default_model="the server's", window=9_000)
    async with StelloGraph(GraphStore(engine), llm, Settings(grace=0), agents=agents) as graph:
        api = Api(graph, engine)
        own = {"model": "own of default", "maxContextTokens": 5_000}
        assert (await api.ask(CONFIG))["space"]["config"] == own
        changed = await api.ask(CONFIGURE, input={"model": "another", "maxContextTokens": 4_000})
        assert changed["configureSpace"]["config"] == {"model": "another", "maxContextTokens": 4_000}
        changed = await api.ask(CONFIGURE, input={"model": None, "maxContextTokens": None})
        assert changed["configureSpace"]["config"] == own
        fails = True
        graph.agents.refresh("default")
        servers = {"model": "the server's", "maxContextTokens": 9_000}
        assert (await api.ask(CONFIG))["space"]["config"] == servers


async def test_a_pretended_model(tmp_path: Path) -> None:
    """A Space tells whether the offline model answers there, whatever the model's name; anybody may ask."""
    own: ScriptedLLM | None = None

    async def agents(space_id: str) -> SpaceAgent:
        return SpaceAgent(llm=own)

    engine = RecordingEngine(tmp_path / "s.db")
    async with StelloGraph(GraphStore(engine), OfflineLLM(), Settings(grace=0), agents=agents) as graph:
        api = Api(graph, engine)
        await api.ask(CONFIGURE, input={"model": "a-real-one"})
        api.scope = KeyScope.READ
        assert await api.ask(OFFLINE) == {"space": {"offline": True}}
        own = ScriptedLLM()
        graph.agents.refresh("default")
        assert await api.ask(OFFLINE) == {"space": {"offline": False}}


async def test_an_agent_of_its_own_costs_a_turn_nothing(tmp_path: Path) -> None:
    """Whether it is out of date is told by what a turn's begin reads anyway; building it reads the Space."""

    async def agents(space_id: str) -> SpaceAgent:
        return SpaceAgent(llm=ScriptedLLM(default="ok"))

    engine = RecordingEngine(tmp_path / "s.db")
    async with StelloGraph(GraphStore(engine), ScriptedLLM(), Settings(grace=0), agents=agents) as graph:
        api = Api(graph, engine)
        await api.ask('mutation { createSession(input: {id: "s"}) { id } }')
        send = 'mutation { send(input: {sessionId: "s", content: "hello"}) { status } }'
        assert await api.cost(send) == ["turns/begin", "spaces/get", "turns/end"]
        assert await api.cost(send) == ["turns/begin", "turns/end"]
        await api.ask("mutation { configureSpace(input: {maxToolRounds: 3}) { id } }")
        assert await api.cost(send) == ["turns/begin", "spaces/get", "turns/end"]
        assert await api.cost(send) == ["turns/begin", "turns/end"]

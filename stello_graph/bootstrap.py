"""The composition root: settings in, the whole service out. Nothing else constructs engines.

An engine or a model is imported only where it is chosen: each brings a library that takes a while to load.
"""

import importlib
import logging
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from stello_graph.errors import InvalidInput
from stello_graph.forest.functions import Functions
from stello_graph.forest.hooks import HooksProvider
from stello_graph.logs import LogLines
from stello_graph.ports import LLM, Store
from stello_graph.ports.observing import Observer, Observers
from stello_graph.service import ApplicationTool, SpaceAgent, StelloGraph
from stello_graph.settings import Settings
from stello_graph.store.engine import Engine
from stello_graph.store.store import GraphStore
from stello_graph.tools import Tool

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from stello_graph.http.access import Authenticate

__all__ = ["build", "create_app", "load_tools", "open_engine", "open_llm", "open_store"]

logger = logging.getLogger(__name__)

_GRAPH_SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")


def build(
    settings: Settings,
    *,
    store: Store | None = None,
    llm: LLM | None = None,
    functions: Functions | None = None,
    tools: Sequence[ApplicationTool] = (),
    hooks: HooksProvider | Sequence[HooksProvider] = (),
    agents: Callable[[str], Awaitable[SpaceAgent]] | None = None,
    observers: Sequence[Observer] = (),
) -> StelloGraph:
    """The service. What is passed in takes the place of what the settings name, or of the default.

    Args:
        tools: beside those of the modules that the settings name.
        observers: told of what the service does, beside the logs and what the settings name.
    """
    watching = Observers([LogLines(), *_tracing(settings), *observers])
    return StelloGraph(
        GraphStore(open_engine(settings), watching) if store is None else store,
        open_llm(settings) if llm is None else llm,
        settings,
        functions=functions,
        tools=[*load_tools(settings.tools), *tools],
        hooks=hooks,
        agents=agents,
        observers=watching,
    )


def create_app(
    settings: Settings | None = None,
    *,
    store: Store | None = None,
    llm: LLM | None = None,
    functions: Functions | None = None,
    tools: Sequence[ApplicationTool] = (),
    hooks: HooksProvider | Sequence[HooksProvider] = (),
    agents: Callable[[str], Awaitable[SpaceAgent]] | None = None,
    observers: Sequence[Observer] = (),
    authenticate: "Authenticate | None" = None,
) -> "Starlette":
    """The whole app: GraphQL, GraphiQL, health; its lifespan opens and closes the service, its `state.graph`.

    It can be mounted under any prefix. Where its lifespan is not run the first request opens the service;
    then call `await app.state.graph.aclose()` at the end.

    Args:
        settings: None reads `STELLO_*` from the environment.
        store: in place of the one that the settings name.
        llm: likewise.
        functions: own ways to consolidate and integrate, in place of asking the model.
        tools: what the model can call, beside the tools of the modules that the settings name.
        hooks: told of what happens; see `Hooks`.
        agents: gives a Space, by its id, a model client, tools or functions of its own; see `SpaceAgent`.
        observers: told of requests, turns, model calls, queries and tasks; see `Observer`.
        authenticate: tells who asks, in place of keys: called with the connection and with the payload of
            a WebSocket's connection_init (empty over HTTP), it returns a `Viewer`, or None to refuse. It may
            be a coroutine function. For an open WebSocket it is asked again every few seconds.
    """
    from stello_graph.http.app import app_of

    settings = Settings() if settings is None else settings
    graph = build(
        settings,
        store=store,
        llm=llm,
        functions=functions,
        tools=tools,
        hooks=hooks,
        agents=agents,
        observers=observers,
    )
    return app_of(graph, authenticate=authenticate)


def load_tools(modules: Sequence[str]) -> list[Tool]:
    """Every Tool at the top level of `modules`, which are found as if from the working directory.

    Raises:
        InvalidInput: a module cannot be imported, or has no Tool.
    """
    if modules and "" not in sys.path:
        sys.path.insert(0, "")
    return [tool for name in modules for tool in _tools_of(name)]


def _tools_of(name: str) -> list[Tool]:
    try:
        module = importlib.import_module(name)
    except Exception as error:
        logger.debug("module %s cannot be imported", name, exc_info=True)
        raise InvalidInput(
            f'the tools of "{name}" cannot be loaded: {type(error).__name__}: {error}'
        ) from error
    found = dict.fromkeys(value for value in vars(module).values() if isinstance(value, Tool))
    if not found:
        raise InvalidInput(f'the module "{name}" has no Tool at its top level')
    return list(found)


def open_engine(settings: Settings) -> Engine:
    """The engine that the store's URL names; nothing is opened before the first query.

    Raises:
        InvalidInput: the URL is of no known kind.
    """
    if settings.sqlite_path is not None:
        from stello_graph.store.sqlite import SqliteEngine

        return SqliteEngine(Path(settings.sqlite_path), readers=settings.sqlite_readers)
    if settings.store.partition("://")[0] in _GRAPH_SCHEMES:
        from stello_graph.store.neo4j import Neo4jEngine

        return Neo4jEngine(
            settings.store,
            user=settings.neo4j_user,
            password=_secret(settings.neo4j_password),
            database=settings.neo4j_database,
            pool_size=settings.neo4j_pool_size,
        )
    raise InvalidInput(
        f'the store "{settings.store.partition("://")[0]}" is of no known kind: '
        "use sqlite:///file.db, neo4j://host:7687 or bolt://host:7687"
    )


def open_store(settings: Settings) -> Store:
    """The store over that engine. Raises as `open_engine`."""
    return GraphStore(open_engine(settings))


def open_llm(settings: Settings) -> LLM:
    """The model provider that is named, else Anthropic where there is a key, else the offline model.

    Raises:
        InvalidInput: what the named provider needs is missing: a key, a model's name, its SDK.
    """
    match settings.model_provider or ("anthropic" if settings.anthropic_api_key else "offline"):
        case "anthropic":
            return _anthropic(settings)
        case "openai":
            return _openai(settings)
        case _:
            from stello_graph.llm.offline import OfflineLLM

            return OfflineLLM()


def _anthropic(settings: Settings) -> LLM:
    key = _secret(settings.anthropic_api_key)
    if key is None:
        raise InvalidInput("the model provider anthropic needs ANTHROPIC_API_KEY")
    from stello_graph.llm.anthropic import AnthropicLLM

    if settings.model is None:
        return AnthropicLLM(key, base_url=settings.anthropic_base_url)
    return AnthropicLLM(key, base_url=settings.anthropic_base_url, default_model=settings.model)


def _openai(settings: Settings) -> LLM:
    key = _secret(settings.openai_api_key)
    if key is None and settings.openai_base_url is None:
        raise InvalidInput(
            "the model provider openai needs OPENAI_API_KEY, or OPENAI_BASE_URL of a server that takes no key"
        )
    if key is None and settings.model is None:
        raise InvalidInput(f"which model of {settings.openai_base_url}? Name it by STELLO_MODEL")
    from stello_graph.llm.openai import OpenAILLM

    if settings.model is None:
        return OpenAILLM(key, base_url=settings.openai_base_url)
    return OpenAILLM(key, base_url=settings.openai_base_url, default_model=settings.model)


def _tracing(settings: Settings) -> list[Observer]:
    if not settings.tracing:
        return []
    try:
        from stello_graph.tracing import Spans
    except ImportError as error:
        raise InvalidInput("STELLO_TRACING needs: pip install 'stello-graph[otel]'") from error
    return [Spans()]


def _secret(value: SecretStr | None) -> str | None:
    return None if value is None else value.get_secret_value()

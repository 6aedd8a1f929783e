"""Conversations as a forest in a graph database, served through GraphQL."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stello_graph.bootstrap import build, create_app
    from stello_graph.forest.functions import Functions
    from stello_graph.forest.hooks import Hooks
    from stello_graph.model.memory import InsightDraft, Integrated
    from stello_graph.model.values import KeyScope, Viewer
    from stello_graph.service import SpaceAgent, SpaceService, StelloGraph
    from stello_graph.settings import Settings
    from stello_graph.tools import Tool, ToolContext, ToolOutput

__all__ = [
    "Functions",
    "Hooks",
    "InsightDraft",
    "Integrated",
    "KeyScope",
    "Settings",
    "SpaceAgent",
    "SpaceService",
    "StelloGraph",
    "Tool",
    "ToolContext",
    "ToolOutput",
    "Viewer",
    "build",
    "create_app",
]

_HOMES = {
    "Functions": "forest.functions",
    "Hooks": "forest.hooks",
    "InsightDraft": "model.memory",
    "Integrated": "model.memory",
    "KeyScope": "model.values",
    "Settings": "settings",
    "SpaceAgent": "service",
    "SpaceService": "service",
    "StelloGraph": "service",
    "Tool": "tools",
    "ToolContext": "tools",
    "ToolOutput": "tools",
    "Viewer": "model.values",
    "build": "bootstrap",
    "create_app": "bootstrap",
}


def __getattr__(name: str) -> Any:
    """Loads a public name at its first use: the command line needs few of them."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"stello_graph.{_HOMES[name]}"), name)

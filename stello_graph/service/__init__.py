"""The service without HTTP: what GraphQL, the CLI and Python callers share."""

from stello_graph.service.applications import ApplicationTool, SpaceAgent
from stello_graph.service.graph import SpaceService, StelloGraph

__all__ = ["ApplicationTool", "SpaceAgent", "SpaceService", "StelloGraph"]

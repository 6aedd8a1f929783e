"""A real Neo4j for the tests and for developers."""

from tests.neo4j_server.choice import Choice, choose
from tests.neo4j_server.errors import NotAvailable, StartFailed
from tests.neo4j_server.opening import describe, open_server, prepare
from tests.neo4j_server.releases import CALENDAR, LTS, RELEASES, Release
from tests.neo4j_server.server import Server, credentials

__all__ = [
    "CALENDAR",
    "LTS",
    "RELEASES",
    "Choice",
    "NotAvailable",
    "Release",
    "Server",
    "StartFailed",
    "choose",
    "credentials",
    "describe",
    "open_server",
    "prepare",
]

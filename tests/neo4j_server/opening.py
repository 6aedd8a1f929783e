"""Opens what was chosen; the libraries of Docker are imported only where it was (they take 0.6 s)."""

from pathlib import Path

from tests.neo4j_server import jars
from tests.neo4j_server.choice import Choice, Docker, Given, Jars
from tests.neo4j_server.given import GivenServer
from tests.neo4j_server.local import LocalServer
from tests.neo4j_server.releases import Release
from tests.neo4j_server.server import Server


def open_server(release: Release, choice: Choice, home: Path, say: jars.Say) -> Server:
    """The chosen server, not started yet."""
    match choice:
        case Given(url, user, password):
            return GivenServer(release.variable, url, user, password)
        case Docker():
            from tests.neo4j_server.container import ContainerServer

            return ContainerServer(release)
        case Jars(java):
            return LocalServer(release, java, jars.class_path(release, say), home)


def prepare(release: Release, choice: Choice, say: jars.Say) -> None:
    """Fetch what the chosen server needs, so that what cannot be had is known before the first test."""
    match choice:
        case Given(url, user, password):
            GivenServer(release.variable, url, user, password).start()
        case Docker():
            from tests.neo4j_server.container import pull

            pull(release, say)
        case Jars():
            jars.class_path(release, say)


def describe(release: Release, choice: Choice) -> str:
    match choice:
        case Given(url):
            return f"Neo4j at {url} ({release.variable})"
        case Docker(image):
            return f"Neo4j {release.version} by Docker ({image})"
        case Jars(java):
            return f"Neo4j {release.version} from its jars, Java {java.version} ({java.path})"

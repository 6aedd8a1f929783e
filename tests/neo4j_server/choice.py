from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.neo4j_server.errors import NotAvailable
from tests.neo4j_server.java import Java
from tests.neo4j_server.releases import Release


@dataclass(frozen=True)
class Given:
    url: str
    user: str | None
    password: str | None


@dataclass(frozen=True)
class Docker:
    image: str


@dataclass(frozen=True)
class Jars:
    java: Java


Choice = Given | Docker | Jars


def choose(
    release: Release,
    environment: Mapping[str, str],
    docker_answers: Callable[[], bool],
    find_java: Callable[[int], Java],
) -> Choice:
    """Where the Neo4j of the tests comes from: the one given, else Docker, else the jars with a Java."""
    if url := environment.get(release.variable):
        user = environment.get(f"{release.variable}_USER")
        return Given(url, user, environment.get(f"{release.variable}_PASSWORD"))
    if docker_answers():
        return Docker(release.image)
    try:
        return Jars(find_java(release.oldest_java))
    except NotAvailable as failure:
        raise NotAvailable(
            f"No Neo4j {release.version} for the tests: set {release.variable} to the bolt URL of a running "
            f"one, or start Docker, or install Java {release.oldest_java} or newer ({failure})."
        ) from failure

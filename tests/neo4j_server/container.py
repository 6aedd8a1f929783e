import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from docker.errors import APIError, DockerException, ImageNotFound
from testcontainers.core.container import DockerContainer
from testcontainers.core.docker_client import DockerClient

from tests.neo4j_server.errors import NotAvailable, StartFailed
from tests.neo4j_server.releases import Release
from tests.neo4j_server.server import answers, free_port, leaks_ignored, wait_until_ready

START_TIMEOUT: Final = 300.0
BOLT: Final = 7687


def docker_answers() -> bool:
    with leaks_ignored():
        try:
            return bool(DockerClient().client.ping())
        except (DockerException, OSError):
            return False


def pull(release: Release, say: Callable[[str], None]) -> None:
    images = DockerClient().client.images
    try:
        images.get(release.image)
    except ImageNotFound:
        say(f"Pulling {release.image}")
        try:
            images.pull(release.image)
        except (APIError, OSError) as failure:
            raise NotAvailable(
                f"Docker cannot pull {release.image}: set {release.variable} to the bolt URL of a running "
                f"Neo4j, or stop Docker so that its jars are used ({failure})."
            ) from failure


@dataclass
class ContainerServer:
    """A Neo4j run by Docker; its data live as long as its container."""

    release: Release
    port: int = field(default_factory=free_port)
    user: str | None = "neo4j"
    password: str | None = field(default_factory=lambda: secrets.token_urlsafe(16))
    _host: str = "127.0.0.1"
    _container: DockerContainer | None = None

    @property
    def url(self) -> str:
        return f"bolt://{self._host}:{self.port}"

    def start(self) -> None:
        if self._container is None:
            self._container = self._create()
            self._container.start()
            self._host = self._container.get_container_host_ip()
        elif not self.running():
            self._wrapped().start()
        if not wait_until_ready(
            lambda: answers(self.url, self.user, self.password), self.running, START_TIMEOUT
        ):
            state = "does not answer" if self.running() else "has stopped"
            log = self._wrapped().logs(tail=30).decode(errors="replace")
            raise StartFailed(f"The container of {self.release.image} {state}. Its log:\n{log}")

    def running(self) -> bool:
        wrapped = self._wrapped()
        wrapped.reload()
        return bool(wrapped.status == "running")

    def stop(self) -> None:
        self._wrapped().stop(timeout=60)

    def kill(self) -> None:
        self._wrapped().kill()

    def close(self) -> None:
        if self._container is not None:
            self._container.stop()

    def _create(self) -> DockerContainer:
        container = DockerContainer(self.release.image).with_bind_ports(BOLT, self.port)
        # A double underscore stands for one in a setting's name, a single one for a dot.
        return container.with_envs(
            NEO4J_AUTH=f"{self.user}/{self.password}",
            NEO4J_dbms_usage__report_enabled="false",
            NEO4J_server_bolt_advertised__address=f"localhost:{self.port}",
            NEO4J_server_http_enabled="false",
            NEO4J_server_memory_heap_max__size="512m",
            NEO4J_server_memory_pagecache_size="128m",
        )

    def _wrapped(self) -> Any:
        if self._container is None:
            raise RuntimeError("the container was never started")
        return self._container.get_wrapped_container()

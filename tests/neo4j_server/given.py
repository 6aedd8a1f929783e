from dataclasses import dataclass

from tests.neo4j_server.errors import NotAvailable
from tests.neo4j_server.server import answers


@dataclass(frozen=True)
class GivenServer:
    """A Neo4j that someone else runs."""

    variable: str
    url: str
    user: str | None
    password: str | None

    def start(self) -> None:
        if not answers(self.url, self.user, self.password):
            raise NotAvailable(
                f"The Neo4j of {self.variable} ({self.url}) does not answer: start it, "
                f"check {self.variable}_USER and {self.variable}_PASSWORD, or unset {self.variable}."
            )

    def stop(self) -> None:
        raise NotImplementedError("a given server is not ours to stop")

    def kill(self) -> None:
        raise NotImplementedError("a given server is not ours to kill")

    def close(self) -> None:
        pass

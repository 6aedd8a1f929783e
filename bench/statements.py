"""The benchmark's own Cypher, and how it is run beside the service."""

from functools import cache
from pathlib import Path
from typing import Any

from neo4j import AsyncDriver, AsyncGraphDatabase, Record

from stello_graph.settings import Settings

__all__ = ["open_driver", "run", "settings_of", "statement"]

_FOLDER = Path(__file__).parent / "cypher"


@cache
def statement(name: str) -> str:
    """The text of `cypher/<name>.cypher`."""
    return (_FOLDER / f"{name}.cypher").read_text()


def settings_of(url: str) -> Settings:
    """The settings for a database; user and password come from the environment, as for the server."""
    given: dict[str, Any] = {"store": url}
    return Settings(**given)


def open_driver(settings: Settings) -> AsyncDriver:
    """A driver as a bare script has it, for the database that the settings name."""
    password = settings.neo4j_password
    auth = None
    if settings.neo4j_user is not None:
        auth = (settings.neo4j_user, "" if password is None else password.get_secret_value())
    return AsyncGraphDatabase.driver(settings.store, auth=auth, notifications_min_severity="OFF")


async def run(driver: AsyncDriver, database: str | None, name: str, **params: object) -> Record | None:
    """The only record of an auto-committed statement."""
    async with driver.session(database=database) as session:
        return await (await session.run(statement(name), params)).single()

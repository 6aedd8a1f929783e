"""Reads as people write them, and reads as fast as the driver can."""

from typing import Any

from neo4j import AsyncDriver, AsyncManagedTransaction, Query

from bench.items import Item
from bench.statements import statement

__all__ = ["RawReads"]


class RawReads:
    """Reads of the Space of the benchmark."""

    def __init__(self, driver: AsyncDriver, database: str | None, space: str) -> None:
        self._driver = driver
        self._database = database
        self._space = space

    async def tx(self, letter: str, item: Item) -> list[dict[str, Any]]:
        """A managed transaction that brings a record a row."""
        text, params = self._asked("raw_tx", letter, item)

        async def work(transaction: AsyncManagedTransaction) -> list[dict[str, Any]]:
            return [record.data() async for record in await transaction.run(text, params)]

        async with self._driver.session(database=self._database) as session:
            return await session.execute_read(work)

    async def best(self, letter: str, item: Item) -> Any:
        """One auto-committed round trip that brings one record."""
        text, params = self._asked("raw_best", letter, item)
        async with self._driver.session(database=self._database, default_access_mode="READ") as session:
            record = await (await session.run(Query(text), params)).single(strict=True)
            return record[0]

    def _asked(self, folder: str, letter: str, item: Item) -> tuple[str, dict[str, Any]]:
        params = {"space": self._space, "prefix": f"{self._space}/", "key": f"{self._space}/{item.id}"}
        return statement(f"{folder}/{letter}"), params

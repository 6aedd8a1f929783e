"""The Cypher of docs/graph.md, to be pasted into Neo4j Browser: each query finds something in the demo."""

import re
from pathlib import Path
from typing import Final

import pytest
from neo4j import GraphDatabase, RoutingControl

from stello_graph.demo.load import load_demo
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import exchange

GRAPH: Final = Path(__file__).parents[2] / "docs" / "graph.md"
QUERIES: Final = re.findall(r"```cypher\n(.*?)```", GRAPH.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("engine", ["neo4j"], indirect=True)
async def test_each_query_finds_something(space: SpaceStore, database: Database) -> None:
    """As it is, but for the Space; none of them writes or warns."""
    await load_demo(space)
    await exchange(space, "hydrophone-diy")
    user, password = (database.credentials.get(f"STELLO_NEO4J_{name}") for name in ("USER", "PASSWORD"))
    auth = None if user is None else (user, password or "")
    assert len(QUERIES) > 5
    with GraphDatabase.driver(database.url, auth=auth) as driver:
        for query in QUERIES:
            asked = query.replace("'default", f"'{space.space_id}").replace("<id>", "hydrophone-diy")
            found = driver.execute_query(asked, routing_=RoutingControl.READ)
            assert found.records, query
            told = [status for status in found.summary.gql_status_objects if status.is_notification]
            assert told == [], query

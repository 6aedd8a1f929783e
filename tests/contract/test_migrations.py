"""Laws of the migrations."""

import re

import pytest

from stello_graph.store.migrations import migrations

# Of these there are few in any store.
FEW = {"Space"}
CHANGES = [
    (step.name, statement)
    for step in migrations("cypher")
    for statement in step.statements
    if re.match(r"\s*MATCH \(\w+:", statement)
]


@pytest.mark.parametrize(("name", "statement"), CHANGES)
def test_a_big_store_is_changed_in_batches(name: str, statement: str) -> None:
    """One transaction over all nodes of a kind would need more memory than a graph database gives it."""
    kind = re.findall(r"MATCH \(\w+:(\w+)", statement)[0]

    assert kind in FEW or re.search(r"\} IN TRANSACTIONS OF \d+ ROWS$", statement), statement


def test_there_are_such() -> None:
    """The law above is about something."""
    assert len(CHANGES) >= 4

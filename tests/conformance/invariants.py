"""What is true of every Space at rest, whatever happened to it."""

from collections import defaultdict

from stello_graph.store.engine import Row
from stello_graph.store.indexing import label_terms, memory_terms, message_terms
from tests.conformance.databases import OPEN, Snapshot

SHARED = (
    "id",
    "spaceId",
    "rootId",
    "label",
    "status",
    "role",
    "strategy",
    "turnCount",
    "createdAt",
    "lastActiveAt",
)


def check_invariants(stored: Snapshot) -> None:
    """Fails with what does not hold."""
    (space,) = stored["space"]
    sessions = {row["key"]: row for row in stored["session"]}
    nodes = {row["key"]: row for row in stored["node"]}
    _check_counters(space, stored)
    _check_pairs(sessions, nodes)
    _check_places(space, nodes, stored["parent"])
    _check_transcripts(sessions, stored)
    _check_turns(sessions, stored["turn"])
    _check_tasks(sessions, stored["task"])
    _check_terms(space["id"], stored)
    for row in stored["ref"]:
        assert {row["fromKey"], row["toKey"]} <= nodes.keys(), f"a link that leaves the Space: {row}"
    for row in stored["idempotency"] + stored["holder"]:
        assert row["sk"] in sessions, f"what belonged to a session stays without it: {row}"


def _check_tasks(sessions: dict[str, Row], tasks: list[Row]) -> None:
    for task in tasks:
        assert task["key"] == f"{task['spaceId']}/{task['kind']}:{task['sessionId']}"
        assert f"{task['spaceId']}/{task['sessionId']}" in sessions, f"a task without its session: {task}"
        assert "holder" not in task or "dueAt" in task, f"a task that is held for ever: {task}"


def _check_terms(space_id: str, stored: Snapshot) -> None:
    """What can be found is what is there, whatever wrote it."""
    found = {(row["scope"], row["key"]): row["terms"] for row in stored["searchable"]}
    there = {
        **{("LABEL", row["key"]): label_terms(space_id, row["label"]) for row in stored["session"]},
        **{
            ("MEMORY", row["key"]): memory_terms(space_id, row["memory"])
            for row in stored["session"]
            if "memory" in row
        },
        **{
            ("MESSAGE", row["key"]): message_terms(space_id, row["role"], row["content"])
            for row in stored["message"]
        },
    }
    assert found == {place: terms for place, terms in there.items() if terms}


def _check_counters(space: Row, stored: Snapshot) -> None:
    numbers = sorted(row["seq"] for row in stored["event"])
    assert numbers == list(range(1, space["eventSeq"] + 1)), "event numbers have gaps"
    assert space["sessionCount"] == len(stored["session"])
    for row in stored["session"]:
        assert 0 < row["eventSeq"] <= space["eventSeq"]


def _check_pairs(sessions: dict[str, Row], nodes: dict[str, Row]) -> None:
    assert sessions.keys() == nodes.keys()
    for key, session in sessions.items():
        for name in SHARED:
            assert session[name] == nodes[key][name], f"{key}: {name} differs"


def _check_places(space: Row, nodes: dict[str, Row], edges: list[Row]) -> None:
    parents = {row["child"]: row["parent"] for row in edges}
    assert len(edges) == len(parents), "a node with two parents"
    assert parents == {key: node["parentKey"] for key, node in nodes.items()}
    places = defaultdict(list)
    for node in nodes.values():
        places[node["parentKey"]].append(node["index"])
        parent = nodes.get(node["parentKey"])
        if parent is None:
            assert (node["parentKey"], node["depth"], node["rootId"]) == (space["id"], 0, node["id"])
            assert "parentId" not in node
        else:
            assert (node["parentId"], node["rootId"]) == (parent["id"], parent["rootId"])
            assert node["depth"] == parent["depth"] + 1
    for key, node in nodes.items():
        _check_children(places[key], node["nextIndex"])
        assert node["childCount"] == len(places[key])
    _check_children(places[space["id"]], space["nextRootIndex"])


def _check_children(places: list[int], next_index: int) -> None:
    assert len(set(places)) == len(places), f"a place taken twice: {places}"
    assert set(places) <= set(range(next_index)), f"{next_index} is not after {places}"


def _check_transcripts(sessions: dict[str, Row], stored: Snapshot) -> None:
    seqs = defaultdict(list)
    for edge in stored["edge"]:
        assert edge["owner"] == edge["sk"]
        seqs[edge["sk"]].append(edge["seq"])
    assert seqs.keys() <= sessions.keys()
    for key, session in sessions.items():
        assert session["messageCount"] == len(seqs[key])
        last = session["nextSeq"] - 1
        assert sorted(seqs[key]) == list(range(last - len(seqs[key]) + 1, last + 1)), "places have gaps"
    messages = {row["key"] for row in stored["message"]}
    assert messages == {row["mk"] for row in stored["edge"]}, (
        "a message without a session, or of another Space"
    )


def _check_turns(sessions: dict[str, Row], turns: list[Row]) -> None:
    numbers = defaultdict(list)
    held = {}
    for turn in turns:
        numbers[turn["sk"]].append(turn["number"])
        assert bool(turn["open"]) == (turn["status"] in OPEN)
        if turn["open"]:
            assert turn["sk"] not in held, "two turns hold one session"
            held[turn["sk"]] = turn["id"]
    assert numbers.keys() <= sessions.keys()
    for key, session in sessions.items():
        assert sorted(numbers[key]) == list(range(1, session["lastTurnNumber"] + 1))
        assert session.get("openTurnId") == held.get(key)

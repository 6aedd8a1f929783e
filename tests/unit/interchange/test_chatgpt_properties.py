"""Random conversations: whatever hangs where, each message has its place, once."""

import random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stello_graph.model.message import Draft, MessageRole
from tests.unit.interchange.exports import (
    Json,
    call,
    message,
    output,
    read_all,
    read_if_any,
    reply,
    user,
    views,
)

KINDS = ("user", "reply", "call a", "call b", "output a", "output b", "hidden", "empty", "malformed")
MODEST = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def made(kind: str, id: str) -> Any:
    name, _, tool = kind.partition(" ")
    return {
        "user": user(id),
        "reply": reply(id),
        "call": call(id, tool=tool),
        "output": output(id, tool=tool),
        "hidden": message(id, "system", "hidden", weight=0),
        "malformed": {"id": id},
    }.get(name)


@st.composite
def conversations(draw: st.DrawFn, sizes: tuple[int, int] = (1, 14), kinds: tuple[str, ...] = KINDS) -> Json:
    """A conversation whose nodes hang under any earlier one, or under none."""
    size = draw(st.integers(*sizes))
    mapping: Json = {}
    for number in range(size):
        # Near parents make long paths, which tool groups need.
        back = draw(st.integers(0, min(number, 3)))
        parent = f"n{number - back}" if back else draw(st.sampled_from([None, f"n{max(number - 1, 0)}"]))
        parent = None if parent == f"n{number}" else parent
        key = f"n{number}"
        mapping[key] = {"message": made(draw(st.sampled_from(kinds)), key), "parent": parent, "children": []}
        if parent:
            mapping[parent]["children"].append(key)
    current = draw(st.sampled_from([None, *mapping]))
    return {"conversation_id": "c", "mapping": mapping, "current_node": current}


def is_visible(node: Json) -> bool:
    return (
        bool(node["message"])
        and "author" in node["message"]
        and node["message"]["author"]["role"] != "system"
    )


def path(mapping: Json, key: str | None) -> list[str]:
    found = []
    while key:
        found.append(key)
        key = mapping[key]["parent"]
    return [each for each in reversed(found) if is_visible(mapping[each])]


def visible_leaves(mapping: Json) -> set[str]:
    visible = {key for key in mapping if is_visible(mapping[key])}
    return visible - {above for key in visible for above in path(mapping, key)[:-1]}


def said(mapping: Json, keys: list[str]) -> list[str]:
    """What people and the model say on a path, and, in any order, what goes to tools and comes back."""
    texts = [mapping[key]["message"] for key in keys]
    plain = [each["content"]["parts"][0] for each in texts if each["author"]["role"] != "tool"]
    spoken = [text for text in plain if not text.startswith("call")]
    tools = [each["content"]["parts"][0] for each in texts if each["content"]["parts"][0] not in spoken]
    return [*spoken, *sorted(tools)]


def heard(view: list[Draft]) -> list[str]:
    spoken = [each.content for each in view if each.role is not MessageRole.TOOL and not each.tool_calls]
    outputs = [text for each in view if each.state != "CANCELLED" for text in each.content.split("\n\n")]
    calls = [call.arguments["input"] for each in view for call in each.tool_calls if call.arguments]
    return [*spoken, *sorted([*calls, *(text for text in outputs if text.startswith("output"))])]


@MODEST
@given(conversations())
def test_each_path_to_a_leaf_is_the_view_of_one_session(entry: Json) -> None:
    plan = read_if_any(entry)
    mapping, current = entry["mapping"], entry["current_node"]
    leaves = visible_leaves(mapping)
    if plan is None:
        assert not leaves
        return

    found = [heard(view) for view in views(plan.sessions).values()]

    paths = [said(mapping, path(mapping, leaf)) for leaf in leaves]
    if current and is_visible(mapping[current]) and len(found) > len(paths):
        paths.append(found[0])
    assert sorted(found) == sorted(paths)


@MODEST
@given(conversations(kinds=("user", "reply", "hidden", "empty", "malformed")))
def test_the_current_path_is_the_first_session(entry: Json) -> None:
    plan = read_if_any(entry)
    mapping, current = entry["mapping"], entry["current_node"]

    if plan and current and is_visible(mapping[current]):
        first, *_ = plan.sessions
        assert [each.id for each in first.messages] == [f"chatgpt:c:{key}" for key in path(mapping, current)]


@MODEST
@given(conversations(sizes=(1, 25)))
def test_what_is_said_is_stored_once(entry: Json) -> None:
    plan = read_if_any(entry)

    if plan:
        own = [each for session in plan.sessions for each in session.messages]
        for key, node in entry["mapping"].items():
            if is_visible(node) and node["message"]["author"]["role"] == "user":
                assert [each.content for each in own if each.id == f"chatgpt:c:{key}"] == [f"question {key}"]
            elif is_visible(node):
                assert any(f" {key}" in each.model_dump_json() for each in own)
        sources = [None, *(session.id for session in plan.sessions)]
        assert all(session.source_id in sources[: place + 1] for place, session in enumerate(plan.sessions))


@MODEST
@given(conversations(), st.randoms(use_true_random=False))
def test_the_order_in_the_file_does_not_matter(entry: Json, chance: random.Random) -> None:
    mapping = entry["mapping"]
    for number, (key, node) in enumerate(mapping.items()):
        if node["parent"] is None and key != "n0":
            node["parent"] = "n0"
            mapping["n0"]["children"].append(key)
        if node["message"]:
            node["message"]["create_time"] = 1_700_000_000 + number
    shuffled = list(mapping.items())
    chance.shuffle(shuffled)

    once, again = read_if_any(entry), read_if_any(entry | {"mapping": dict(shuffled)})

    assert (again and again.sessions) == (once and once.sessions)


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = ["message", "parent", "children", "author", "role", "content", "parts", "content_type", "text"]
    return st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*keys, "metadata"]), inner)


@MODEST
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), nested))
def test_nothing_makes_the_reader_fail(value: Any) -> None:
    for entry in ({"mapping": value}, {"mapping": {"a": value, "b": {"message": value}}}):
        assert all("fault" not in getattr(found, "why", "") for found in read_all(entry))

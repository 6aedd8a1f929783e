"""One story, from an export to a fork that got an insight, told the same way on each engine."""

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.e2e import documents
from tests.e2e.client import Client
from tests.e2e.processes import Store, run
from tests.model_server import ModelServer

__all__ = ["FILES", "Story", "imported", "normal", "rewritten", "tell"]

FILES: Final = Path(__file__).parents[1] / "fixtures" / "chatgpt"
NODE: Final = (
    "id parentId label status role depth index childCount turnCount sourceSessionId sourceSeq "
    "createdAt lastActiveAt parent { id }"
)
TREE: Final = f"""
    query ($id: ID!) {{
      topologyNode(id: $id) {{ {NODE} children {{ {NODE} children {{ {NODE} }} }} }}
    }}"""
AROUND: Final = f"""
    query ($id: ID!, $ids: [ID!]!) {{
      topologyNode(id: $id) {{
        ancestors {{ {NODE} }} siblings {{ {NODE} }} refs {{ id }} referencedBy {{ id }}
        session {{ label tags metadata systemPrompt strategy overrides {{ model }} usage {{ llmCalls }} }}
      }}
      topologyNodes(ids: $ids) {{ id }}
    }}"""
STAR_MAP: Final = """
    query ($id: ID!, $depth: Int) {
      starMap(rootId: $id, maxDepth: $depth) { rootId nodeCount truncated columns }
    }"""
LISTS: Final = """
    query ($root: ID!) {
      sessions(rootId: $root, first: 3) {
        nodes { id label messageCount turnCount } totalCount pageInfo { hasNextPage hasPreviousPage }
      }
      digests(rootId: $root) { nodes { id label status memory rollup insight } pageInfo { hasNextPage } }
    }"""
PAGE: Final = f"""
    query ($id: ID!, $last: Int, $before: String, $first: Int, $after: String) {{
      session(id: $id) {{
        messages(last: $last, before: $before, first: $first, after: $after) {{
          nodes {{ {documents.MESSAGE} }} edges {{ cursor }} totalCount
          pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }}
        }}
      }}
    }}"""
CONSOLIDATE: Final = "mutation ($id: ID!) { consolidate(sessionId: $id) { id memory usage { llmCalls } } }"
UNARCHIVE: Final = "mutation ($id: ID!) { unarchiveSession(id: $id) { id status } }"
ARCHIVE: Final = "mutation ($id: ID!) { archiveSession(id: $id) { id status } }"
ADD_REF: Final = "mutation ($from: ID!, $to: ID!) { addRef(fromId: $from, toId: $to) { id refs { id } } }"
REMOVE_REF: Final = (
    "mutation ($from: ID!, $to: ID!) { removeRef(fromId: $from, toId: $to) { id refs { id } } }"
)
UPDATE: Final = """
    mutation ($id: ID!, $input: UpdateSessionInput!) {
      updateSession(id: $id, input: $input) { label tags metadata systemPrompt skills }
    }"""
ENTER: Final = 'mutation ($id: ID!) { enterSession(id: $id, holder: "tab") { id } }'
TRIM: Final = (
    "mutation ($id: ID!, $keep: Int!) { trimMessages(sessionId: $id, keepLast: $keep) { messageCount } }"
)
DELETE: Final = "mutation ($id: ID!, $count: Int!) { deleteSession(id: $id, expectedCount: $count) }"

INSIGHT: Final = "They travel with a child of four. 带着四岁的孩子。"
DIGEST: Final = "计划京都五日慢游，第一天岚山。"


@dataclass
class Story:
    """What was answered, step by step, and what the model was asked.

    Attributes:
        imports: the file that the story is about, the same again, all other files.
        answers: the whole JSON of each answer, by the name of its step.
        requests: what the model was asked in a step.
        refused: requests that the model's provider would not have taken.
    """

    root: str
    fork: str
    imports: list["subprocess.CompletedProcess[str]"] = field(default_factory=list)
    answers: dict[str, Any] = field(default_factory=dict)
    requests: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    refused: list[Any] = field(default_factory=list)

    def data(self, step: str, name: str) -> Any:
        """A field of an answer without errors."""
        assert "errors" not in self.answers[step], self.answers[step]
        return self.answers[step]["data"][name]


def rewritten(folder: Path, name: str, prefix: str, *files: str) -> Path:
    """The conversations of some fixtures in one file, with ids that nobody else uses."""
    entries: list[Any] = []
    for file in files:
        found = json.loads((FILES / f"{file}.json").read_text())
        entries += found if isinstance(found, list) else [found]
    for entry in entries:
        if isinstance(entry, dict) and "conversation_id" in entry:
            # With a colon it would be hashed, and could not be told from others.
            entry["conversation_id"] = f"{prefix}-{entry['conversation_id'].replace(':', '-')}"
    path = folder / name
    path.write_text(json.dumps(entries))
    return path


def imported(store: Store, file: Path) -> "subprocess.CompletedProcess[str]":
    """What became of `stello-graph import`."""
    return run(["import", str(file), "--store", store.url], store.environment)


async def tell(
    client: Client, model: ModelServer, store: Store, trip: Path, others: Path, root: str
) -> Story:
    """Lives through it on one server, beside which the importer runs as a process of its own.

    Args:
        trip: a file that was imported already.
        others: one that was not.
        root: the session that `trip` became.
    """
    story = Story(root=root, fork=f"{root.removeprefix('chatgpt:')}-fork")
    story.imports.append(imported(store, trip))
    ask = _Asking(client, model, story)
    await _look(ask, story)
    await _fork(ask, story)
    await _insight(ask, story)
    await _refusals(ask, story)
    story.imports.append(imported(store, others))
    await _go_on(ask, story)
    story.refused = list(model.refused)
    return story


class _Asking:
    def __init__(self, client: Client, model: ModelServer, story: Story) -> None:
        self._client = client
        self._model = model
        self._story = story

    async def __call__(self, step: str, document: str, **variables: Any) -> Any:
        before = len(self._model.requests)
        answer = await self._client.http.post("/graphql", json={"query": document, "variables": variables})
        assert answer.status_code == 200, answer.text
        assert step not in self._story.answers, step
        self._story.answers[step] = answer.json()
        if len(self._model.requests) > before:
            self._story.requests[step] = self._model.requests[-1]
        return self._story.answers[step]["data"]

    def answer(self, text: str) -> None:
        self._model.script(text)


async def _look(ask: _Asking, story: Story) -> None:
    """The map from above, the newest messages, one page back."""
    roots = await ask("roots", documents.CHILDREN, id=None)
    story.answers["roots"]["data"]["getChildren"] = [
        node for node in roots["getChildren"] if node["id"] == story.root
    ]
    await ask("branches", documents.CHILDREN, id=story.root)
    await ask("page of branches", documents.CHILDREN, id=story.root, first=2)
    await ask("tree", TREE, id=story.root)
    await ask("star map", STAR_MAP, id=story.root)
    await ask("top of the star map", STAR_MAP, id=story.root, depth=0)
    await ask(
        "around a branch", AROUND, id=f"{story.root}:a2", ids=[story.root, "nobody", f"{story.root}:a3b"]
    )
    await ask("lists", LISTS, root=story.root)
    newest = await ask("newest", PAGE, id=story.root, last=2)
    cursor = newest["session"]["messages"]["pageInfo"]["startCursor"]
    await ask("before the newest", PAGE, id=story.root, last=3, before=cursor)
    await ask("oldest", PAGE, id=story.root, first=2)
    await ask("both ends", PAGE, id=story.root, first=2, last=2)


async def _fork(ask: _Asking, story: Story) -> None:
    """A fork in the middle, what it would ask, a turn, its digest."""
    fork = {"id": story.fork, "sourceSessionId": story.root, "label": "慢游 🍵", "context": "INHERIT"}
    await ask("fork of an archived one", documents.FORK, input={**fork, "throughSeq": 4})
    await ask("unarchive", UNARCHIVE, id=story.root)
    await ask("fork", documents.FORK, input={**fork, "throughSeq": 4})
    await ask("fork again", documents.FORK, input={**fork, "throughSeq": 4})
    await ask("inherited", documents.TRANSCRIPT, id=story.fork)
    await ask(
        "rename", UPDATE, id=story.fork, input={"label": "慢游", "tags": ["tea"], "metadata": {"a": [1, 2.5]}}
    )
    await ask("first preview", documents.PREVIEW, id=story.fork, content="住哪里好？ 🏨")
    ask.answer("住祇园附近。 ⛩️")
    await ask("first turn", documents.SEND, input={"sessionId": story.fork, "content": "住哪里好？ 🏨"})
    ask.answer(f"<think>…</think>{DIGEST}")
    await ask("consolidate", CONSOLIDATE, id=story.fork)
    await ask("digests", LISTS, root=story.root)
    await ask("transcript of the source", documents.TRANSCRIPT, id=story.root)


async def _insight(ask: _Asking, story: Story) -> None:
    """An insight from outside is in one turn, and in that one only."""
    await ask("put insight", documents.INSIGHT, id=story.fork, content=INSIGHT)
    await ask("second preview", documents.PREVIEW, id=story.fork, content="还有呢？")
    ask.answer("带孩子可以去动物园。")
    await ask("second turn", documents.SEND, input={"sessionId": story.fork, "content": "还有呢？"})
    await ask("insight gone", documents.TURNS, id=story.fork)
    await ask("third preview", documents.PREVIEW, id=story.fork, content="谢谢")
    ask.answer("不客气。")
    await ask("third turn", documents.SEND, input={"sessionId": story.fork, "content": "谢谢"})
    await ask("map after the turns", STAR_MAP, id=story.root)


async def _refusals(ask: _Asking, story: Story) -> None:
    """What is refused, and what changes the map."""
    root, fork = story.root, story.fork
    a2, a3b = f"{root}:a2", f"{root}:a3b"
    for step, source, more in (
        ("fork of nobody", "nobody", {}),
        ("fork under nobody", fork, {"parentId": "nobody"}),
        ("fork through nothing", fork, {"context": "INHERIT", "throughSeq": 99}),
        ("fork through something without context", fork, {"throughSeq": 2}),
        ("fork by an unknown profile", fork, {"profile": "nobody"}),
        ("fork with a bad id", fork, {"id": "a/b"}),
    ):
        await ask(step, documents.FORK, input={"sourceSessionId": source, "label": "x", **more})
    await ask("children of nobody", documents.CHILDREN, id="nobody")
    await ask("turn of nobody", documents.TURN, id="nobody")
    await ask("session of nobody", documents.TURNS, id="nobody")
    await ask("map of nobody", STAR_MAP, id="nobody")
    await ask("preview of nobody", documents.PREVIEW, id="nobody", content="x")
    await ask("send to nobody", documents.SEND, input={"sessionId": "nobody", "content": "x"})
    await ask("send to an archived one", documents.SEND, input={"sessionId": a2, "content": "x"})
    await ask("send nothing", documents.SEND, input={"sessionId": fork, "content": " \n"})
    await ask("insight for an archived one", documents.INSIGHT, id=a2, content="x")
    await ask("unknown field", "{ space { nothing } }")
    await ask("ref from an archived one", ADD_REF, **{"from": a2, "to": a3b})
    await ask("ref", ADD_REF, **{"from": fork, "to": a3b})
    await ask("ref again", ADD_REF, **{"from": fork, "to": a3b})
    await ask("ref to self", ADD_REF, **{"from": fork, "to": fork})
    await ask("ref to an ancestor", ADD_REF, **{"from": fork, "to": root})
    await ask("ref to a descendant", ADD_REF, **{"from": root, "to": fork})
    await ask("around the fork", AROUND, id=a3b, ids=[fork, fork])
    await ask("no ref", REMOVE_REF, **{"from": fork, "to": a3b})
    await ask("no ref again", REMOVE_REF, **{"from": fork, "to": a3b})
    await ask("long label", UPDATE, id=fork, input={"label": "x" * 201})
    await ask("no label", UPDATE, id=fork, input={"label": None})
    await ask("enter", ENTER, id=fork)
    await ask("append", documents.APPEND, id=fork, messages=[{"role": "ASSISTANT", "content": "Noted. 📝"}])
    await ask("trim", TRIM, id=fork, keep=3)
    await ask("trimmed", documents.TRANSCRIPT, id=fork)
    await ask("archive", ARCHIVE, id=fork)
    await ask("delete a wrong number", DELETE, id=root, count=3)
    await ask("delete", DELETE, id=fork, count=1)
    await ask("map after the deletion", STAR_MAP, id=root)


async def _go_on(ask: _Asking, story: Story) -> None:
    """Whatever was imported can be talked to: the provider takes each transcript."""
    prefix = story.root.removesuffix("trip")
    found = await ask("imported", "{ sessions(first: 1000) { nodes { id } } }")
    ids = [one["id"] for one in found["sessions"]["nodes"] if one["id"].startswith(prefix)]
    story.answers["imported"] = ids
    for id in ids:
        if not id.startswith(story.root):
            await ask(f"go on with {id}", documents.SEND, input={"sessionId": id, "content": "Go on"})


_GENERATED: Final = re.compile(r"\b[0-9a-hjkmnp-tv-z]{26}\b")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def normal(value: Any, known: dict[str, str] | None = None) -> Any:
    """A value with generated ids numbered as they come, without times and places among all roots."""
    known = {} if known is None else known
    match value:
        case {"depth": 0, "index": int(), **rest}:
            return normal(rest, known)
        case {"depth": [0, *_], "index": [_, *indexes], **rest}:
            return normal({**rest, "index of others": indexes}, known)
        case dict():
            return {
                key: "a time" if key == "lastActiveAt" else normal(inner, known)
                for key, inner in value.items()
            }
        case list():
            return [normal(inner, known) for inner in value]
        case str():
            named = _GENERATED.sub(lambda found: known.setdefault(found[0], f"id {len(known)}"), value)
            return _TIME.sub("a time", named)
    return value

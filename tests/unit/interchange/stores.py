"""Building stores of the predecessor, in both forms."""

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def meta(id: str, parent: str | None = None, *, at: int = 0, **more: Any) -> Json:
    """What the tree writes of a session; `at` is the minute when it was made."""
    time = f"2026-04-01T10:{at:02}:00.000Z"
    return {
        "id": id,
        "parentId": parent,
        "children": [],
        "refs": [],
        "label": f"Label {id}",
        "index": 0,
        "status": "active",
        "depth": 0 if parent is None else 1,
        "turnCount": 0,
        "createdAt": time,
        "updatedAt": "2026-04-02T10:00:00.000Z",
        "lastActiveAt": time,
        **more,
    }


def record(role: str, content: Any, at: int = 0, **metadata: Any) -> Json:
    """A record as the memory engine keeps it; `at` is the second."""
    told = {"role": role, "content": content, "timestamp": f"2026-04-01T11:00:{at:02}.000Z"}
    return told | ({"metadata": metadata} if metadata else {})


def call(id: Any, name: str = "search", **arguments: Any) -> Json:
    return {"id": id, "name": name, "input": arguments}


def lines(*records: Any) -> str:
    """A `records.jsonl`; a string stands for a broken line."""
    return "".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in records)


def write(folder: Path, files: dict[str, Any]) -> Path:
    """Writes files by their paths: what ends in `.json` as that, unless it is in bytes."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
            continue
        path.write_text(json.dumps(content, indent=2) if path.suffix == ".json" else content)
    return folder


def engine_store(folder: Path) -> Path:
    """A store as the memory engine keeps it: a main session, three below it, one of them broken off."""
    return write(
        folder,
        {
            "core.json": {"profile": {"name": "Mei", "gpa": None}, "goals": ["Kyoto"], "a b": 1},
            "sessions/main/meta.json": meta("main", children=["b", "a"], at=1),
            "sessions/main/memory.md": "All in all: Kyoto.",
            "sessions/main/scope.md": "",
            "sessions/main/records.jsonl": lines(record("user", "Plan it"), record("assistant", "Yes.", 1)),
            "sessions/a/meta.json": meta("a", "main", at=3, sourceSessionId="main", refs=["b", "gone"]),
            "sessions/a/memory.md": "Trains are cheap.",
            "sessions/a/scope.md": "trains",
            "sessions/a/config.json": {"systemPrompt": "You know trains.", "skills": ["maps"]},
            "sessions/a/records.jsonl": lines(
                record("user", "Which train?"),
                record("assistant", "", 1, toolCalls=[call("k", q="train"), call("l", q="bus")]),
                record("tool", "the bus", 2, toolCallId="l"),
                record("tool", "the train", 3, toolCallId="k"),
                '{"role": "assistant", "content": "Th',
                record("assistant", "That one.", 4),
                record("tool", "lost", 5, toolCallId="k"),
                record("system", "be kind", 6),
            ),
            "sessions/b/meta.json": meta(
                "b", "main", at=2, status="archived", refs=["a"], metadata={"sourceSessionId": "a", "k": 1}
            ),
            "sessions/b/records.jsonl": lines(record("assistant", None, toolCalls=[call(None)])),
            "sessions/orphan/meta.json": meta("orphan", "gone", at=4),
            "sessions/torn/meta.json": b'{"id": "torn", ',
        },
    )


def mirrored_store(folder: Path) -> Path:
    """A store as the chat example keeps it, of the oldest generation: its only root is the main session."""
    return write(
        folder,
        {
            "memory/core.json": {"topics": []},
            "sessions/r/meta.json": meta("r", scope=None, tags=["t"], metadata={}, children=["c"]),
            "sessions/r/memory.md": "",
            "memory/sessions/r/memory.json": "The synthesis.",
            "sessions/c/meta.json": meta("c", "r", at=1, scope="France", tags=[], metadata={}),
            "memory/sessions/c/memory.json": "A digest.",
            "memory/sessions/c/scope.json": "Ask for the visa.",
            "memory/sessions/c/system-prompt.json": "You know France.",
            "memory/sessions/c/records.json": [
                record("user", "Where?"),
                {"role": "assistant", "content": "Lyon.", "toolCalls": [call("x")]},
                {"role": "tool", "content": "found", "toolCallId": "x"},
            ],
        },
    )

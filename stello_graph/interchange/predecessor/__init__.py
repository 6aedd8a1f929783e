"""Reads a folder in which the predecessor (Stello, the TypeScript SDK) keeps its sessions.

What is read, in all its generations:

- `sessions/<id>/meta.json`: label, parent, children (for their order), refs, status, times,
  `sourceSessionId` (also in `metadata`), and of the oldest generation `scope`, `tags` and `metadata`.
- `sessions/<id>/config.json`: `systemPrompt` and `skills`.
- Beside it, as its memory engine writes them: `records.jsonl` (L3), `memory.md` (L2), `scope.md`,
  `index.md`, and above all sessions `core.json` (L1).
- Or instead of those, as its chat example does: `memory/core.json`, and in `memory/sessions/<id>/` the files
  `records.json`, `memory.json`, `index.json`, `system-prompt.json`, and `scope.json`, which is the pending
  insight.

How it becomes ours:

- Sessions keep their ids. The one that is called `main`, and the only root of the oldest generation, is MAIN:
  its memory is the synthesis. Messages have ids made of what they say and when, so that they stay when
  others are trimmed.
- A session hangs where it hung; its messages are its own, also those that a fork once copied.
- A tool's result goes to the call of its id, without an id to the first open call. A call without a result
  gets a CANCELLED one. `system` records and results without a call are left out and told.
- A parent that is missing, or a circle of parents, makes a root. Sources and refs to what is not there are
  left out.
- Core data become records, their keys dot paths down to the values that are no objects.
"""

from stello_graph.interchange.predecessor.importer import import_store
from stello_graph.interchange.predecessor.store import is_store

__all__ = ["import_store", "is_store"]

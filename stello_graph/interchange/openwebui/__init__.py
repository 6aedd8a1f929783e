"""Reads the chats that Open WebUI exports: one, or an array of all.

How a chat becomes sessions:

- The path to `currentId` is a session, each other branch a fork from the message where it leaves; so the
  replies of several models to one question are forks too. Ids: `openwebui:<chat>`,
  `openwebui:<chat>:<leaf>` for a branch, and for a message `openwebui:<chat>:<message>`.
- Where there is no tree of messages, or an empty one, they are a row.
- `parentId` is the truth; `childrenIds` count where a parent is missing, and for the order.
- A message without a role, an error in place of a reply and a system message are skipped, with the
  reason; an empty message is left out. Their children hang one higher.
- Where `currentId` names no message that is imported, its path goes on to the latest leaf below; where it
  leads nowhere or into a tree whose beginning is not in the file, the latest leaf of all is taken.
- A reply's thoughts and tool calls come from `output`, else from the `<details>` of its content. Where the
  content says something else than `output`, it was edited: then the content is the truth.
- A reply with tool calls is several messages, which no branch parts: those that call and the results have
  ids that end in `:.1`, `:.1.1` and so on. A call without a result gets a CANCELLED one.
- A reply that is not done, or failed after it had begun, is TRUNCATED. The id of what a later export may
  have more of ends in `:.open`.
- A pinned chat has the tag `pinned`, beside its own; an archived one is an archived session.
- What is not text alone is kept as it was, in a block of `parts` with the type `openwebui`.
"""

from stello_graph.interchange.openwebui.reader import read

__all__ = ["read"]

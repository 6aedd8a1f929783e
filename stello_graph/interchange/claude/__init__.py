"""Reads Claude's data export: `conversations.json`, or conversations saved one by one by other tools.

How a conversation becomes sessions:

- The path to `current_leaf_message_uuid`, else to the latest leaf, is a session, each other branch a fork
  from the message where it leaves. Ids: `claude:<conversation>`, `claude:<conversation>:<leaf>` for a
  branch, and for a message `claude:<conversation>:<message>`.
- `parent_message_uuid` is the truth where any message has one; the nil UUID and null are the beginning.
  Else the messages follow each other, by `index` where all have it, else as they stand.
- What is said is what `content` says, and `text` where that says nothing. Messages that say nothing are
  left out, their children hang one higher.
- Attachments are text that begins with their name, since the model read them so; of other files there is
  the name alone.
- Tools are called and answer within one message: it becomes several, each result directly after its call.
  They find each other by their ids, else by name and order. A result in a message of its own goes to the
  open call of its id in a message above. A call without a result gets a CANCELLED one; a result without a
  call gets one that says `synthetic`. The ids of messages say all of this, so that a later export that
  knows more adds to it.
- Thinking stays in `parts` as it was. What is neither text nor a picture or document is kept there in a
  block with the type `claude`; the text has a placeholder for it.
- A message without a time has that of the message before it, else the conversation's, else none.
"""

from stello_graph.interchange.claude.reader import read

__all__ = ["read"]

"""Reads the conversations that LibreChat exports as JSON, flat or with the messages nested.

How a conversation becomes sessions:

- The path to the latest message is a session, each other branch a fork from the message where it leaves;
  the file does not say which one was shown. Ids: `librechat:<conversation>`,
  `librechat:<conversation>:<leaf>` for a branch, and `librechat:<conversation>:<message>` for a message.
- `parentMessageId` is the truth, in whatever order the messages stand; where it is missing or all zeros,
  a nested message hangs below the one that it stands in, and one that is not nested begins anew.
- A message that nobody wrote and an error in place of a reply are skipped, with the reason; an empty one
  is left out. Their children hang one higher.
- `content` is what was said, and `text` where that has no words, unless it is that of an error.
- A reply with tool calls is several messages, which no branch parts: those that call and the results have
  ids that end in `:.1`, `:.1.1` and so on. A call without a result gets a CANCELLED one.
- An `unfinished` reply, and one that failed after it had begun, is TRUNCATED. The id of what a later
  export may have more of ends in `:.open`.
- A reply without a model has that of the conversation's options.
- What is not text alone is kept as it was, in a block of `parts` with the type `librechat`.
"""

from stello_graph.interchange.librechat.reader import read

__all__ = ["read"]

"""Reads ChatGPT's data export: `conversations.json`, or one of the files that it is split into.

How a conversation becomes sessions:

- The path to `current_node` is a session, each other branch a fork from the message where it leaves.
  Ids: `chatgpt:<conversation>`, `chatgpt:<conversation>:<leaf>` for a branch, and for a message
  `chatgpt:<conversation>:<message id>`.
- Parent pointers are the truth; `children` count where a parent is missing, and for the order.
- Hidden nodes (system messages, custom instructions, weight 0, visually hidden) and empty ones are left
  out, their children hang one higher. A tool's output stays even if hidden, where it answers a call.
- Where `current_node` is hidden, its path goes on to the latest leaf below; where it leads nowhere or
  into a tree whose beginning is not in the file, the latest leaf of all is taken.
- A message to a tool is a tool call; several outputs in a row are one result, named for the last one.
  A call without any output gets a CANCELLED result, and its id ends in `:.open`, since a later export
  may have the output. An output without a call gets a call without arguments, whose `parts` say
  `synthetic` and whose id ends in `:.call`.
- No branch parts a call from its result. Where one leaves between them it shares what comes before the
  call, and has copies of the call and what follows, whose ids end in the last node of the group.
- What is not text alone is kept as it was, in a block of `parts` with the type `chatgpt`; the text has
  a placeholder for it, such as `[image]`. Thoughts are `<think>` text.
- A message without a time has that of the message before it, else the conversation's, else none.
"""

from stello_graph.interchange.chatgpt.reader import read

__all__ = ["read"]

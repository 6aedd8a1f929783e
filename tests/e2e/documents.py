"""The GraphQL documents that the tests send."""

from typing import Final

__all__ = [
    "APPEND",
    "CANCEL",
    "CHILDREN",
    "CONFIRM",
    "CREATE",
    "EVENTS",
    "FORK",
    "INSIGHT",
    "PREVIEW",
    "SEND",
    "START",
    "TRANSCRIPT",
    "TURN",
    "TURNS",
    "UPDATE",
]

MESSAGE: Final = "id seq role content state toolCallId sessionId turnId"
TURN_FIELDS: Final = (
    f"id sessionId status stopReason error {{ code message retryable }} reply {{ {MESSAGE} }} "
    f"messages {{ {MESSAGE} }} startedAt endedAt"
)

CREATE: Final = "mutation ($input: CreateSessionInput!) { createSession(input: $input) { id label } }"
FORK: Final = "mutation ($input: ForkInput!) { fork(input: $input) { id label messageCount } }"
APPEND: Final = (
    "mutation ($id: ID!, $messages: [MessageInput!]!) "
    "{ appendMessages(sessionId: $id, messages: $messages) { seq role content } }"
)
INSIGHT: Final = (
    "mutation ($id: ID!, $content: String!) "
    "{ putInsight(sessionId: $id, content: $content) { insight { content revision } } }"
)
START: Final = f"mutation ($input: SendInput!) {{ startTurn(input: $input) {{ {TURN_FIELDS} }} }}"
SEND: Final = f"mutation ($input: SendInput!) {{ send(input: $input) {{ {TURN_FIELDS} }} }}"
CANCEL: Final = f"mutation ($id: ID!) {{ cancelTurn(id: $id) {{ {TURN_FIELDS} }} }}"
CONFIRM: Final = (
    "mutation ($id: ID!, $call: String!, $approve: Boolean!) "
    "{ confirmToolCall(turnId: $id, toolCallId: $call, approve: $approve) { id status } }"
)
UPDATE: Final = (
    "mutation ($id: ID!, $input: UpdateSessionInput!) { updateSession(id: $id, input: $input) { id } }"
)
TURN: Final = f"query ($id: ID!) {{ turn(id: $id) {{ {TURN_FIELDS} }} }}"
TURNS: Final = f"""
    query ($id: ID!) {{
      session(id: $id) {{
        turnCount messageCount status insight {{ content }} activeTurn {{ id }}
        turns(last: 100) {{ {TURN_FIELDS} }}
      }}
    }}"""
TRANSCRIPT: Final = f"""
    query ($id: ID!, $last: Int = 1000) {{
      session(id: $id) {{ messages(last: $last) {{ nodes {{ {MESSAGE} }} totalCount }} }}
    }}"""
CHILDREN: Final = """
    query ($id: ID, $first: Int = 1000) {
      getChildren(parentId: $id, first: $first) {
        id label depth index childCount turnCount status sourceSessionId sourceSeq
      }
    }"""
PREVIEW: Final = """
    query ($id: ID!, $content: String!) {
      contextPreview(sessionId: $id, content: $content) {
        messages { role content origin seq toolCallId } wouldCompress estimatedTokens maxContextTokens
      }
    }"""
EVENTS: Final = f"""
    subscription ($id: ID!, $after: Long) {{
      turnEvents(turnId: $id, after: $after) {{
        __typename turnId seq at
        ... on TurnStarted {{ turn {{ id status stopReason endedAt }} }}
        ... on TextDelta {{ round text }}
        ... on MessageStored {{ message {{ {MESSAGE} }} }}
        ... on ToolCallStarted {{ round toolCall {{ id name arguments }} }}
        ... on ConfirmationRequested {{ toolCall {{ id name }} }}
        ... on ToolCallFinished {{ round toolCallId isError content }}
        ... on TurnEnded {{ turn {{ id status stopReason }} }}
      }}
    }}"""

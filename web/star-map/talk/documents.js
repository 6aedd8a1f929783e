/** What the conversation asks of the server. */

const MESSAGE = `fragment M on Message {
  id seq role content parts state toolCallId toolName isError sessionId model turnId createdAt
  toolCalls { id name arguments }
  usage { inputTokens outputTokens cacheReadTokens cacheWriteTokens }
}`;
const TURN = `fragment T on Turn {
  id status stopReason pendingToolCalls { id } error { code message retryable }
}`;

export const SESSION = `query Conversation($id: ID!) {
  session(id: $id) {
    id label status role
    activeTurn { ...T }
    turns(last: 1) { ...T }
    node { sourceSessionId }
  }
} ${TURN}`;

export const MESSAGES = `query Messages($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
  session(id: $id) {
    messages(first: $first, after: $after, last: $last, before: $before) {
      edges { cursor node { ...M } }
      pageInfo { hasPreviousPage hasNextPage }
    }
  }
} ${MESSAGE}`;

export const START = `mutation Send($input: SendInput!) {
  startTurn(input: $input) { ...T messages { ...M } }
} ${TURN} ${MESSAGE}`;

export const FOLLOW = `subscription Turn($turnId: ID!, $after: Long!) {
  turnEvents(turnId: $turnId, after: $after) {
    __typename seq
    ... on TextDelta { text }
    ... on MessageStored { message { ...M } }
    ... on ToolCallStarted { toolCall { id } }
    ... on ConfirmationRequested { toolCall { id } }
    ... on ToolCallFinished { toolCallId isError content durationMs }
    ... on TurnEnded { turn { ...T } }
  }
} ${TURN} ${MESSAGE}`;

export const PENDING = 'query Pending($id: ID!) { turn(id: $id) { pendingToolCalls { id } } }';
export const SAID = 'query Said($id: ID!) { turn(id: $id) { messages { role content } } }';
export const CANCEL = 'mutation Cancel($id: ID!) { cancelTurn(id: $id) { id } }';
export const CONFIRM = `mutation Confirm($turnId: ID!, $toolCallId: String!, $approve: Boolean!, $reason: String) {
  confirmToolCall(turnId: $turnId, toolCallId: $toolCallId, approve: $approve, reason: $reason) {
    pendingToolCalls { id }
  }
}`;

export const UNARCHIVE = 'mutation Unarchive($id: ID!) { unarchiveSession(id: $id) { id } }';
export const ENTER = 'mutation Enter($id: ID!, $holder: String!) { enterSession(id: $id, holder: $holder) { id } }';
export const LEAVE = 'mutation Leave($id: ID!, $holder: String!) { leaveSession(id: $id, holder: $holder) { id } }';

export const LABELS = 'query Labels($ids: [ID!]!) { topologyNodes(ids: $ids) { id label } }';
export const PROFILES = '{ forkProfiles { name systemPrompt context prompt } }';
export const FORK = 'mutation Fork($input: ForkInput!) { fork(input: $input) { id } }';

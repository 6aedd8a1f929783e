// purpose: Which of the messages of these keys are there, and where and when each was written.
// access: read
// params: keys
// returns: id, sessionId, createdAt
UNWIND $keys AS key
MATCH (m:Message {key: key})
RETURN collect(m {.id, .sessionId, .createdAt}) AS rows

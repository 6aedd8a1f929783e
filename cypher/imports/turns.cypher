// purpose: Which of the turns of these keys are there, and of which session each is.
// access: read
// params: keys
// returns: id, sessionId
UNWIND $keys AS key
MATCH (t:Turn {key: key})
RETURN collect({id: t.id, sessionId: t.sessionId}) AS rows

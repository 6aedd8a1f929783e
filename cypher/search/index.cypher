// purpose: Gives terms to what waits for them; what was changed meanwhile has newer ones and keeps them.
// access: write
// params: op, keys, sessions, messages
// returns: count
CALL () {
  UNWIND $keys AS key
  MATCH (s:Session {key: key})
  SET s.lock = $op
  WITH s, $sessions[key] AS entry WHERE s.lock IS NOT NULL
  SET s.labelTerms = coalesce(s.labelTerms, entry.labelTerms), s.memoryTerms = coalesce(s.memoryTerms, entry.memoryTerms)
  REMOVE s:Unindexed
}
CALL () {
  UNWIND $messages AS entry
  MATCH (m:Message {key: entry.key})
  SET m.terms = entry.terms
  REMOVE m:Unindexed
}
RETURN [{count: size($keys) + size($messages)}] AS rows

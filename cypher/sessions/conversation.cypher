// purpose: All that compiling a session's context needs: session, Space, and the transcript that no compression covers.
// access: read
// params: space, key
// returns: session.*, space, transcript
MATCH (sp:Space {id: $space})
MATCH (s:Session {key: $key})
CALL (s) {
  MATCH ()-[r:HAS_MESSAGE]->(m:Message)
  USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
  WHERE r.sk = $key AND r.seq > coalesce(s.compressionThroughSeq, 0)
  WITH r, m ORDER BY r.sk, r.seq
  RETURN collect(m {.*, seq: r.seq}) AS transcript
}
RETURN collect(s {.*, space: sp {.*}, transcript: transcript}) AS rows

// purpose: What a fork needs to know of its source: the session, its Space, and the messages around the cut.
// access: read
// params: space, key, throughSeq
// returns: session, space, tail
MATCH (sp:Space {id: $space})
MATCH (s:Session {key: $key})
CALL (s) {
  MATCH ()-[r:HAS_MESSAGE]->(m:Message)
  USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
  WHERE r.sk = $key AND r.seq >= coalesce($throughSeq, s.nextSeq - 1) AND r.seq < coalesce($throughSeq, s.nextSeq - 1) + 2
  WITH r, m ORDER BY r.sk, r.seq
  RETURN collect(m {.*, seq: r.seq}) AS tail
}
RETURN collect({session: s {.*}, space: sp {.*}, tail: tail}) AS rows

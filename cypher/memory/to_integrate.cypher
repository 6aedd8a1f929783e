// purpose: What integrating needs: the number of the Space's last event, the MAIN session, the digests of its tree, newest changed first.
// access: read
// params: space, key, rootId, first
// returns: throughSeq, session.*, space, digests
MATCH (sp:Space {id: $space})
WITH sp, sp.eventSeq AS throughSeq
MATCH (main:Session {key: $key})
CALL () {
  MATCH (s:Session)
  USING INDEX SEEK s:Session(spaceId, rootId, memorySeq)
  WHERE s.spaceId = $space AND s.rootId = $rootId AND s.memorySeq > 0 AND s.status = 'ACTIVE' AND s.key <> $key
  WITH s ORDER BY s.spaceId DESC, s.rootId DESC, s.memorySeq DESC LIMIT $first
  RETURN collect([s.id, s.label, s.status, s.memory, s.rollup, s.insight, s.updatedAt, s.eventSeq, s.memorySeq]) AS digests
}
RETURN collect(main {.*, throughSeq: throughSeq, space: sp {.*}, digests: digests}) AS rows

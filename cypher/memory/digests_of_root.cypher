// purpose: As digests, for one tree.
// access: read
// params: space, rootId, after, first, status, changedAfter, columns
// texts: many
// returns: eventSeq, digests
MATCH (sp:Space {id: $space})
WITH sp.eventSeq AS eventSeq
CALL () {
  MATCH (s:Session)
  USING INDEX SEEK s:Session(spaceId, rootId, key)
  WHERE s.spaceId = $space AND s.rootId = $rootId AND s.key > $after
    AND ($status IS NULL OR s.status = $status) AND s.eventSeq > $changedAfter
  WITH s ORDER BY s.spaceId, s.rootId, s.key LIMIT $first
  RETURN collect([name IN $columns | s[name]]) AS digests
}
RETURN collect({eventSeq: eventSeq, digests: digests}) AS rows

// purpose: A page of the digests of a Space, by key; first of all the number of the Space's last event.
// access: read
// params: space, prefix, after, first, status, changedAfter, columns
// texts: many
// returns: eventSeq, digests
MATCH (sp:Space {id: $space})
WITH sp.eventSeq AS eventSeq
CALL () {
  MATCH (s:Session)
  USING INDEX SEEK s:Session(key)
  WHERE s.key > $after AND s.key < left($prefix, size($prefix) - 1) + '0'
    AND ($status IS NULL OR s.status = $status) AND s.eventSeq > $changedAfter
  WITH s ORDER BY s.key LIMIT $first
  RETURN collect([name IN $columns | s[name]]) AS digests
}
RETURN collect({eventSeq: eventSeq, digests: digests}) AS rows

// purpose: Removes a Space's events up to a number, but never its newest.
// access: write
// params: space, op, through
// returns: through
MATCH (sp:Space {id: $space})
SET sp.lock = $op
WITH sp
// The newest write was over before the lock was had.
SET sp.settledSeq = sp.eventSeq
WITH sp
CALL (sp) {
  MATCH (e:TopologyEvent)
  USING INDEX SEEK e:TopologyEvent(spaceId, seq)
  WHERE e.spaceId = $space AND e.seq <= $through AND e.seq < sp.eventSeq
  DELETE e
}
RETURN collect({through: $through}) AS rows

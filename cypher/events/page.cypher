// purpose: A page of a Space's events after a number, the oldest first, and the number of its newest event, which is read first.
// access: read
// params: space, after, first
// returns: newest, events
MATCH (sp:Space {id: $space})
WITH sp.eventSeq AS newest
CALL (newest) {
  MATCH (e:TopologyEvent)
  USING INDEX SEEK e:TopologyEvent(spaceId, seq)
  WHERE e.spaceId = $space AND e.seq > $after AND e.seq <= newest
  WITH e ORDER BY e.spaceId, e.seq LIMIT $first
  RETURN collect(e {.seq, .type, .nodeId, .rootId, .data, .messageCount, .firstSeq, .at}) AS events
}
RETURN collect({newest: newest, events: events}) AS rows

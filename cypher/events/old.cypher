// purpose: Spaces after an id, each with the number through which its events can go: the oldest limit ones as far as they are older than age, never its newest. 0: none can.
// access: read
// params: after, first, age, limit
// returns: spaceId, through
WITH datetime.realtime() AS clock
WITH clock.epochSeconds * 1000000 + clock.microsecond - $age AS before
MATCH (sp:Space)
USING INDEX SEEK sp:Space(id)
WHERE sp.id > $after
WITH sp, before ORDER BY sp.id LIMIT $first
CALL (sp, before) {
  MATCH (e:TopologyEvent)
  USING INDEX SEEK e:TopologyEvent(spaceId, seq)
  WHERE e.spaceId = sp.id AND e.seq > 0 AND e.seq < sp.eventSeq
  WITH e ORDER BY e.spaceId, e.seq LIMIT $limit
  WITH collect(e) AS oldest
  WITH oldest, head([e IN oldest WHERE e.at >= before | e.seq]) AS young
  RETURN coalesce(last([e IN oldest WHERE young IS NULL OR e.seq < young | e.seq]), 0) AS through
}
RETURN collect({spaceId: sp.id, through: through}) AS rows

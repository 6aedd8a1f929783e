-- purpose: Spaces after an id, each with the number through which its events can go: the oldest limit ones as far as they are older than age, never its newest. 0: none can.
-- access: read
-- params: after, first, age, limit
-- returns: spaceId, through
WITH some AS (
  SELECT sp.id, sp.eventSeq, clock.now - :age AS before,
    (SELECT min(e.seq) FROM topology_event AS e WHERE e.spaceId = sp.id) + :limit AS beyond
  FROM clock, (SELECT id, eventSeq FROM space WHERE id > :after ORDER BY id LIMIT :first) AS sp
)
SELECT some.id AS spaceId, coalesce((
    SELECT max(e.seq) FROM topology_event AS e
    WHERE e.spaceId = some.id AND e.seq < min(some.beyond, some.eventSeq, coalesce((
      SELECT min(y.seq) FROM topology_event AS y
      WHERE y.spaceId = some.id AND y.seq < some.beyond AND y.at >= some.before), some.beyond))), 0) AS through
FROM some ORDER BY some.id;

-- purpose: Deletes a subtree with all that belongs to it; messages that others share stay. The delete-lock comes first, then sessions, nodes and the Space.
-- access: write
-- params: space, key, id, op, eventKey, expectedCount, limit
-- returns: outcome, count, ids
-- unused: op
-- json: ids
DELETE FROM decision;
WITH RECURSIVE below (key, id, depth, place) AS (
  SELECT key, id, depth, "index" FROM topology_node WHERE key = :key
  UNION ALL
  SELECT n.key, n.id, n.depth, n."index" FROM below JOIN topology_node AS n ON n.parentKey = below.key
)
INSERT INTO decision (outcome, now, seq, extra)
  SELECT CASE
    WHEN done.key IS NOT NULL THEN 'DONE_BEFORE'
    WHEN count(b.key) <> :expectedCount THEN 'COUNT'
    WHEN count(b.key) > :limit THEN 'TOO_MANY'
    ELSE 'DONE' END, clock.now, coalesce(json_array_length(done.data, '$.ids'), count(b.key)),
    coalesce(json_extract(done.data, '$.ids'), json_group_array(b.id))
  FROM clock LEFT JOIN topology_event AS done ON done.key = :eventKey
    LEFT JOIN (SELECT * FROM below ORDER BY depth, place) AS b ON true
  GROUP BY NULL HAVING done.key IS NOT NULL OR count(b.key) > 0;
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
  SELECT :eventKey, :space, sp.eventSeq + 1, 'SESSION_DELETED', :id, json_object('ids', json(d.extra), 'parentId', n.parentId), d.now
  FROM decision AS d, space AS sp JOIN topology_node AS n ON n.key = :key WHERE sp.id = :space AND d.outcome = 'DONE';
UPDATE topology_node SET childCount = childCount - 1
  WHERE key = (SELECT parentKey FROM topology_node WHERE key = :key) AND (SELECT outcome FROM decision) = 'DONE';
DELETE FROM has_message
  WHERE sk IN (SELECT :space || '/' || j.value FROM decision AS d, json_each(d.extra) AS j WHERE d.outcome = 'DONE');
DELETE FROM session
  WHERE key IN (SELECT :space || '/' || j.value FROM decision AS d, json_each(d.extra) AS j WHERE d.outcome = 'DONE');
UPDATE space SET eventSeq = eventSeq + 1, sessionCount = sessionCount - (SELECT seq FROM decision)
  WHERE id = :space AND (SELECT outcome FROM decision) = 'DONE';
SELECT outcome, seq AS count, extra AS ids FROM decision;

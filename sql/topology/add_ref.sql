-- purpose: Adds a cross-link from one node to another; twice is once. Both nodes are locked in the order of their keys.
-- access: write
-- params: space, fromKey, fromId, toKey, op, eventKey, data, ofArchived
-- returns: outcome, id, parentId, label, status, role, depth, index, childCount, turnCount, sourceSessionId, sourceSeq, createdAt, lastActiveAt
-- unused: op
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM topology_event WHERE key = :eventKey) THEN 'DONE_BEFORE'
    WHEN t.key IS NULL THEN 'NO_TARGET'
    WHEN :fromKey = :toKey THEN 'SELF'
    WHEN EXISTS (WITH RECURSIVE up (key) AS (SELECT f.parentKey UNION ALL
      SELECT n.parentKey FROM up JOIN topology_node AS n ON n.key = up.key) SELECT 1 FROM up WHERE key = :toKey) THEN 'ANCESTOR'
    WHEN EXISTS (WITH RECURSIVE up (key) AS (SELECT t.parentKey UNION ALL
      SELECT n.parentKey FROM up JOIN topology_node AS n ON n.key = up.key) SELECT 1 FROM up WHERE key = :fromKey) THEN 'DESCENDANT'
    WHEN f.status = 'ARCHIVED' AND NOT :ofArchived THEN 'ARCHIVED'
    WHEN EXISTS (SELECT 1 FROM ref WHERE fromKey = :fromKey AND toKey = :toKey) THEN 'SAME'
    ELSE 'DONE' END, clock.now
  FROM clock JOIN topology_node AS f ON f.key = :fromKey LEFT JOIN topology_node AS t ON t.key = :toKey;
INSERT INTO ref (fromKey, toKey, seq, at)
  SELECT :fromKey, :toKey, sp.eventSeq + 1, d.now FROM decision AS d, space AS sp
  WHERE sp.id = :space AND d.outcome = 'DONE';
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
  SELECT :eventKey, :space, sp.eventSeq + 1, 'REF_ADDED', :fromId, :data, d.now
  FROM decision AS d, space AS sp WHERE sp.id = :space AND d.outcome = 'DONE';
UPDATE space SET eventSeq = eventSeq + 1
  WHERE id = :space AND EXISTS (SELECT 1 FROM decision AS d WHERE d.outcome = 'DONE');
SELECT d.outcome, n.* FROM decision AS d JOIN topology_node AS n ON n.key = :fromKey;

-- purpose: What integrating needs: the number of the Space's last event, the MAIN session, the digests of its tree, newest changed first.
-- access: read
-- params: space, key, rootId, first
-- returns: throughSeq, session.*, space, digests
-- json: tags, space, digests
SELECT sp.eventSeq AS throughSeq, main.*,
  json_object('id', sp.id, 'name', sp.name, 'config', sp.config, 'strategy', sp.strategy, 'createdAt', sp.createdAt) AS space,
  (SELECT json_group_array(json_array(id, label, status, memory, rollup, insight, updatedAt, eventSeq, memorySeq))
  FROM (SELECT s.* FROM session AS s
    WHERE s.spaceId = :space AND s.rootId = :rootId AND s.memorySeq > 0 AND s.status = 'ACTIVE' AND s.key <> :key
    ORDER BY s.memorySeq DESC LIMIT :first)) AS digests
FROM session AS main JOIN space AS sp ON sp.id = :space WHERE main.key = :key;

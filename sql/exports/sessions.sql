-- purpose: Sessions by key, each with its place in the topology and what it refers to, in the order of insertion.
-- access: read
-- params: keys
-- texts: many
-- returns: session.*, parentId, index, sourceSessionId, sourceSeq, refs
-- json: tags, refs
SELECT s.*, n.parentId, n."index", n.sourceSessionId, n.sourceSeq, (
  SELECT json_group_array(json_object('toId', toId, 'at', at))
  FROM (SELECT t.id AS toId, r.at FROM ref AS r JOIN topology_node AS t ON t.key = r.toKey
    WHERE r.fromKey = s.key ORDER BY r.seq)) AS refs
FROM json_each(:keys) AS k JOIN session AS s ON s.key = k.value JOIN topology_node AS n ON n.key = s.key;

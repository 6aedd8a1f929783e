-- purpose: The nodes that refer to each node, in the order of insertion.
-- access: read
-- params: keys, first, offset, columns
-- shared: keys
-- returns: key, nodes
-- json: nodes
SELECT self.key,
  (SELECT json_group_array(json_array(:columns))
    FROM (SELECT n.* FROM ref AS r JOIN topology_node AS n ON r.toKey = self.key AND n.key = r.fromKey
      ORDER BY r.seq LIMIT :first OFFSET :offset)) AS nodes
FROM json_each(:keys) AS k JOIN topology_node AS self ON self.key = k.value;

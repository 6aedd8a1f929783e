-- purpose: A page of the siblings of each node, by index, the node itself left out.
-- access: read
-- params: keys, after, first, columns
-- shared: keys
-- returns: key, siblings
-- json: siblings
SELECT self.key,
  (SELECT json_group_array(json_array(:columns))
    FROM (SELECT * FROM topology_node AS n WHERE n.parentKey = self.parentKey AND n."index" > :after
      AND n.key <> self.key ORDER BY n."index" LIMIT :first)) AS siblings
FROM json_each(:keys) AS k JOIN topology_node AS self ON self.key = k.value;

-- purpose: A page of the children of each parent, by index; a root's parent key is its Space's id.
-- access: read
-- params: space, keys, after, first, columns
-- shared: keys
-- returns: key, found, children
-- json: children
SELECT p.value AS key,
  p.value = :space OR EXISTS (SELECT 1 FROM topology_node WHERE key = p.value) AS found,
  (SELECT json_group_array(json_array(:columns))
    FROM (SELECT * FROM topology_node WHERE parentKey = p.value AND "index" > :after
      ORDER BY "index" LIMIT :first)) AS children
FROM json_each(:keys) AS p;

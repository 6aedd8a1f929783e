-- purpose: As children, each with a page of its own children, and those with one of theirs, last of its columns.
-- access: read
-- params: space, keys, after, first, columns, after2, first2, columns2, after3, first3, columns3
-- shared: keys
-- returns: key, found, children
-- json: children
SELECT p.value AS key,
  p.value = :space OR EXISTS (SELECT 1 FROM topology_node WHERE key = p.value) AS found,
  (SELECT json_group_array(json_array(:columns, json((
    SELECT json_group_array(json_array(:columns2, json((
      SELECT json_group_array(json_array(:columns3))
      FROM (SELECT * FROM topology_node WHERE parentKey = b.key AND "index" > :after3
        ORDER BY "index" LIMIT :first3)))))
    FROM (SELECT * FROM topology_node WHERE parentKey = a.key AND "index" > :after2
      ORDER BY "index" LIMIT :first2) AS b))))
    FROM (SELECT * FROM topology_node WHERE parentKey = p.value AND "index" > :after
      ORDER BY "index" LIMIT :first) AS a) AS children
FROM json_each(:keys) AS p;

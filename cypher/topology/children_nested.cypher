// purpose: As children, each with a page of its own children, and those with one of theirs, last of its columns.
// access: read
// params: space, keys, after, first, columns, after2, first2, columns2, after3, first3, columns3
// shared: keys
// returns: key, found, children
UNWIND $keys AS key
CALL (key) {
  MATCH (a:TopologyNode)
  USING INDEX SEEK a:TopologyNode(parentKey, index)
  WHERE a.parentKey = key AND a.index > $after
  WITH a ORDER BY a.parentKey, a.index LIMIT $first
  RETURN collect([name IN $columns | a[name]] + [COLLECT {
    MATCH (b:TopologyNode)
    USING INDEX SEEK b:TopologyNode(parentKey, index)
    WHERE b.parentKey = a.key AND b.index > $after2
    WITH b ORDER BY b.parentKey, b.index LIMIT $first2
    RETURN [name IN $columns2 | b[name]] + [COLLECT {
      MATCH (c:TopologyNode)
      USING INDEX SEEK c:TopologyNode(parentKey, index)
      WHERE c.parentKey = b.key AND c.index > $after3
      WITH c ORDER BY c.parentKey, c.index LIMIT $first3
      RETURN [name IN $columns3 | c[name]]
    }]
  }]) AS children
}
RETURN collect({
  key: key,
  found: key = $space OR EXISTS { (:TopologyNode {key: key}) },
  children: children
}) AS rows

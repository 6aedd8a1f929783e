// purpose: A page of the children of each parent, by index; a root's parent key is its Space's id.
// access: read
// params: space, keys, after, first, columns
// shared: keys
// returns: key, found, children
UNWIND $keys AS key
CALL (key) {
  MATCH (n:TopologyNode)
  USING INDEX SEEK n:TopologyNode(parentKey, index)
  WHERE n.parentKey = key AND n.index > $after
  WITH n ORDER BY n.parentKey, n.index LIMIT $first
  RETURN collect([name IN $columns | n[name]]) AS children
}
RETURN collect({
  key: key,
  found: key = $space OR EXISTS { (:TopologyNode {key: key}) },
  children: children
}) AS rows

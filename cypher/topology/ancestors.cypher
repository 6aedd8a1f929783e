// purpose: The ancestors of each node, the root first.
// access: read
// params: keys, columns
// shared: keys
// returns: key, ancestors
UNWIND $keys AS key
MATCH (n:TopologyNode {key: key})
CALL (n) {
  MATCH (n)-[:PARENT*1..]->(a:TopologyNode)
  WITH a ORDER BY a.depth
  RETURN collect([name IN $columns | a[name]]) AS ancestors
}
RETURN collect({key: key, ancestors: ancestors}) AS rows

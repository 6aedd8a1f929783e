// purpose: The nodes that each node refers to, in the order of insertion.
// access: read
// params: keys, first, offset, columns
// shared: keys
// returns: key, nodes
UNWIND $keys AS key
MATCH (self:TopologyNode {key: key})
CALL (self) {
  MATCH (self)-[r:REF]->(n:TopologyNode)
  WITH n, r ORDER BY r.seq SKIP $offset LIMIT $first
  RETURN collect([name IN $columns | n[name]]) AS nodes
}
RETURN collect({key: key, nodes: nodes}) AS rows

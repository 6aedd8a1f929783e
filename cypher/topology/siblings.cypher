// purpose: A page of the siblings of each node, by index, the node itself left out.
// access: read
// params: keys, after, first, columns
// shared: keys
// returns: key, siblings
UNWIND $keys AS key
MATCH (self:TopologyNode {key: key})
CALL (self) {
  MATCH (n:TopologyNode)
  USING INDEX SEEK n:TopologyNode(parentKey, index)
  WHERE n.parentKey = self.parentKey AND n.index > $after AND n.index <> self.index
  WITH n ORDER BY n.parentKey, n.index LIMIT $first
  RETURN collect([name IN $columns | n[name]]) AS siblings
}
RETURN collect({key: key, siblings: siblings}) AS rows

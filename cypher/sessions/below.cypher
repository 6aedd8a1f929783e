// purpose: How many sessions a subtree has, and the turns that hold some of them.
// access: read
// params: key
// returns: count, openTurns
MATCH (root:TopologyNode {key: $key})
CALL (root) {
  MATCH (root)<-[:PARENT*0..]-(n:TopologyNode)
  MATCH (s:Session {key: n.key})
  USING INDEX SEEK s:Session(key)
  RETURN count(s) AS count, collect(s.openTurnId) AS openTurns
}
RETURN collect({count: count, openTurns: openTurns}) AS rows

// purpose: What was stored before there were terms and waits for them, in any order.
// access: read
// params: first
// returns: key, kind, label, memory, role, content
CALL () {
  MATCH (n:Unindexed)
  RETURN n LIMIT $first
}
RETURN collect({key: n.key, kind: CASE WHEN n:Message THEN 'MESSAGE' ELSE 'SESSION' END, label: n.label, memory: n.memory,
  role: n.role, content: n.content}) AS rows

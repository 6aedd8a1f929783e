MATCH (e:TopologyEvent)
WHERE e.spaceId = $space AND e.seq > 0
CALL (e) {
  DELETE e
} IN TRANSACTIONS OF 5000 ROWS

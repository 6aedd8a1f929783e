MATCH (n)
WHERE n.spaceId = $space OR n.key STARTS WITH $space + '/' OR (n:Space AND n.id = $space)
  OR (n:DeleteLock AND n.key = $space)
CALL (n) {
  DETACH DELETE n
} IN TRANSACTIONS OF 2000 ROWS

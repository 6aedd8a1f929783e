// purpose: Writes a skill; a new one comes last, and none where there are as many as the limit already.
// access: write
// params: space, key, id, op, description, content, limit
// returns: outcome, id, description, content
MATCH (sp:Space {id: $space})
SET sp.lock = $op
WITH sp WHERE sp.lock IS NOT NULL
OPTIONAL MATCH (old:Skill {key: $key})
CALL () {
  MATCH (n:Skill)
  USING INDEX SEEK n:Skill(spaceId, place)
  WHERE n.spaceId = $space AND n.place >= 0
  RETURN count(n) AS stored
}
WITH sp, CASE
  WHEN sp.receipts CONTAINS $op THEN 'DONE_BEFORE'
  WHEN old IS NULL AND stored >= $limit THEN 'FULL'
  ELSE 'DONE' END AS outcome
CALL (sp, outcome) {
  WITH sp, outcome WHERE outcome = 'DONE'
  MERGE (n:Skill {key: $key})
  ON CREATE SET n.spaceId = $space, n.id = $id, n.place = coalesce(sp.nextPlace, 0)
  SET n.description = $description, n.content = $content,
    sp.nextPlace = coalesce(sp.nextPlace, 0) + 1, sp.receipts = left($op + ' ' + coalesce(sp.receipts, ''), 216)
}
OPTIONAL MATCH (n:Skill {key: $key})
RETURN collect({outcome: outcome, id: n.id, description: n.description, content: n.content}) AS rows

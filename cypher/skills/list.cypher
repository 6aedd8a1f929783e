// purpose: All stored skills of a Space, in the order of first insertion.
// access: read
// params: space
// texts: many
// returns: id, description, content
MATCH (n:Skill)
USING INDEX SEEK n:Skill(spaceId, place)
WHERE n.spaceId = $space AND n.place >= 0
WITH n ORDER BY n.spaceId, n.place
RETURN collect(n {.id, .description, .content}) AS rows

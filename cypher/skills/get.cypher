// purpose: One stored skill.
// access: read
// params: key
// returns: id, description, content
MATCH (n:Skill {key: $key})
RETURN collect(n {.id, .description, .content}) AS rows

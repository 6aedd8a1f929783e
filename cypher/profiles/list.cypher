// purpose: All fork profiles of a Space, in the order of first insertion.
// access: read
// params: space
// texts: many
// returns: id, systemPrompt, systemPromptMode, skills, context, prompt
MATCH (n:ForkProfile)
USING INDEX SEEK n:ForkProfile(spaceId, place)
WHERE n.spaceId = $space AND n.place >= 0
WITH n ORDER BY n.spaceId, n.place
RETURN collect(n {.id, .systemPrompt, .systemPromptMode, .skills, .context, .prompt}) AS rows

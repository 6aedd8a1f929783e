// purpose: Writes a fork profile; a new one comes last, and none where there are as many as the limit already.
// access: write
// params: space, key, id, op, systemPrompt, systemPromptMode, skills, context, prompt, limit
// returns: outcome, id, systemPrompt, systemPromptMode, skills, context, prompt
MATCH (sp:Space {id: $space})
SET sp.lock = $op
WITH sp WHERE sp.lock IS NOT NULL
OPTIONAL MATCH (old:ForkProfile {key: $key})
CALL () {
  MATCH (n:ForkProfile)
  USING INDEX SEEK n:ForkProfile(spaceId, place)
  WHERE n.spaceId = $space AND n.place >= 0
  RETURN count(n) AS stored
}
WITH sp, CASE
  WHEN sp.receipts CONTAINS $op THEN 'DONE_BEFORE'
  WHEN old IS NULL AND stored >= $limit THEN 'FULL'
  ELSE 'DONE' END AS outcome
CALL (sp, outcome) {
  WITH sp, outcome WHERE outcome = 'DONE'
  MERGE (n:ForkProfile {key: $key})
  ON CREATE SET n.spaceId = $space, n.id = $id, n.place = coalesce(sp.nextPlace, 0)
  SET n.systemPrompt = $systemPrompt, n.systemPromptMode = $systemPromptMode, n.skills = $skills,
    n.context = $context, n.prompt = $prompt,
    sp.nextPlace = coalesce(sp.nextPlace, 0) + 1, sp.receipts = left($op + ' ' + coalesce(sp.receipts, ''), 216)
}
OPTIONAL MATCH (n:ForkProfile {key: $key})
RETURN collect({outcome: outcome, id: n.id, systemPrompt: n.systemPrompt, systemPromptMode: n.systemPromptMode, skills: n.skills, context: n.context, prompt: n.prompt}) AS rows

-- purpose: Writes a fork profile; a new one comes last, and none where there are as many as the limit already.
-- access: write
-- params: space, key, id, op, systemPrompt, systemPromptMode, skills, context, prompt, limit
-- returns: outcome, id, systemPrompt, systemPromptMode, skills, context, prompt
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE
    WHEN instr(sp.receipts, :op) THEN 'DONE_BEFORE'
    WHEN old.key IS NULL AND (SELECT count(*) FROM fork_profile WHERE spaceId = :space) >= :limit THEN 'FULL'
    ELSE 'DONE' END, clock.now
  FROM clock JOIN space AS sp ON sp.id = :space LEFT JOIN fork_profile AS old ON old.key = :key;
INSERT INTO fork_profile (key, spaceId, id, place, systemPrompt, systemPromptMode, skills, context, prompt)
  SELECT :key, :space, :id, sp.nextPlace, :systemPrompt, :systemPromptMode, :skills, :context, :prompt
  FROM decision AS d JOIN space AS sp ON sp.id = :space WHERE d.outcome = 'DONE'
  ON CONFLICT (key) DO UPDATE SET systemPrompt = excluded.systemPrompt, systemPromptMode = excluded.systemPromptMode,
    skills = excluded.skills, context = excluded.context, prompt = excluded.prompt;
UPDATE space SET nextPlace = nextPlace + 1, receipts = substr(:op || ' ' || receipts, 1, 216)
  WHERE id = :space AND (SELECT outcome FROM decision) = 'DONE';
SELECT d.outcome, n.id, n.systemPrompt, n.systemPromptMode, n.skills, n.context, n.prompt FROM decision AS d LEFT JOIN fork_profile AS n ON n.key = :key;

-- purpose: Creates what a Space holds beside its sessions, as an export has it and in its order; what is there stays as it is.
-- access: write
-- params: space, op, records, sharedMemories, skills, profiles
-- returns: outcome
DELETE FROM decision;
INSERT INTO decision (outcome, now, seq)
  SELECT CASE WHEN instr(sp.receipts, :op) THEN 'DONE_BEFORE' ELSE 'DONE' END, clock.now, sp.nextPlace
  FROM clock JOIN space AS sp ON sp.id = :space;
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:records))
INSERT INTO record (key, id, value, revision, updatedAt)
  SELECT json_extract(v.value, '$.key'), json_extract(v.value, '$.id'), json_extract(v.value, '$.value'),
    json_extract(v.value, '$.revision'), json_extract(v.value, '$.updatedAt')
  FROM decision AS d, v WHERE d.outcome = 'DONE'
  ON CONFLICT DO NOTHING;
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:sharedMemories))
INSERT INTO shared_memory (key, spaceId, id, place, summary, body, updatedAt)
  SELECT json_extract(v.value, '$.key'), :space, json_extract(v.value, '$.id'), d.seq + v.key, json_extract(v.value, '$.summary'),
    json_extract(v.value, '$.body'), json_extract(v.value, '$.updatedAt')
  FROM decision AS d, v WHERE d.outcome = 'DONE'
  ON CONFLICT DO NOTHING;
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:skills))
INSERT INTO skill (key, spaceId, id, place, description, content)
  SELECT json_extract(v.value, '$.key'), :space, json_extract(v.value, '$.id'), d.seq + v.key,
    json_extract(v.value, '$.description'), json_extract(v.value, '$.content')
  FROM decision AS d, v WHERE d.outcome = 'DONE'
  ON CONFLICT DO NOTHING;
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:profiles))
INSERT INTO fork_profile (key, spaceId, id, place, systemPrompt, systemPromptMode, skills, context, prompt)
  SELECT json_extract(v.value, '$.key'), :space, json_extract(v.value, '$.id'), d.seq + v.key,
    json_extract(v.value, '$.systemPrompt'), json_extract(v.value, '$.systemPromptMode'), json_extract(v.value, '$.skills'),
    json_extract(v.value, '$.context'), json_extract(v.value, '$.prompt')
  FROM decision AS d, v WHERE d.outcome = 'DONE'
  ON CONFLICT DO NOTHING;
UPDATE space SET
  nextPlace = nextPlace + json_array_length(:sharedMemories) + json_array_length(:skills) + json_array_length(:profiles),
  receipts = substr(:op || ' ' || receipts, 1, 216)
  WHERE id = :space AND (SELECT outcome FROM decision) = 'DONE';
SELECT outcome FROM decision;

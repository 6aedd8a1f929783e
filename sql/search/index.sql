-- purpose: Gives terms to what waits for them; what was changed meanwhile has newer ones and keeps them.
-- access: write
-- params: op, keys, sessions, messages
-- returns: count
-- unused: op
INSERT INTO searchable (key, scope, terms)
  SELECT s.key, 'LABEL', json_extract(v.value, '$.labelTerms')
  FROM json_each(:sessions) AS v JOIN session AS s ON s.key = v.key WHERE true
  ON CONFLICT DO NOTHING;
INSERT INTO searchable (key, scope, terms)
  SELECT s.key, 'MEMORY', json_extract(v.value, '$.memoryTerms')
  FROM json_each(:sessions) AS v JOIN session AS s ON s.key = v.key
  WHERE json_extract(v.value, '$.memoryTerms') IS NOT NULL
  ON CONFLICT DO NOTHING;
INSERT INTO searchable (key, scope, terms)
  SELECT m.key, 'MESSAGE', json_extract(v.value, '$.terms')
  FROM json_each(:messages) AS v JOIN message AS m ON m.key = json_extract(v.value, '$.key')
  WHERE json_extract(v.value, '$.terms') <> ''
  ON CONFLICT DO NOTHING;
DELETE FROM unindexed WHERE kind = 'SESSION' AND key IN (SELECT value FROM json_each(:keys));
DELETE FROM unindexed WHERE kind = 'MESSAGE' AND key IN (SELECT json_extract(value, '$.key') FROM json_each(:messages));
SELECT json_array_length(:keys) + json_array_length(:messages) AS count;

-- purpose: The newest turns of each session before a number, oldest first.
-- access: read
-- params: keys, before, first
-- texts: many
-- shared: keys
-- returns: key, turns
-- json: turns
SELECT k.value AS key, (
  SELECT json_group_array(json(document))
  FROM (SELECT * FROM (SELECT * FROM turn_document WHERE sk = k.value AND number < :before ORDER BY number DESC LIMIT :first)
    ORDER BY number)) AS turns
FROM json_each(:keys) AS k;

-- purpose: The newest messages of each session before a place, oldest first.
-- access: read
-- params: keys, after, before, first, roles, columns
-- texts: many
-- shared: keys
-- returns: key, messages
-- json: messages
SELECT k.value AS key, (
  SELECT json_group_array(json_array(:columns))
  FROM (SELECT * FROM (SELECT r.seq, m.* FROM has_message AS r JOIN message AS m ON m.key = r.mk
    WHERE r.sk = k.value AND r.seq > :after AND r.seq < :before
      AND (:roles IS NULL OR m.role IN (SELECT value FROM json_each(:roles)))
    ORDER BY r.seq DESC LIMIT :first) ORDER BY seq)) AS messages
FROM json_each(:keys) AS k;

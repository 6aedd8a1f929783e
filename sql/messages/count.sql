-- purpose: How many messages of the given roles each session has.
-- access: read
-- params: keys, roles
-- shared: keys
-- returns: key, count
SELECT k.value AS key, (
  SELECT count(*) FROM has_message AS r JOIN message AS m ON m.key = r.mk
  WHERE r.sk = k.value AND m.role IN (SELECT value FROM json_each(:roles))) AS count
FROM json_each(:keys) AS k;

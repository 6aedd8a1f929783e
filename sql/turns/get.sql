-- purpose: Turns by key.
-- access: read
-- params: keys
-- texts: many
-- shared: keys
-- returns: turn.*
-- json: confirmIds, approvedIds, refusedIds, refusals
SELECT t.* FROM json_each(:keys) AS k JOIN turn AS t ON t.key = k.value;

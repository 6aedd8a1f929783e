-- purpose: Turns by key.
-- access: read
-- params: keys
-- returns: turn.*
SELECT t.* FROM json_each(:keys) AS k JOIN turn AS t ON t.key = k.value;

-- purpose: Sessions by key.
-- access: read
-- params: keys
-- texts: many
-- shared: keys
-- returns: session.*
-- json: tags
SELECT s.* FROM json_each(:keys) AS k JOIN session AS s ON s.key = k.value;

-- purpose: Revokes a key; a second time changes nothing.
-- access: write
-- params: key, op
-- returns: key.*
-- unused: op
UPDATE api_key SET revokedAt = (SELECT now FROM clock) WHERE key = :key AND revokedAt IS NULL;
SELECT * FROM api_key WHERE key = :key;

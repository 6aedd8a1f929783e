-- purpose: The keys with these hashes that are not revoked.
-- access: read
-- params: hashes
-- returns: key.*
SELECT k.* FROM json_each(:hashes) AS j CROSS JOIN api_key AS k ON k.hash = j.value WHERE k.revokedAt IS NULL;

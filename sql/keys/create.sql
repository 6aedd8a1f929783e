-- purpose: Makes a key, and remembers for ever that there was one. A Space has at most so many that are not revoked.
-- access: write
-- params: space, key, id, op, prefix, name, shown, hash, scope, limit
-- returns: outcome, key.*
-- unused: op
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE
    WHEN made.key IS NOT NULL THEN 'DONE_BEFORE'
    WHEN (SELECT count(*) FROM api_key
      WHERE key >= :prefix AND key < substr(:prefix, 1, length(:prefix) - 1) || '0' AND revokedAt IS NULL) >= :limit THEN 'FULL'
    ELSE 'DONE' END, clock.now
  FROM clock LEFT JOIN space AS sp ON sp.id = :space LEFT JOIN api_key AS made ON made.key = :key
  WHERE sp.id IS NOT NULL OR :space IS NULL;
INSERT INTO api_key (key, id, spaceId, name, prefix, hash, scope, createdAt)
  SELECT :key, :id, :space, :name, :shown, :hash, :scope, now FROM decision WHERE outcome = 'DONE';
INSERT INTO keys_in_use (key, since)
  SELECT 'keys', now FROM decision WHERE outcome = 'DONE' ON CONFLICT DO NOTHING;
SELECT d.outcome, k.* FROM decision AS d LEFT JOIN api_key AS k ON k.key = :key;

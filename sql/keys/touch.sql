-- purpose: Writes when a key was last used, unless that was written a moment ago.
-- access: write
-- params: key, op, interval
-- returns: id
-- unused: op
UPDATE api_key SET lastUsedAt = (SELECT now FROM clock)
  WHERE key = :key AND coalesce(lastUsedAt, 0) <= (SELECT now FROM clock) - :interval;
SELECT id FROM api_key WHERE key = :key;

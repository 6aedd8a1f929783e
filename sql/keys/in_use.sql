-- purpose: Whether there ever was a key.
-- access: read
-- params: none
-- returns: inUse
SELECT EXISTS (SELECT 1 FROM keys_in_use WHERE key = 'keys') AS inUse;

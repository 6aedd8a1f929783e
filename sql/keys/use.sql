-- purpose: Remembers for ever that there was a key.
-- access: write
-- params: none
-- returns: inUse
INSERT INTO keys_in_use (key, since) SELECT 'keys', now FROM clock WHERE true ON CONFLICT DO NOTHING;
SELECT 1 AS inUse;

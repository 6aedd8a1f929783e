-- purpose: A holder leaves a session; nothing happens where it was not in it.
-- access: write
-- params: key, holderKey
-- returns: session.*
-- json: tags
DELETE FROM holder WHERE key = :holderKey AND sk = :key;
SELECT * FROM session WHERE key = :key;

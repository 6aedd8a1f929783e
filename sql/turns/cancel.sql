-- purpose: Asks for the end of an open turn, whichever process holds it.
-- access: write
-- params: turnKey
-- returns: turn.*
UPDATE turn SET cancelRequested = 1 WHERE key = :turnKey AND status IN ('RUNNING', 'AWAITING_CONFIRMATION');
SELECT * FROM turn WHERE key = :turnKey;

-- purpose: Renews a turn's lease and stores the text so far; answers whether somebody asked to cancel. No row: the lease is lost.
-- access: write
-- params: turnKey, fence, lease, partial, round
-- returns: cancelRequested
UPDATE turn SET leaseUntil = (SELECT now FROM clock) + :lease, partial = :partial, partialRound = :round
WHERE key = :turnKey AND status = 'RUNNING' AND fence = :fence;
SELECT cancelRequested FROM turn WHERE key = :turnKey AND status = 'RUNNING' AND fence = :fence;

// purpose: Renews a turn's lease and stores the text so far; answers whether somebody asked to cancel. No row: the lease is lost.
// access: write
// params: turnKey, fence, lease, partial, round
// returns: cancelRequested
MATCH (t:Turn {key: $turnKey})
SET t.lock = $fence
WITH t, datetime.realtime() AS clock
WHERE t.status = 'RUNNING' AND t.fence = $fence
SET t.leaseUntil = clock.epochSeconds * 1000000 + clock.microsecond + $lease, t.partial = $partial, t.partialRound = $round
RETURN collect(t {.cancelRequested}) AS rows

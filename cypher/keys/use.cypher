// purpose: Remembers for ever that there was a key.
// access: write
// params: none
// returns: inUse
WITH datetime.realtime() AS clock
MERGE (u:KeysInUse {key: 'keys'})
ON CREATE SET u.since = clock.epochSeconds * 1000000 + clock.microsecond
RETURN [{inUse: true}] AS rows

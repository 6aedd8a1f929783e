// purpose: The store's clock in UTC microseconds, and the names of the indexes and constraints that are there and ready.
// access: read
// params: none
// returns: now, names
SHOW INDEXES YIELD name, state WHERE state = 'ONLINE'
RETURN [{now: datetime.realtime().epochMillis * 1000, names: collect(name)}] AS rows

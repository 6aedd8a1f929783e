// Held by an open transaction while migrations run; schema commands need transactions of their own.
MERGE (n:MigrationLock {id: 'lock'})
SET n.lock = randomUUID();

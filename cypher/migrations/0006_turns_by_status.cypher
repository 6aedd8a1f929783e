// Turns of a Space by status, in order of time: the inbox of confirmations.
CREATE INDEX turn_status IF NOT EXISTS FOR (n:Turn) ON (n.spaceId, n.status, n.startedAt, n.key);

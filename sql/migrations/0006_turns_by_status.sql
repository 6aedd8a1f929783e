-- Turns of a Space by status, in order of time: the inbox of confirmations.
CREATE INDEX turn_status ON turn (spaceId, status, startedAt, key);

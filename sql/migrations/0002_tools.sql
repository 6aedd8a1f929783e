-- Tools: what a turn keeps between its rounds, and how long each tool took.
ALTER TABLE turn ADD COLUMN maxToolRounds INTEGER;
ALTER TABLE turn ADD COLUMN insight TEXT;
ALTER TABLE turn ADD COLUMN confirmIds TEXT NOT NULL DEFAULT '[]';
ALTER TABLE turn ADD COLUMN approvedIds TEXT NOT NULL DEFAULT '[]';
ALTER TABLE turn ADD COLUMN refusedIds TEXT NOT NULL DEFAULT '[]';
ALTER TABLE turn ADD COLUMN refusals TEXT NOT NULL DEFAULT '[]';
ALTER TABLE turn ADD COLUMN heldResults TEXT;
ALTER TABLE turn ADD COLUMN confirmedBy TEXT;
ALTER TABLE message ADD COLUMN durationMs INTEGER;
CREATE VIEW turn_document AS
  SELECT key, sk, number, json_object('id', id, 'sessionId', sessionId, 'number', number, 'status', status,
    'stopReason', stopReason, 'toolRounds', toolRounds, 'maxToolRounds', maxToolRounds, 'pendingToolCalls', pendingToolCalls,
    'confirmIds', json(confirmIds), 'approvedIds', json(approvedIds), 'refusedIds', json(refusedIds),
    'refusals', json(refusals), 'heldResults', heldResults, 'usage', usage, 'error', error, 'firstSeq', firstSeq,
    'lastSeq', lastSeq, 'fence', fence, 'cancelRequested', cancelRequested, 'partial', partial,
    'partialRound', partialRound, 'insight', insight, 'insightRevision', insightRevision, 'startedAt', startedAt,
    'endedAt', endedAt) AS document
  FROM turn;

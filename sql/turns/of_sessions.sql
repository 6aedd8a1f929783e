-- purpose: The newest turns of each session before a number, oldest first.
-- access: read
-- params: keys, before, first
-- returns: key, turns
-- json: turns
SELECT k.value AS key, (
  SELECT json_group_array(json_object('id', id, 'sessionId', sessionId, 'number', number, 'status', status,
      'stopReason', stopReason, 'toolRounds', toolRounds, 'pendingToolCalls', pendingToolCalls, 'usage', usage,
      'error', error, 'firstSeq', firstSeq, 'lastSeq', lastSeq, 'fence', fence, 'cancelRequested', cancelRequested,
      'partial', partial, 'partialRound', partialRound, 'startedAt', startedAt, 'endedAt', endedAt,
      'insightRevision', insightRevision))
  FROM (SELECT * FROM (SELECT * FROM turn WHERE sk = k.value AND number < :before ORDER BY number DESC LIMIT :first)
    ORDER BY number)) AS turns
FROM json_each(:keys) AS k;

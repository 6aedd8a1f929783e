-- purpose: Which of the messages of these keys are there, and where and when each was written.
-- access: read
-- params: keys
-- returns: id, sessionId, createdAt
SELECT m.id, m.sessionId, m.createdAt FROM json_each(:keys) AS k JOIN message AS m ON m.key = k.value;

-- purpose: Which of the turns of these keys are there, and of which session each is.
-- access: read
-- params: keys
-- returns: id, sessionId
SELECT t.id, t.sessionId FROM json_each(:keys) AS k JOIN turn AS t ON t.key = k.value;

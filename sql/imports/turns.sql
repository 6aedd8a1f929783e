-- purpose: Which of the turns of these keys are there.
-- access: read
-- params: keys
-- returns: id
SELECT t.id FROM json_each(:keys) AS k JOIN turn AS t ON t.key = k.value;

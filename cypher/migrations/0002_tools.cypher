// Tools: what a turn keeps between its rounds. What else is new has no value until it is set.
MATCH (t:Turn) WHERE t.confirmIds IS NULL
CALL (t) { SET t.confirmIds = [], t.approvedIds = [], t.refusedIds = [], t.refusals = [] } IN TRANSACTIONS OF 10000 ROWS;

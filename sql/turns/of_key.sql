-- purpose: The turn that an idempotency key began, where it is the same input again.
-- access: read
-- params: space, idempotencyKey, inputHash
-- returns: turn.*
-- json: confirmIds, approvedIds, refusedIds, refusals
SELECT t.* FROM idempotency AS i JOIN turn AS t ON t.key = :space || '/' || i.resultId
WHERE i.key = :idempotencyKey AND i.op = 'send' AND i.inputHash = :inputHash;

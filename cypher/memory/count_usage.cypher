// purpose: Counts for session and Space what a model took whose work is not stored.
// access: write
// params: space, key, op, receiptKey, usage
// returns: outcome
MATCH (s:Session {key: $key})
SET s.lock = $op
WITH s WHERE s.lock IS NOT NULL
OPTIONAL MATCH (done:Idempotency {key: $receiptKey})
WITH s, CASE WHEN done IS NOT NULL THEN 'DONE_BEFORE' ELSE 'DONE' END AS outcome
CALL (s, outcome) {
  WITH s, outcome WHERE outcome = 'DONE'
  MATCH (sp:Space {id: $space})
  SET sp.lock = $op
  CREATE (:Idempotency {key: $receiptKey, sk: $key, op: 'usage', inputHash: '', resultId: $op})
  SET s.inputTokens = s.inputTokens + $usage.inputTokens,
    s.outputTokens = s.outputTokens + $usage.outputTokens,
    s.cacheReadTokens = s.cacheReadTokens + $usage.cacheReadTokens,
    s.cacheWriteTokens = s.cacheWriteTokens + $usage.cacheWriteTokens,
    s.llmCalls = s.llmCalls + $usage.llmCalls,
    sp.inputTokens = sp.inputTokens + $usage.inputTokens,
    sp.outputTokens = sp.outputTokens + $usage.outputTokens,
    sp.cacheReadTokens = sp.cacheReadTokens + $usage.cacheReadTokens,
    sp.cacheWriteTokens = sp.cacheWriteTokens + $usage.cacheWriteTokens,
    sp.llmCalls = sp.llmCalls + $usage.llmCalls
}
RETURN collect({outcome: outcome}) AS rows

// purpose: Gives a Space that nobody used, configured nor filled yet the name, settings, usage and age of an exported one.
// access: write
// params: id, op, name, strategy, sharedMemory, config, consolidateOn, integrateOn, everyNTurns, usage, createdAt
// returns: outcome
MATCH (sp:Space {id: $id})
SET sp.lock = $op
WITH sp WHERE sp.lock IS NOT NULL
WITH sp, CASE
  WHEN sp.changedBy = $op THEN 'DONE_BEFORE'
  WHEN sp.revision > 0 OR sp.eventSeq > 0 OR coalesce(sp.receipts, '') <> '' THEN 'USED'
  ELSE 'DONE' END AS outcome
FOREACH (_ IN CASE WHEN outcome = 'DONE' THEN [1] ELSE [] END |
  SET sp.name = $name, sp.strategy = $strategy, sp.sharedMemory = $sharedMemory, sp.config = $config,
    sp.consolidateOn = $consolidateOn, sp.integrateOn = $integrateOn, sp.everyNTurns = $everyNTurns,
    sp.revision = sp.revision + 1, sp.changedBy = $op, sp.createdAt = $createdAt,
    sp += $usage)
RETURN collect({outcome: outcome}) AS rows

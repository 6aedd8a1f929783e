// purpose: Writes name, strategy, triggers and configuration of a Space; no row where they were changed since that revision.
// access: write
// params: id, op, revision, name, strategy, sharedMemory, config, consolidateOn, integrateOn, everyNTurns
// returns: space.*
MATCH (sp:Space {id: $id})
SET sp.lock = $op
WITH sp
FOREACH (_ IN CASE WHEN sp.revision = $revision THEN [1] ELSE [] END |
  SET sp.name = $name, sp.strategy = $strategy, sp.sharedMemory = $sharedMemory, sp.config = $config,
    sp.consolidateOn = $consolidateOn, sp.integrateOn = $integrateOn, sp.everyNTurns = $everyNTurns,
    sp.revision = sp.revision + 1, sp.changedBy = $op)
WITH sp WHERE sp.changedBy = $op
RETURN collect(sp {.*}) AS rows

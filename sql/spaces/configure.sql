-- purpose: Writes name, strategy, triggers and configuration of a Space; no row where they were changed since that revision.
-- access: write
-- params: id, op, revision, name, strategy, sharedMemory, config, consolidateOn, integrateOn, everyNTurns
-- returns: space.*
-- unused: sharedMemory
UPDATE space SET name = :name, strategy = :strategy, config = :config, revision = revision + 1, changedBy = :op,
  consolidateOn = :consolidateOn, integrateOn = :integrateOn, everyNTurns = :everyNTurns
WHERE id = :id AND revision = :revision;
SELECT * FROM space WHERE id = :id AND changedBy = :op;

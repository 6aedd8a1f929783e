-- purpose: Makes a Space, unless there is one of that id or one is being deleted; answers the Space that is there then.
-- access: write
-- params: id, op, name, config, consolidateOn, integrateOn, everyNTurns
-- returns: outcome, space.*
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE
    WHEN gone.id IS NOT NULL THEN 'DELETED'
    WHEN there.madeBy = :op THEN 'DONE_BEFORE'
    WHEN there.id IS NOT NULL THEN 'TAKEN'
    ELSE 'DONE' END, clock.now
  FROM clock LEFT JOIN deleted_space AS gone ON gone.id = :id LEFT JOIN space AS there ON there.id = :id;
INSERT INTO space (id, name, config, consolidateOn, integrateOn, everyNTurns, madeBy, createdAt)
  SELECT :id, :name, :config, :consolidateOn, :integrateOn, :everyNTurns, :op, now FROM decision WHERE outcome = 'DONE';
SELECT d.outcome, sp.* FROM decision AS d LEFT JOIN space AS sp ON sp.id = :id;

-- purpose: Makes a Space where it is missing.
-- access: write
-- params: id, name, config, consolidateOn, integrateOn, everyNTurns
-- returns: space.*
INSERT INTO space (id, name, config, consolidateOn, integrateOn, everyNTurns, createdAt)
  SELECT :id, :name, :config, :consolidateOn, :integrateOn, :everyNTurns, now FROM clock
  WHERE true ON CONFLICT DO NOTHING;
SELECT * FROM space WHERE id = :id;

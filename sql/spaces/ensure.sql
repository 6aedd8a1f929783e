-- purpose: Makes a Space where it is missing.
-- access: write
-- params: id, name, config
-- returns: space.*
INSERT INTO space (id, name, config, createdAt)
  SELECT :id, :name, :config, now FROM clock
  WHERE true ON CONFLICT DO NOTHING;
SELECT * FROM space WHERE id = :id;

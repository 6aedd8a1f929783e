-- purpose: Writes name, strategy and configuration of a Space; no row where they were changed since that revision.
-- access: write
-- params: id, op, revision, name, strategy, sharedMemory, config
-- returns: space.*
-- unused: sharedMemory
UPDATE space SET name = :name, strategy = :strategy, config = :config, revision = revision + 1, changedBy = :op
WHERE id = :id AND revision = :revision;
SELECT * FROM space WHERE id = :id AND changedBy = :op;

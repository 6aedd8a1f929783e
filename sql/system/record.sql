-- purpose: Remembers that a migration was applied.
-- access: write
-- params: version, name
-- returns: version
INSERT INTO migration VALUES (:version, :name) ON CONFLICT DO NOTHING;
SELECT version FROM migration WHERE version = :version;

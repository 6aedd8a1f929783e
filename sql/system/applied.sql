-- purpose: The migrations that were applied.
-- access: read
-- params: none
-- returns: version
SELECT version FROM migration;

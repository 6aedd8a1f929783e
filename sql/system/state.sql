-- purpose: The store's clock in UTC microseconds, and the names of the indexes and constraints that are there and ready.
-- access: read
-- params: none
-- returns: now, names
-- json: names
SELECT
  (SELECT now FROM clock) AS now,
  (SELECT json_group_array(name) FROM sqlite_master) AS names;

-- purpose: What database this is.
-- access: read
-- params: none
-- returns: text
SELECT 'SQLite ' || sqlite_version() AS text FROM (SELECT count(*) FROM sqlite_master);

-- Run on each connection. The temporary table holds what a write decided, for the statements that follow.
-- Without FTS5 the first fails, before anything is changed.
SELECT fts5_source_id();
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -65536;
CREATE TEMP TABLE decision (outcome TEXT NOT NULL, now INTEGER NOT NULL, seq INTEGER, extra TEXT);

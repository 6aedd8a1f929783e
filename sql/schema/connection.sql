-- Run on each connection. The temporary table holds what a write decided, for the statements that follow.
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -65536;
CREATE TEMP TABLE decision (outcome TEXT NOT NULL, now INTEGER NOT NULL, seq INTEGER, extra TEXT);

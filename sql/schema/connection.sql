-- Run on each connection. The temporary tables hold what a write decided, and the messages that an import brings, for the
-- statements that follow.
-- Without FTS5 the first fails, before anything is changed.
SELECT fts5_source_id();
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -65536;
CREATE TEMP TABLE decision (outcome TEXT NOT NULL, now INTEGER NOT NULL, seq INTEGER, extra TEXT);
CREATE TEMP TABLE incoming (sk TEXT, seq INTEGER, key TEXT, id TEXT, sessionId TEXT, role TEXT, content TEXT, parts TEXT,
  state TEXT, toolCalls TEXT, toolCallId TEXT, toolName TEXT, isError INTEGER, durationMs INTEGER, model TEXT, usage TEXT,
  turnId TEXT, createdAt INTEGER, terms TEXT);

-- API keys (those of operators have no Space), that there ever was one, and ids of Spaces that were deleted a moment ago.
CREATE TABLE api_key (
  key TEXT PRIMARY KEY,
  id TEXT NOT NULL,
  spaceId TEXT REFERENCES space(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,
  hash TEXT NOT NULL,
  scope TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  lastUsedAt INTEGER,
  revokedAt INTEGER
) WITHOUT ROWID;
CREATE UNIQUE INDEX api_key_hash ON api_key (hash);
CREATE INDEX api_key_of ON api_key (spaceId);

CREATE TABLE keys_in_use (
  key TEXT PRIMARY KEY,
  since INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE deleted_space (
  id TEXT PRIMARY KEY,
  deletedBy TEXT NOT NULL,
  deletedAt INTEGER NOT NULL
) WITHOUT ROWID;

ALTER TABLE space ADD COLUMN madeBy TEXT;

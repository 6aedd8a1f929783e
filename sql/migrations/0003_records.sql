-- Records, shared memory and skills of a Space; the Space keeps the receipts of writes to them.
CREATE TABLE record (
  key TEXT PRIMARY KEY,
  id TEXT NOT NULL,
  value TEXT NOT NULL,
  revision INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL
);

CREATE TABLE shared_memory (
  key TEXT PRIMARY KEY,
  spaceId TEXT NOT NULL REFERENCES space(id) ON DELETE CASCADE,
  id TEXT NOT NULL,
  place INTEGER NOT NULL,
  summary TEXT NOT NULL,
  body TEXT NOT NULL,
  updatedAt INTEGER NOT NULL
);
CREATE UNIQUE INDEX shared_memory_place ON shared_memory (spaceId, place);

CREATE TABLE skill (
  key TEXT PRIMARY KEY,
  spaceId TEXT NOT NULL REFERENCES space(id) ON DELETE CASCADE,
  id TEXT NOT NULL,
  place INTEGER NOT NULL,
  description TEXT NOT NULL,
  content TEXT NOT NULL
);
CREATE UNIQUE INDEX skill_place ON skill (spaceId, place);

ALTER TABLE space ADD COLUMN receipts TEXT NOT NULL DEFAULT '';
ALTER TABLE space ADD COLUMN nextPlace INTEGER NOT NULL DEFAULT 0;

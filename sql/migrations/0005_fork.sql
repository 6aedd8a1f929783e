-- Fork profiles; and of a session the number of its completed turns at its last fork, null where it was never forked.
CREATE TABLE fork_profile (
  key TEXT PRIMARY KEY,
  spaceId TEXT NOT NULL REFERENCES space(id) ON DELETE CASCADE,
  id TEXT NOT NULL,
  place INTEGER NOT NULL,
  systemPrompt TEXT,
  systemPromptMode TEXT NOT NULL,
  skills TEXT,
  context TEXT,
  prompt TEXT
);
CREATE UNIQUE INDEX fork_profile_place ON fork_profile (spaceId, place);

ALTER TABLE session ADD COLUMN splitTurn INTEGER;

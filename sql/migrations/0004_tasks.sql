-- Memory across sessions: tasks that are due, what digests and syntheses were made of, a Space's triggers.
CREATE TABLE task (
  key TEXT PRIMARY KEY,
  spaceId TEXT NOT NULL,
  sk TEXT NOT NULL REFERENCES session(key) ON DELETE CASCADE,
  sessionId TEXT NOT NULL,
  kind TEXT NOT NULL,
  requested TEXT NOT NULL,
  dueAt INTEGER,
  failures INTEGER NOT NULL DEFAULT 0,
  holder TEXT,
  settledBy TEXT
) WITHOUT ROWID;
CREATE INDEX task_due ON task (dueAt) WHERE dueAt IS NOT NULL;
CREATE INDEX task_of ON task (sk);
ALTER TABLE session ADD COLUMN memorySeq INTEGER;
ALTER TABLE session ADD COLUMN memoryThroughSeq INTEGER;
ALTER TABLE session ADD COLUMN synthesisRevision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN integratedSeq INTEGER;
ALTER TABLE session ADD COLUMN rollupSeq INTEGER;
CREATE INDEX session_memory ON session (spaceId, rootId, memorySeq);
ALTER TABLE space ADD COLUMN consolidateOn TEXT NOT NULL DEFAULT '[]';
ALTER TABLE space ADD COLUMN integrateOn TEXT NOT NULL DEFAULT '[]';
ALTER TABLE space ADD COLUMN everyNTurns INTEGER NOT NULL DEFAULT 5;
CREATE VIEW task_trigger AS
  SELECT s.key AS raisedBy, s.turnCount, sp.everyNTurns, t.value AS "trigger",
    'CONSOLIDATE' AS kind, s.spaceId, s.key AS sk, s.id AS sessionId
  FROM session AS s JOIN space AS sp ON sp.id = s.spaceId JOIN json_each(sp.consolidateOn) AS t
  UNION ALL
  SELECT s.key, s.turnCount, sp.everyNTurns, t.value, 'INTEGRATE', s.spaceId, m.key, m.id
  FROM session AS s JOIN space AS sp ON sp.id = s.spaceId JOIN json_each(sp.integrateOn) AS t
    JOIN session AS m ON m.key = s.spaceId || '/' || s.rootId AND m.role = 'MAIN';
UPDATE session SET memorySeq = eventSeq WHERE memory IS NOT NULL;
UPDATE space SET consolidateOn = coalesce(json_extract(config, '$.consolidateOn'), '[]'),
  integrateOn = coalesce(json_extract(config, '$.integrateOn'), '[]'),
  everyNTurns = coalesce(json_extract(config, '$.everyNTurns'), 5);

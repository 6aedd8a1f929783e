-- Today's schema of the embedded engine; equal to the chain of migrations.
-- Columns carry the names of the graph's properties. Times are UTC microseconds.
CREATE VIEW clock AS
  SELECT CAST(ROUND((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000 AS now;

CREATE TABLE space (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  config TEXT NOT NULL,
  strategy TEXT,
  revision INTEGER NOT NULL DEFAULT 0,
  changedBy TEXT,
  nextRootIndex INTEGER NOT NULL DEFAULT 0,
  eventSeq INTEGER NOT NULL DEFAULT 0,
  sessionCount INTEGER NOT NULL DEFAULT 0,
  inputTokens INTEGER NOT NULL DEFAULT 0,
  outputTokens INTEGER NOT NULL DEFAULT 0,
  cacheReadTokens INTEGER NOT NULL DEFAULT 0,
  cacheWriteTokens INTEGER NOT NULL DEFAULT 0,
  llmCalls INTEGER NOT NULL DEFAULT 0,
  createdAt INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE session (
  key TEXT PRIMARY KEY,
  spaceId TEXT NOT NULL REFERENCES space(id),
  id TEXT NOT NULL,
  rootId TEXT NOT NULL,
  label TEXT NOT NULL,
  role TEXT NOT NULL,
  status TEXT NOT NULL,
  strategy TEXT NOT NULL,
  systemPrompt TEXT,
  skills TEXT,
  tags TEXT NOT NULL,
  metadata TEXT NOT NULL,
  memory TEXT,
  memoryRevision INTEGER NOT NULL DEFAULT 0,
  insight TEXT,
  insightSource TEXT,
  insightAt INTEGER,
  insightRevision INTEGER NOT NULL DEFAULT 0,
  synthesis TEXT,
  rollup TEXT,
  compressionSummary TEXT,
  compressionThroughSeq INTEGER,
  compressionTokens INTEGER,
  compressionAt INTEGER,
  overrideModel TEXT,
  overrideConsolidatePrompt TEXT,
  overrideIntegratePrompt TEXT,
  overrideCompressPrompt TEXT,
  overrideRoleContext TEXT,
  turnCount INTEGER NOT NULL DEFAULT 0,
  messageCount INTEGER NOT NULL DEFAULT 0,
  nextSeq INTEGER NOT NULL DEFAULT 1,
  lastTurnNumber INTEGER NOT NULL DEFAULT 0,
  openTurnId TEXT,
  inputTokens INTEGER NOT NULL DEFAULT 0,
  outputTokens INTEGER NOT NULL DEFAULT 0,
  cacheReadTokens INTEGER NOT NULL DEFAULT 0,
  cacheWriteTokens INTEGER NOT NULL DEFAULT 0,
  llmCalls INTEGER NOT NULL DEFAULT 0,
  eventSeq INTEGER NOT NULL,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL,
  lastActiveAt INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX session_root ON session (spaceId, rootId, key);
CREATE INDEX session_event ON session (spaceId, eventSeq);

CREATE TABLE topology_node (
  key TEXT PRIMARY KEY REFERENCES session(key) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  spaceId TEXT NOT NULL,
  id TEXT NOT NULL,
  parentId TEXT,
  parentKey TEXT NOT NULL,
  rootId TEXT NOT NULL,
  label TEXT NOT NULL,
  status TEXT NOT NULL,
  role TEXT NOT NULL,
  strategy TEXT NOT NULL,
  depth INTEGER NOT NULL,
  "index" INTEGER NOT NULL,
  nextIndex INTEGER NOT NULL DEFAULT 0,
  childCount INTEGER NOT NULL DEFAULT 0,
  turnCount INTEGER NOT NULL DEFAULT 0,
  sourceSessionId TEXT,
  sourceSeq INTEGER,
  createdAt INTEGER NOT NULL,
  lastActiveAt INTEGER NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX node_place ON topology_node (parentKey, "index");
CREATE INDEX node_depth ON topology_node (spaceId, depth, "index");

CREATE TABLE ref (
  fromKey TEXT NOT NULL REFERENCES topology_node(key) ON DELETE CASCADE,
  toKey TEXT NOT NULL REFERENCES topology_node(key) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (fromKey, toKey)
) WITHOUT ROWID;
CREATE INDEX ref_to ON ref (toKey, seq);

CREATE TABLE message (
  key TEXT PRIMARY KEY,
  id TEXT NOT NULL,
  sessionId TEXT NOT NULL,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  parts TEXT,
  state TEXT NOT NULL,
  toolCalls TEXT,
  toolCallId TEXT,
  toolName TEXT,
  isError INTEGER NOT NULL,
  model TEXT,
  usage TEXT,
  turnId TEXT,
  createdAt INTEGER NOT NULL
);

CREATE TABLE has_message (
  sk TEXT NOT NULL REFERENCES session(key) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  mk TEXT NOT NULL REFERENCES message(key),
  PRIMARY KEY (sk, seq)
) WITHOUT ROWID;
CREATE INDEX has_message_of ON has_message (mk);

CREATE TRIGGER message_goes_with_its_last_edge AFTER DELETE ON has_message
WHEN NOT EXISTS (SELECT 1 FROM has_message WHERE mk = OLD.mk)
BEGIN
  DELETE FROM message WHERE key = OLD.mk;
END;

CREATE TABLE turn (
  key TEXT PRIMARY KEY,
  spaceId TEXT NOT NULL,
  id TEXT NOT NULL,
  sk TEXT NOT NULL REFERENCES session(key) ON DELETE CASCADE,
  sessionId TEXT NOT NULL,
  number INTEGER NOT NULL,
  status TEXT NOT NULL,
  stopReason TEXT,
  toolRounds INTEGER NOT NULL DEFAULT 0,
  pendingToolCalls TEXT,
  usage TEXT,
  error TEXT,
  firstSeq INTEGER NOT NULL,
  lastSeq INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  leaseUntil INTEGER,
  cancelRequested INTEGER NOT NULL DEFAULT 0,
  partial TEXT NOT NULL DEFAULT '',
  partialRound INTEGER NOT NULL DEFAULT 0,
  insightRevision INTEGER,
  endedBy TEXT,
  startedAt INTEGER NOT NULL,
  endedAt INTEGER
);
CREATE UNIQUE INDEX turn_of ON turn (sk, number);
CREATE INDEX turn_lease ON turn (leaseUntil) WHERE leaseUntil IS NOT NULL;
CREATE INDEX turn_status ON turn (spaceId, status, startedAt, key);

CREATE TABLE idempotency (
  key TEXT PRIMARY KEY,
  sk TEXT NOT NULL REFERENCES session(key) ON DELETE CASCADE,
  op TEXT NOT NULL,
  inputHash TEXT NOT NULL,
  resultId TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX idempotency_of ON idempotency (sk);

CREATE TABLE topology_event (
  key TEXT PRIMARY KEY,
  spaceId TEXT NOT NULL REFERENCES space(id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  type TEXT NOT NULL,
  nodeId TEXT NOT NULL,
  data TEXT NOT NULL,
  messageCount INTEGER,
  at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX event_seq ON topology_event (spaceId, seq);

CREATE TABLE holder (
  key TEXT PRIMARY KEY,
  sk TEXT NOT NULL REFERENCES session(key) ON DELETE CASCADE,
  cameFrom TEXT,
  op TEXT NOT NULL,
  at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX holder_of ON holder (sk);

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
-- What is due: a task keeps its row; dueAt is null where there is nothing to do, and the end of the lease while it is held.
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
ALTER TABLE turn ADD COLUMN maxToolRounds INTEGER;
ALTER TABLE turn ADD COLUMN insight TEXT;
ALTER TABLE turn ADD COLUMN confirmIds TEXT NOT NULL DEFAULT '[]';
ALTER TABLE turn ADD COLUMN approvedIds TEXT NOT NULL DEFAULT '[]';
ALTER TABLE turn ADD COLUMN refusedIds TEXT NOT NULL DEFAULT '[]';
ALTER TABLE turn ADD COLUMN refusals TEXT NOT NULL DEFAULT '[]';
ALTER TABLE turn ADD COLUMN heldResults TEXT;
ALTER TABLE turn ADD COLUMN confirmedBy TEXT;
ALTER TABLE message ADD COLUMN durationMs INTEGER;
CREATE VIEW turn_document AS
  SELECT key, sk, number, json_object('id', id, 'sessionId', sessionId, 'number', number, 'status', status,
    'stopReason', stopReason, 'toolRounds', toolRounds, 'maxToolRounds', maxToolRounds, 'pendingToolCalls', pendingToolCalls,
    'confirmIds', json(confirmIds), 'approvedIds', json(approvedIds), 'refusedIds', json(refusedIds),
    'refusals', json(refusals), 'heldResults', heldResults, 'usage', usage, 'error', error, 'firstSeq', firstSeq,
    'lastSeq', lastSeq, 'fence', fence, 'cancelRequested', cancelRequested, 'partial', partial,
    'partialRound', partialRound, 'insight', insight, 'insightRevision', insightRevision, 'startedAt', startedAt,
    'endedAt', endedAt) AS document
  FROM turn;

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
-- An event keeps the id of its tree's root, which outlives the session. Of what was deleted before, the tree is not known.
ALTER TABLE topology_event ADD COLUMN rootId TEXT;
UPDATE topology_event SET rootId = coalesce(
  (SELECT s.rootId FROM session AS s WHERE s.key = topology_event.spaceId || '/' || topology_event.nodeId), nodeId);
CREATE TRIGGER event_knows_its_tree AFTER INSERT ON topology_event
BEGIN
  UPDATE topology_event SET rootId = coalesce(
    (SELECT s.rootId FROM session AS s WHERE s.key = NEW.spaceId || '/' || NEW.nodeId), NEW.nodeId)
  WHERE key = NEW.key;
END;

-- What can be found, by the terms that are computed outside; the index holds no text of its own.
CREATE TABLE searchable (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  scope TEXT NOT NULL,
  terms TEXT NOT NULL
);
CREATE UNIQUE INDEX searchable_key ON searchable (key, scope);
CREATE VIRTUAL TABLE search_index USING fts5(terms, content = 'searchable', content_rowid = 'id', columnsize = 0, tokenize = 'ascii');
CREATE TRIGGER searchable_comes AFTER INSERT ON searchable
BEGIN
  INSERT INTO search_index (rowid, terms) VALUES (NEW.id, NEW.terms);
END;
CREATE TRIGGER searchable_changes AFTER UPDATE OF terms ON searchable WHEN NEW.terms <> OLD.terms
BEGIN
  INSERT INTO search_index (search_index, rowid, terms) VALUES ('delete', OLD.id, OLD.terms);
  INSERT INTO search_index (rowid, terms) VALUES (NEW.id, NEW.terms);
END;
CREATE TRIGGER searchable_goes AFTER DELETE ON searchable
BEGIN
  INSERT INTO search_index (search_index, rowid, terms) VALUES ('delete', OLD.id, OLD.terms);
END;
CREATE TRIGGER searchable_goes_with_its_message AFTER DELETE ON message
BEGIN
  DELETE FROM searchable WHERE key = OLD.key AND scope = 'MESSAGE';
END;
CREATE TRIGGER searchable_goes_with_its_session AFTER DELETE ON session
BEGIN
  DELETE FROM searchable WHERE key = OLD.key AND scope IN ('LABEL', 'MEMORY');
END;
-- What was stored before there were terms and waits for them.
CREATE TABLE unindexed (
  key TEXT NOT NULL,
  kind TEXT NOT NULL,
  PRIMARY KEY (key, kind)
) WITHOUT ROWID;

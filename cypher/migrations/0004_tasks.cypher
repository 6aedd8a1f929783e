// Memory across sessions: tasks that are due, what digests and syntheses were made of, a Space's triggers.
CREATE CONSTRAINT task_key IF NOT EXISTS FOR (n:Task) REQUIRE n.key IS UNIQUE;
CREATE INDEX task_due IF NOT EXISTS FOR (n:Task) ON (n.dueAt);
CREATE INDEX session_memory IF NOT EXISTS FOR (n:Session) ON (n.spaceId, n.rootId, n.memorySeq);
MATCH (s:Session) WHERE s.memory IS NOT NULL AND s.memorySeq IS NULL
CALL (s) { SET s.memorySeq = s.eventSeq } IN TRANSACTIONS OF 10000 ROWS;
MATCH (sp:Space) WHERE sp.config CONTAINS '"consolidateOn":[' AND sp.consolidateOn IS NULL
SET sp.consolidateOn = [name IN split(split(split(sp.config, '"consolidateOn":[')[1], ']')[0], ',') WHERE name <> '' | replace(name, '"', '')],
  sp.integrateOn = [name IN split(split(split(sp.config, '"integrateOn":[')[1], ']')[0], ',') WHERE name <> '' | replace(name, '"', '')],
  sp.everyNTurns = toInteger(replace(split(split(sp.config, '"everyNTurns":')[1], ',')[0], '}', ''));

// Today's schema of the graph; equal to the chain of migrations.
CREATE CONSTRAINT space_id IF NOT EXISTS FOR (n:Space) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT delete_lock_key IF NOT EXISTS FOR (n:DeleteLock) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT session_key IF NOT EXISTS FOR (n:Session) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT node_key IF NOT EXISTS FOR (n:TopologyNode) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT node_place IF NOT EXISTS FOR (n:TopologyNode) REQUIRE (n.parentKey, n.index) IS UNIQUE;
CREATE CONSTRAINT message_key IF NOT EXISTS FOR (n:Message) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT message_place IF NOT EXISTS FOR ()-[r:HAS_MESSAGE]-() REQUIRE (r.sk, r.seq) IS UNIQUE;
CREATE CONSTRAINT turn_key IF NOT EXISTS FOR (n:Turn) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT turn_number IF NOT EXISTS FOR (n:Turn) REQUIRE (n.sk, n.number) IS UNIQUE;
CREATE CONSTRAINT idempotency_key IF NOT EXISTS FOR (n:Idempotency) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT event_key IF NOT EXISTS FOR (n:TopologyEvent) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT event_seq IF NOT EXISTS FOR (n:TopologyEvent) REQUIRE (n.spaceId, n.seq) IS UNIQUE;
CREATE CONSTRAINT holder_key IF NOT EXISTS FOR (n:Holder) REQUIRE n.key IS UNIQUE;
CREATE INDEX session_root IF NOT EXISTS FOR (n:Session) ON (n.spaceId, n.rootId, n.key);
CREATE INDEX session_event IF NOT EXISTS FOR (n:Session) ON (n.spaceId, n.eventSeq);
CREATE INDEX node_depth IF NOT EXISTS FOR (n:TopologyNode) ON (n.spaceId, n.depth, n.index);
CREATE INDEX open_turn_lease IF NOT EXISTS FOR (n:OpenTurn) ON (n.leaseUntil);
CREATE INDEX turn_status IF NOT EXISTS FOR (n:Turn) ON (n.spaceId, n.status, n.startedAt, n.key);
CREATE INDEX idempotency_of IF NOT EXISTS FOR (n:Idempotency) ON (n.sk);
CREATE INDEX holder_of IF NOT EXISTS FOR (n:Holder) ON (n.sk);
CREATE CONSTRAINT record_key IF NOT EXISTS FOR (n:Record) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT shared_memory_key IF NOT EXISTS FOR (n:SharedMemory) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT shared_memory_place IF NOT EXISTS FOR (n:SharedMemory) REQUIRE (n.spaceId, n.place) IS UNIQUE;
CREATE CONSTRAINT skill_key IF NOT EXISTS FOR (n:Skill) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT skill_place IF NOT EXISTS FOR (n:Skill) REQUIRE (n.spaceId, n.place) IS UNIQUE;
MATCH (sp:Space) WHERE sp.sharedMemory IS NULL SET sp.sharedMemory = sp.config CONTAINS '"sharedMemory":true';
CREATE CONSTRAINT task_key IF NOT EXISTS FOR (n:Task) REQUIRE n.key IS UNIQUE;
CREATE INDEX task_due IF NOT EXISTS FOR (n:Task) ON (n.dueAt);
CREATE INDEX session_memory IF NOT EXISTS FOR (n:Session) ON (n.spaceId, n.rootId, n.memorySeq);
CREATE CONSTRAINT fork_profile_key IF NOT EXISTS FOR (n:ForkProfile) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT fork_profile_place IF NOT EXISTS FOR (n:ForkProfile) REQUIRE (n.spaceId, n.place) IS UNIQUE;
CREATE CONSTRAINT api_key_key IF NOT EXISTS FOR (n:ApiKey) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT api_key_hash IF NOT EXISTS FOR (n:ApiKey) REQUIRE n.hash IS UNIQUE;
CREATE CONSTRAINT keys_in_use_key IF NOT EXISTS FOR (n:KeysInUse) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT deleted_space_id IF NOT EXISTS FOR (n:DeletedSpace) REQUIRE n.id IS UNIQUE;
MATCH (e:TopologyEvent) WHERE e.rootId IS NULL
CALL (e) {
  OPTIONAL MATCH (s:Session {key: e.spaceId + '/' + e.nodeId})
  SET e.rootId = coalesce(s.rootId, e.nodeId)
} IN TRANSACTIONS OF 10000 ROWS;
CREATE FULLTEXT INDEX search_label IF NOT EXISTS FOR (n:Session) ON EACH [n.labelTerms]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: true}};
CREATE FULLTEXT INDEX search_memory IF NOT EXISTS FOR (n:Session) ON EACH [n.memoryTerms]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: true}};
CREATE FULLTEXT INDEX search_message IF NOT EXISTS FOR (n:Message) ON EACH [n.terms]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: true}};

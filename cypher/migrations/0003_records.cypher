// Records, shared memory and skills of a Space; the Space says beside its configuration whether memory is shared.
CREATE CONSTRAINT record_key IF NOT EXISTS FOR (n:Record) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT shared_memory_key IF NOT EXISTS FOR (n:SharedMemory) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT shared_memory_place IF NOT EXISTS FOR (n:SharedMemory) REQUIRE (n.spaceId, n.place) IS UNIQUE;
CREATE CONSTRAINT skill_key IF NOT EXISTS FOR (n:Skill) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT skill_place IF NOT EXISTS FOR (n:Skill) REQUIRE (n.spaceId, n.place) IS UNIQUE;
MATCH (sp:Space) WHERE sp.sharedMemory IS NULL SET sp.sharedMemory = sp.config CONTAINS '"sharedMemory":true';

// What migrations themselves need, before the first.
CREATE CONSTRAINT migration_lock IF NOT EXISTS FOR (n:MigrationLock) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT migration_version IF NOT EXISTS FOR (n:Migration) REQUIRE n.version IS UNIQUE;

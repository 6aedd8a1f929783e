// After a migration: its indexes are filled.
CALL db.awaitIndexes(300);

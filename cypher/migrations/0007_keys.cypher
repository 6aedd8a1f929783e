// API keys, by key and by the hash of their secret; that there ever was one; and Spaces that are being deleted.
CREATE CONSTRAINT api_key_key IF NOT EXISTS FOR (n:ApiKey) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT api_key_hash IF NOT EXISTS FOR (n:ApiKey) REQUIRE n.hash IS UNIQUE;
CREATE CONSTRAINT keys_in_use_key IF NOT EXISTS FOR (n:KeysInUse) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT deleted_space_id IF NOT EXISTS FOR (n:DeletedSpace) REQUIRE n.id IS UNIQUE;

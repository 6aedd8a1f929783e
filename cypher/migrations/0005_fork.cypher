// Fork profiles. A session keeps the number of its completed turns at its last fork; without one it was never forked.
CREATE CONSTRAINT fork_profile_key IF NOT EXISTS FOR (n:ForkProfile) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT fork_profile_place IF NOT EXISTS FOR (n:ForkProfile) REQUIRE (n.spaceId, n.place) IS UNIQUE;

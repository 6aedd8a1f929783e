"""One conversation, knowing no other."""

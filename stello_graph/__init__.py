"""Conversations as a forest in a graph database, served through GraphQL."""

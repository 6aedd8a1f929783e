"""Hostile input: the whole schema, bodies, headers and frames."""

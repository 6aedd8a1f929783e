"""Frozen values, without I/O."""

"""The compile boundary, by examples and by properties."""

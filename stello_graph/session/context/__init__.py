"""The compile boundary: what a model sees, as a pure function of what is stored."""

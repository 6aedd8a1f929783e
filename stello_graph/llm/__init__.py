"""Models: one adapter a provider, the offline model, and the double that tests use."""

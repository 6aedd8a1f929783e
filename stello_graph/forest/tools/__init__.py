"""Tools that run for the model, inside its turn."""

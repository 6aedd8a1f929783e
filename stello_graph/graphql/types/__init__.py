"""The types of the schema. At run time their sources are the values of `model`."""

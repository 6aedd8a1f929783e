"""The demo: a forest that shows every feature, and as many light sessions beside it as are asked for.

Its texts are the TOML files of this folder. It is written through the store's port, with no model.
"""

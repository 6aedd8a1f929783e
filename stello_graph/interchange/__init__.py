"""Bringing conversations in and out: one module or package a format, all independent of storage.

`detect` names the format of a file; a reader turns it into the values of `plan`, one conversation at a
time; the caller stores them and tells the `report`.
"""

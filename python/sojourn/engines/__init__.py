"""Engines run scenarios; each is a folder here and a name in `registry`."""

"""What can run a scenario: an engine is a folder here and a name in `registry`."""

"""Scenarios and results in the formats of other tools."""

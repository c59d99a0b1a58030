"""Scenarios and AQMs as text: finding, reading, explaining, formatting."""

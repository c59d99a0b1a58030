"""Expectations of scenarios as tests: read, decided over seeds, reported."""

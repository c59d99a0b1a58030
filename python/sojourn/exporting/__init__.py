"""Scenarios as other tools' configuration."""

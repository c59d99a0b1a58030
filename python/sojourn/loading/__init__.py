"""Loads custom laws from files, classes and libraries."""

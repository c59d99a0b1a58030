"""Writing a custom law: a folder to start with, a library built from it, and a check of it."""

"""Writing a law of one's own: a folder to begin with, a library built from it, a check of it."""

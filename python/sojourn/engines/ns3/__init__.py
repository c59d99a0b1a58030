"""ns-3 as an engine: its links and TCP, with our AQMs or its own queue discs."""

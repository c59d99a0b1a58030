"""The papers that Sojourn reproduces: one module each, with a `PAPER`."""

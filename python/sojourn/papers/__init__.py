"""The papers that Sojourn makes again: one module each, with a `PAPER`."""

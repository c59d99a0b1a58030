"""The engine ``sim``: the packet simulator in the compiled core."""

from sojourn.engines.protocol import Declaration

DECLARED = Declaration("sim", "the packet simulator")

"""ns-3 as an engine: its links and TCP, with our AQMs or its own queue discs."""

from sojourn.engines.protocol import Declaration

DECLARED = Declaration("ns3", "the simulator ns-3")

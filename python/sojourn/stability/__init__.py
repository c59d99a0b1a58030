"""Control theory of AQMs: fluid models, loops, margins, and how far they hold.

`analyse` gives margins over a grid, `loop` and `bode` the loop itself, `respond` integrates the
nonlinear equations, `make_map` sets predictions against runs of the packet simulator, `design`
chooses gains. Everything returns plain arrays with their units in their names. docs/stability.md
derives the equations.
"""

from sojourn.stability.analysis import Bode, Stability, analyse, bode, loop
from sojourn.stability.gains import Design, design
from sojourn.stability.map import Map, Point, make_map
from sojourn.stability.margin import Margins, margins
from sojourn.stability.response import Response, Step, respond

__all__ = [
    "Bode",
    "Design",
    "Map",
    "Margins",
    "Point",
    "Response",
    "Stability",
    "Step",
    "analyse",
    "bode",
    "design",
    "loop",
    "make_map",
    "margins",
    "respond",
]

"""Control theory of AQMs: fluid models, loops, margins, and comparisons with the simulator.

`analyse` gives margins over a grid, `loop` and `bode` the loop itself, `respond` integrates the
nonlinear equations, `make_map` compares predictions with runs of the packet simulator, `design`
chooses gains, `pie_paper` computes Figures 13 to 16 of Pan et al. 2013. Everything returns plain
arrays with their units in their names. docs/how-to/stability.md derives the equations.

An AQM is given in text form, and its parameters, PIE's step tables included, come from the
simulator's registry, so a margin applies to the simulated AQM. A loop is a function of complex
frequency, not a state-space model, so its delays are exact.

`model` has TCP and the AQMs around their operating points, `loops` the transfer functions, margins
and responses in time, `study` the analyses. Each imports only those before it.
"""

from sojourn.stability.loops.margin import Margins, margins
from sojourn.stability.loops.open_loop import Bode, bode, loop
from sojourn.stability.loops.response import Response, Step, respond
from sojourn.stability.study import pie_paper
from sojourn.stability.study.analysis import Stability, analyse
from sojourn.stability.study.design import Design, design
from sojourn.stability.study.grid import Point
from sojourn.stability.study.map import Map, make_map

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
    "pie_paper",
    "respond",
]

"""Control theory of AQMs: fluid models, loops, margins, and how far they hold.

`analyse` gives margins over a grid, `loop` and `bode` the loop itself, `respond` integrates the
nonlinear equations, `observe` asks the packet simulator, `design` chooses gains. Everything returns
plain arrays with their units in their names. docs/stability.md derives the equations.
"""

from sojourn.stability.analysis import Bode, Stability, analyse, bode, loop
from sojourn.stability.margins import Margins, margins

__all__ = ["Bode", "Margins", "Stability", "analyse", "bode", "loop", "margins"]

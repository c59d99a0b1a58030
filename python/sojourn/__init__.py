"""Sojourn: a laboratory for active queue management.

One scenario, several AQMs, the same seeds; tables, intervals, figures and a report come out::

    import sojourn

    comparison = sojourn.compare("traffic-mix", aqms=["taildrop", "pie", "madpie"])
    comparison                      # in a notebook: the table and what is significant, in sentences
    comparison.save("out")          # report.html, figures, numbers

    result = sojourn.run("traffic-mix", seed=3)
    result.summary["queue/bottleneck/delay_p95"]     # seconds
    result.states                                    # an Arrow table
"""

from sojourn._core import Scenario, ScenarioError, __version__
from sojourn.comparing.comparison import Comparison, compare
from sojourn.comparing.diff import Difference, diff
from sojourn.comparing.own_metrics import metric
from sojourn.describing.library import load
from sojourn.errors import ControlError, InputError, Interrupted, LawError
from sojourn.running.result import Result
from sojourn.running.runs import run

__all__ = [
    "Comparison",
    "ControlError",
    "Difference",
    "InputError",
    "Interrupted",
    "LawError",
    "Result",
    "Scenario",
    "ScenarioError",
    "__version__",
    "compare",
    "diff",
    "load",
    "metric",
    "run",
]

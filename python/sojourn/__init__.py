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

from __future__ import annotations

from importlib import import_module

# To import `typing` for it takes longer than all else here, and Ctrl-C is not listened to yet.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from sojourn._core import Scenario, ScenarioError, __version__
    from sojourn.comparing.comparison import Comparison, compare
    from sojourn.comparing.diff import Difference, diff
    from sojourn.comparing.own_metrics import metric
    from sojourn.describing.library import load
    from sojourn.errors import AppError, ControlError, InputError, Interrupted, LawError
    from sojourn.running.result import Result
    from sojourn.running.runs import run

__all__ = [
    "AppError",
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

# Where each of them is. It is imported when it is first used: `sojourn --help` needs none.
_MODULES = {
    "Comparison": "comparing.comparison",
    "AppError": "errors",
    "ControlError": "errors",
    "Difference": "comparing.diff",
    "InputError": "errors",
    "Interrupted": "errors",
    "LawError": "errors",
    "Result": "running.result",
    "Scenario": "_core",
    "ScenarioError": "_core",
    "__version__": "_core",
    "compare": "comparing.comparison",
    "diff": "comparing.diff",
    "load": "describing.library",
    "metric": "comparing.own_metrics",
    "run": "running.runs",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"sojourn.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

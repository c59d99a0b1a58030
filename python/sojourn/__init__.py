"""Sojourn: a laboratory for active queue management.

Runs one scenario with several AQMs under the same seeds, and makes tables, intervals, figures and a
report::

    import sojourn

    comparison = sojourn.compare("traffic-mix", aqms=["taildrop", "pie", "madpie"])
    comparison                      # in a notebook: the table and what is significant, in sentences
    comparison.save("out")          # report.html, figures, numbers

    result = sojourn.run("traffic-mix", seed=3)
    result.summary["queue/bottleneck/delay_p95"]     # seconds
    result.states                                    # an Arrow table

    study = sojourn.study.read("aqm-load-rtt")       # packages need no separate import
"""

from __future__ import annotations

from importlib import import_module

# Not from `typing`, whose import takes longer than all others while Ctrl-C is not yet handled.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from sojourn import app as app
    from sojourn import control as control
    from sojourn import law as law
    from sojourn import live as live
    from sojourn import plots as plots
    from sojourn import programs as programs
    from sojourn import report as report
    from sojourn import reproduce as reproduce
    from sojourn import scenario as scenario
    from sojourn import search as search
    from sojourn import stability as stability
    from sojourn import study as study
    from sojourn._core import Scenario, ScenarioError, __version__
    from sojourn.agreement.cells import Agreement
    from sojourn.agreement.runs import agree
    from sojourn.comparing.compare import compare
    from sojourn.comparing.comparison import Comparison
    from sojourn.comparing.diff import Difference, diff
    from sojourn.comparing.own_metrics import metric
    from sojourn.describing.library import load
    from sojourn.errors import AppError, ControlError, InputError, Interrupted, LawError
    from sojourn.programs.running import run_programs
    from sojourn.running.capture import Capture, capture
    from sojourn.running.result import Result
    from sojourn.running.router_link import router
    from sojourn.running.runs import run

__all__ = [
    "Agreement",
    "AppError",
    "Capture",
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
    "agree",
    "capture",
    "compare",
    "diff",
    "load",
    "metric",
    "router",
    "run",
    "run_programs",
]

# Each is imported on first use, because `sojourn --help` needs none of them.
_PACKAGES = (
    "app", "control", "law", "live", "plots", "programs", "report", "reproduce", "scenario",
    "search", "stability", "study",
)  # fmt: skip
_MODULES = {
    "Capture": "running.capture",
    "Comparison": "comparing.comparison",
    "Agreement": "agreement.cells",
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
    "agree": "agreement.runs",
    "capture": "running.capture",
    "compare": "comparing.compare",
    "diff": "comparing.diff",
    "load": "describing.library",
    "metric": "comparing.own_metrics",
    "router": "running.router_link",
    "run": "running.runs",
    "run_programs": "programs.running",
}


def __getattr__(name: str) -> object:
    if name in _PACKAGES:
        return import_module(f"sojourn.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"sojourn.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})

"""Custom metrics: a function from a result to a number, with unit, direction and meaning.

::

    import numpy as np
    import sojourn

    @sojourn.metric(unit="s", better="lower", doc="99 % quantile of the change of queue delay")
    def jitter_p99(result):
        states = result.states.to_pandas()
        delay = states[states["var"] == "delay_mean"]["value"]
        return np.nanquantile(np.abs(np.diff(delay)), 0.99)

``sojourn compare traffic-mix --aqm pie,codel --metric mine.py:jitter_p99`` and
``sojourn.compare(..., metrics=[jitter_p99])`` show it next to the others. It belongs to no family
that was declared before the results, so its differences are exploratory.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from sojourn.comparing.metrics import Metric
from sojourn.describing.metric_table import Centre, Direction, MetricKind
from sojourn.describing.metrics import OWN, usual_row
from sojourn.errors import InputError
from sojourn.loading import exits
from sojourn.loading.bring import load_module
from sojourn.running.result import Result

Better = Direction | Literal[""]


@dataclass(frozen=True)
class OwnMetric:
    """A custom metric.

    Attributes:
        name: name of the function.
        unit: unit of the number: ``s``, ``bit/s``, ``bytes``, ``packets`` or ``1``.
        better: ``lower`` or ``higher``; empty if neither is better as such.
        doc: its meaning, one line.
        function: computes the number from the result of one run; NaN if the run has none.
        kind: ``share`` for a fraction from 0 to 1, shown in percent; by default the kind of its
            unit: a time, a rate, a plain number, a count.
        centre: whether its mean or its median over seeds is shown.
    """

    name: str
    unit: str
    better: Better
    doc: str
    function: Callable[[Result], float]
    kind: MetricKind | None = None
    centre: Centre = "mean"

    def __call__(self, result: Result) -> float:
        """The number of one run.

        Raises:
            InputError: the function failed, or returned no number, or no share from 0 to 1.
        """
        place = f"metric {self.name}, {result!r}"
        try:
            with exits.refused():
                value = float(self.function(result))
        except (Exception, SystemExit) as error:
            raise InputError(f"{place}: {type(error).__name__}: {error}") from error
        if self.kind == "share" and not (math.isnan(value) or 0.0 <= value <= 1.0):
            raise InputError(f"{place}: {value:g} is not a share; return a fraction from 0 to 1")
        return value

    def on(self, link: str) -> Metric:
        """The metric as a comparison shows it."""
        row = usual_row(OWN, self.name, self.unit, self.kind)
        own = replace(row, better=self.better, together=self.better, centre=self.centre)
        return Metric(replace(own, doc=self.doc), link)


def metric(
    *,
    unit: str,
    better: Better = "",
    doc: str,
    kind: MetricKind | None = None,
    centre: Centre = "mean",
) -> Callable[[Callable[[Result], float]], OwnMetric]:
    """Turn a function from a result to a number into a metric of `compare`.

    Args:
        unit: unit of the number: ``s``, ``bit/s``, ``bytes``, ``packets`` or ``1``.
        better: ``lower`` or ``higher``; empty if neither is better as such.
        doc: its meaning, one line.
        kind: ``share`` for a fraction from 0 to 1, shown in percent; by default the kind of the
            unit.
        centre: whether its ``mean`` or, for tails and rare events, its ``median`` over seeds is
            shown.

    Raises:
        InputError: the unit or the meaning is missing, or `better`, `kind` or `centre` is none of
            the above.
    """
    if not unit.strip() or not doc.strip():
        raise InputError("metric: say its unit (`1` for a pure number) and its meaning (`doc`)")
    if better not in ("lower", "higher", ""):
        raise InputError(f"metric: better `{better}` is not `lower`, `higher` or empty")
    if kind is not None and kind not in get_args(MetricKind):
        raise InputError(f"metric: kind `{kind}` is not one of {', '.join(get_args(MetricKind))}")
    if centre not in get_args(Centre):
        raise InputError(f"metric: centre `{centre}` is neither `mean` nor `median`")

    def made(function: Callable[[Result], float]) -> OwnMetric:
        return OwnMetric(function.__name__, unit, better, doc, function, kind, centre)

    return made


def bring_metrics(wanted: Sequence[str | OwnMetric]) -> list[OwnMetric]:
    """Metrics given by file (``mine.py:jitter_p99``) or as objects.

    Raises:
        InputError: a file or metric does not exist, or two have the same name.
    """
    found = [_of_text(each) if isinstance(each, str) else each for each in wanted]
    for i, each in enumerate(found):
        if not isinstance(each, OwnMetric):
            raise InputError(f"metric {each!r}: is none; decorate its function with sojourn.metric")
        if each.name in [other.name for other in found[:i]]:
            raise InputError(f"metric {each.name}: is listed twice; rename one")
    return found


def _of_text(text: str) -> OwnMetric:
    match = re.fullmatch(r"(.*\.py):(\w+)", text)
    if match is None:
        raise InputError(f"--metric {text}: name a function in a file, such as mine.py:jitter_p99")
    module = load_module(Path(match[1]))
    found = getattr(module, match[2], None)
    if isinstance(found, OwnMetric):
        return found
    known = [name for name, each in vars(module).items() if isinstance(each, OwnMetric)]
    has = f"it has {', '.join(known)}" if known else "it has none"
    raise InputError(
        f"--metric {text}: the file has no such metric; {has}. A metric is a function "
        "decorated with sojourn.metric"
    )


def value_of(own: Sequence[OwnMetric], name: str, result: Result | None) -> float:
    """The number of the metric of that name; NaN without a result."""
    (found,) = [each for each in own if each.name == name]
    return math.nan if result is None else found(result)

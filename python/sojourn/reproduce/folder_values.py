"""Metrics by name as measured values, for papers that are folders."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sojourn.describing.metrics import TABLE
from sojourn.errors import InputError
from sojourn.reproduce.measures import seconds
from sojourn.reproduce.paper import Cell, Pools, Table, Values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sojourn.plots.curves import Panel
    from sojourn.plots.data import Floats
    from sojourn.reproduce.pool import Pool

# A quantile, a share of packets or the deviation of a distribution: delay_p90, owd_p99.9,
# rtt_below_20ms, delay_below_500us.
_OF_DISTRIBUTION = re.compile(
    r"(?P<what>delay|owd|rtt)_"
    r"(?:p(?P<p>\d\d?(?:\.\d+)?)|below_(?P<limit>\d+(?:\.\d+)?)(?P<unit>ms|us)|sd)"
)
# A variable of the first link's queue over its samples after the warm-up: state_drop_prob_mean,
# state_rate_p1.
_OF_STATES = re.compile(r"state_(?P<var>\w+)_(?P<what>mean|min|max|p(?P<p>\d\d?(?:\.\d+)?))")
# The time until such a variable stays within bounds.
_SETTLED = re.compile(r"state_(?P<var>\w+)_settled")
_STATE_SUFFIXES = {"rate": ("_mbps", 1e-6), "delay_mean": ("_ms", 1e3), "delay_max": ("_ms", 1e3)}
# The end of keys and the factor to its unit, by unit in table `summary`, and for shares.
_SUFFIXES = {"s": ("_ms", 1e3), "bit/s": ("_mbps", 1e-6), "%": ("_pct", 100.0)}
# Units that a claim may use, and the factor to each, by the end of keys.
UNITS: dict[str, dict[str, float]] = {
    "_ms": {"ms": 1.0, "s": 1e-3, "us": 1e3},
    "_mbps": {"Mbit/s": 1.0, "kbit/s": 1e3, "Gbit/s": 1e-3},
    "_pct": {"%": 1.0, "": 1e-2},
    "_s": {"s": 1.0, "ms": 1e3},
    "": {"": 1.0, "packets": 1.0, "per s": 1.0},
}


@dataclass(frozen=True)
class Wanted:
    """A metric of a queue or a class of flows in one case.

    Attributes:
        case: its key.
        of: the link or the class; empty for the run.
        metric: its name.
        within: for a settling time, the bounds in the unit of the variable's other metrics.
        after_s: for a settling time, its start; negative means the end of the warm-up.
    """

    case: str
    of: str
    metric: str
    within: tuple[float, float] | None = None
    after_s: float = -1.0

    @property
    def suffix(self) -> str:
        """The end of the quantity's key, which states its unit."""
        return _suffix(self.metric)[0]

    @property
    def column(self) -> str:
        """The measured quantity with its unit: ``delay_p95_ms``."""
        metric = self.metric
        if self.within is not None:
            metric += f"_{self.within[0]:g}_{self.within[1]:g}"
            metric += f"_after{self.after_s:g}" if self.after_s >= 0 else ""
        return metric + self.suffix

    @property
    def key(self) -> str:
        """The quantity's key among the item's values: ``pie.bottleneck.delay_p95_ms``."""
        return ".".join(filter(None, [self.case, self.of, self.column]))


def scope_of(metric: str) -> str:
    """``queue``, ``class`` or ``run``; empty for a metric that is not known."""
    if found := _OF_DISTRIBUTION.fullmatch(metric):
        return "queue" if found["what"] == "delay" else "class"
    if _OF_STATES.fullmatch(metric) or is_settling(metric):
        return "queue"
    row = TABLE.get(metric)
    return "" if row is None or row.never or row.only else row.scope


def is_settling(metric: str) -> bool:
    """Whether the quantity is the time until a variable stays within bounds."""
    return _SETTLED.fullmatch(metric) is not None


def keeps(wanted: Iterable[Wanted], figure: str) -> tuple[str, ...]:
    """The extracts of runs that these quantities and the item's figure need."""
    needs_states = figure == "time" or any(each.metric.startswith("state_") for each in wanted)
    return ("delays", "states") if needs_states else ("delays",)


def names() -> list[str]:
    """Every metric that the table names."""
    return [name for name in TABLE if scope_of(name)]


def _suffix(metric: str) -> tuple[str, float]:
    if found := _OF_DISTRIBUTION.fullmatch(metric):
        return ("_pct", 1.0) if found["limit"] else ("_ms", 1.0)
    if found := _OF_STATES.fullmatch(metric):
        return _STATE_SUFFIXES.get(found["var"], ("", 1.0))
    if is_settling(metric):
        return "_s", 1.0
    row = TABLE[metric]
    return _SUFFIXES.get("%" if row.kind == "share" else row.unit, ("", 1.0))


def measuring(wanted: Iterable[Wanted]) -> Callable[[Pools], dict[str, float]]:
    """The quantities that an item measures, which are those of its claims."""
    distinct = list(dict.fromkeys(wanted))

    def measure(pools: Pools) -> dict[str, float]:
        return {each.key: _value(pools[each.case], each) for each in distinct}

    return measure


def _value(pool: Pool, wanted: Wanted) -> float:
    scope = scope_of(wanted.metric)
    if found := _OF_DISTRIBUTION.fullmatch(wanted.metric):
        return _of_distribution(pool, f"{scope}/{wanted.of}/{found['what']}", found)
    if found := _OF_STATES.fullmatch(wanted.metric):
        percent = found["p"] or {"min": 0, "max": 100}.get(found["what"])
        values = np.concatenate([x for _, x in _sampled(pool, wanted, found["var"])])
        value = values.mean() if percent is None else np.percentile(values, float(percent))
        return float(value) * _suffix(wanted.metric)[1]
    if found := _SETTLED.fullmatch(wanted.metric):
        samples = _sampled(pool, wanted, found["var"])
        factor = _STATE_SUFFIXES.get(found["var"], ("", 1.0))[1]
        low, high = wanted.within or (-np.inf, np.inf)
        return float(np.mean([settling_s(t, factor * x, low, high) for t, x in samples]))
    key = f"{scope}/{wanted.of}/{wanted.metric}" if wanted.of else f"run/{wanted.metric}"
    return pool.number(key) * _suffix(wanted.metric)[1]


def _of_distribution(pool: Pool, key: str, found: re.Match[str]) -> float:
    spread = pool.distribution(key)
    if not spread:
        return float("nan")
    if found["limit"]:
        limit_s = float(found["limit"]) * (1e-3 if found["unit"] == "ms" else 1e-6)
        return 100.0 * float(spread.share_below(np.array([limit_s + 1e-9]))[0])
    return 1e3 * (spread.quantile_s(float(found["p"]) / 100) if found["p"] else spread.deviation_s)


def _sampled(pool: Pool, wanted: Wanted, var: str) -> list[tuple[Floats, Floats]]:
    """The samples of a variable per replica: time since they begin to count, and value."""
    first = pool.plan["links"][0]["name"]
    where = f"case {wanted.case}, metric {wanted.metric}"
    if wanted.of != first:
        raise InputError(f"{where}: variables are kept of the first link only, {first}")
    known = pool.state_names()
    if var not in known.split(", "):
        raise InputError(f"{where}: its queue has no variable `{var}`; use {known}")
    start_s = wanted.after_s if wanted.after_s >= 0 else seconds(pool.plan["warmup"])
    if start_s >= seconds(pool.plan["duration"]):
        raise InputError(f"{where}: `after` is not before the end, {pool.plan['duration']}")
    return [(t[t > start_s] - start_s, x[t > start_s]) for t, x in pool.states(var)]


def settling_s(t_s: Floats, values: Floats, low: float, high: float) -> float:
    """The time of the first sample from which on all are within bounds.

    Args:
        t_s: times of the samples, shape ``(n,)``.
        values: their values; samples without one, as in an empty queue, do not count.
        low: the least that is within bounds.
        high: the largest.

    Returns:
        NaN if the last sample is out of bounds, or no sample has a value.
    """
    t_s, values = t_s[~np.isnan(values)], values[~np.isnan(values)]
    outside = np.flatnonzero((values < low) | (values > high))
    first = int(outside[-1]) + 1 if outside.size else 0
    return float(t_s[first]) if first < len(t_s) else float("nan")


def tabling(wanted: Sequence[Wanted]) -> Callable[[Values], list[Table]]:
    """One row per case, one column per metric."""
    columns = list(dict.fromkeys(replace(each, case="") for each in wanted))
    cases = list(dict.fromkeys(each.case for each in wanted))

    def tables(_values: Values) -> list[Table]:
        if not columns:
            return []
        header = ["case", *(f"{each.column} {each.of}".strip() for each in columns)]
        rows: list[list[str | Cell]] = [
            [case, *(_cell(replace(column, case=case), wanted) for column in columns)]
            for case in cases
        ]
        return [Table("measured / published", header, rows)]

    return tables


def _cell(quantity: Wanted, wanted: Sequence[Wanted]) -> str | Cell:
    return Cell(quantity.key, ".4g") if quantity in wanted else ""


def drawing(
    item: str, title: str, links: Mapping[str, str], figure: str
) -> Callable[..., dict[str, Figure]]:
    """The queue delay of each case.

    Args:
        item: its number, the name of the figure.
        title: title of the figure.
        links: the studied link of each case, by the case's key.
        figure: one of `FIGURES`: ``cdf``, the distributions; ``time``, the mean of each sample
            interval of the first seed.
    """

    def figures(pools: Pools, _values: Values) -> dict[str, Figure]:
        from sojourn.plots.curves import curves

        panel = FIGURES[figure]({key: (pools[key], link) for key, link in links.items()})
        return {item: curves(title, [panel])} if panel else {}

    return figures


def _over_delay(cases: Mapping[str, tuple[Pool, str]]) -> Panel | None:
    from sojourn.plots import style
    from sojourn.plots.curves import Panel, distribution_curve

    every = {key: pool.distribution(f"queue/{of}/delay") for key, (pool, of) in cases.items()}
    found = {key: spread for key, spread in every.items() if spread}
    if not found:
        return None
    colours, dashes = style.colours(found), style.dashes(found)
    lines = [distribution_curve(k, spread, colours[k], dashes[k]) for k, spread in found.items()]
    high_ms = 1e3 * max(spread.quantile_s(0.99) for spread in found.values())
    return Panel("", lines, "queue delay [ms]", "CDF", (0, 1.1 * high_ms), (0, 1.01))


def _over_time(cases: Mapping[str, tuple[Pool, str]]) -> Panel | None:
    from sojourn.plots import style
    from sojourn.plots.curves import Curve, Panel

    # Samples of the first link alone are kept.
    found = {k: pool for k, (pool, of) in cases.items() if of == pool.plan["links"][0]["name"]}
    colours, dashes = style.colours(found), style.dashes(found)
    lines = []
    for key, pool in found.items():
        t_s, delay_s = pool.states("delay_mean")[0]
        lines.append(Curve(key, t_s, 1e3 * delay_s, colours[key], dashes[key], width=0.9))
    return Panel("", lines, "time [s]", "queue delay [ms]", (0, None), (0, None)) if lines else None


FIGURES: Mapping[str, Callable[[Mapping[str, tuple[Pool, str]]], Panel | None]] = {
    "cdf": _over_delay,
    "time": _over_time,
}

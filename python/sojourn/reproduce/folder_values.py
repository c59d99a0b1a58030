"""Metrics by name as measured values, for papers that are folders."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sojourn.describing.metrics import TABLE
from sojourn.errors import InputError
from sojourn.reproduce.measures import seconds
from sojourn.reproduce.paper import Cell, Pools, Table, Values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
_STATE_SUFFIXES = {"rate": ("_mbps", 1e-6), "delay_mean": ("_ms", 1e3), "delay_max": ("_ms", 1e3)}
# By unit in table `summary`, and for shares: the end of keys, and the factor to it.
_SUFFIXES = {"s": ("_ms", 1e3), "bit/s": ("_mbps", 1e-6), "%": ("_pct", 100.0)}
# By the end of keys: units that a claim may use, and the factor to each.
UNITS: dict[str, dict[str, float]] = {
    "_ms": {"ms": 1.0, "s": 1e-3, "us": 1e3},
    "_mbps": {"Mbit/s": 1.0, "kbit/s": 1e3, "Gbit/s": 1e-3},
    "_pct": {"%": 1.0, "": 1e-2},
    "": {"": 1.0, "packets": 1.0, "per s": 1.0},
}


@dataclass(frozen=True)
class Wanted:
    """A metric of a queue or a class of flows in one case.

    Attributes:
        case: its key.
        of: the link or the class; empty for the run.
        metric: its name.
    """

    case: str
    of: str
    metric: str

    @property
    def suffix(self) -> str:
        """The end of its key, which says its unit."""
        return suffix_of(self.metric)

    @property
    def key(self) -> str:
        """Of the item's values: ``pie.bottleneck.delay_p95_ms``."""
        return ".".join(filter(None, [self.case, self.of, self.metric + self.suffix]))


def scope_of(metric: str) -> str:
    """``queue``, ``class`` or ``run``; empty for a metric that is not known."""
    if found := _OF_DISTRIBUTION.fullmatch(metric):
        return "queue" if found["what"] == "delay" else "class"
    if _OF_STATES.fullmatch(metric):
        return "queue"
    row = TABLE.get(metric)
    return "" if row is None or row.never or row.only else row.scope


def keeps(wanted: Iterable[Wanted]) -> tuple[str, ...]:
    """What the runs have to keep for these quantities."""
    needs_states = any(_OF_STATES.fullmatch(each.metric) for each in wanted)
    return ("delays", "states") if needs_states else ("delays",)


def names() -> list[str]:
    """Every metric that the table names."""
    return [name for name in TABLE if scope_of(name)]


def suffix_of(metric: str) -> str:
    """The end of the key of a metric."""
    return _suffix(metric)[0]


def _suffix(metric: str) -> tuple[str, float]:
    if found := _OF_DISTRIBUTION.fullmatch(metric):
        return ("_pct", 1.0) if found["limit"] else ("_ms", 1.0)
    if found := _OF_STATES.fullmatch(metric):
        return _STATE_SUFFIXES.get(found["var"], ("", 1.0))
    row = TABLE[metric]
    return _SUFFIXES.get("%" if row.kind == "share" else row.unit, ("", 1.0))


def measuring(wanted: Iterable[Wanted]) -> Callable[[Pools], dict[str, float]]:
    """What an item measures: the quantities of its claims."""
    distinct = list(dict.fromkeys(wanted))

    def measure(pools: Pools) -> dict[str, float]:
        return {each.key: _value(pools[each.case], each) for each in distinct}

    return measure


def _value(pool: Pool, wanted: Wanted) -> float:
    scope = scope_of(wanted.metric)
    if found := _OF_DISTRIBUTION.fullmatch(wanted.metric):
        return _of_distribution(pool, f"{scope}/{wanted.of}/{found['what']}", found)
    if found := _OF_STATES.fullmatch(wanted.metric):
        return _of_states(pool, wanted, found) * _suffix(wanted.metric)[1]
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


def _of_states(pool: Pool, wanted: Wanted, found: re.Match[str]) -> float:
    first = pool.plan["links"][0]["name"]
    where = f"case {wanted.case}, metric {wanted.metric}"
    if wanted.of != first:
        raise InputError(f"{where}: variables are kept of the first link only, {first}")
    known = pool.state_names()
    if found["var"] not in known:
        raise InputError(f"{where}: its queue has no variable `{found['var']}`; use {known}")
    warmup_s = seconds(pool.plan["warmup"])
    values = np.concatenate([x[t > warmup_s] for t, x in pool.states(found["var"])])
    if found["what"] == "mean":
        return float(values.mean())
    percent = found["p"] or {"min": 0, "max": 100}[found["what"]]
    return float(np.percentile(values, float(percent)))


def tabling(wanted: Sequence[Wanted]) -> Callable[[Values], list[Table]]:
    """One row per case, one column per metric."""
    columns = list(dict.fromkeys((each.of, each.metric) for each in wanted))
    cases = list(dict.fromkeys(each.case for each in wanted))

    def tables(_values: Values) -> list[Table]:
        if not columns:
            return []
        header = ["case", *(" ".join(filter(None, [m + suffix_of(m), of])) for of, m in columns)]
        rows: list[list[str | Cell]] = [
            [case, *(_cell(Wanted(case, of, metric), wanted) for of, metric in columns)]
            for case in cases
        ]
        return [Table("measured / published", header, rows)]

    return tables


def _cell(quantity: Wanted, wanted: Sequence[Wanted]) -> str | Cell:
    return Cell(quantity.key, ".4g") if quantity in wanted else ""


def drawing(item: str, title: str, links: Mapping[str, str]) -> Callable[..., dict[str, Figure]]:
    """The distributions of the queue delay.

    Args:
        item: its number, the name of the figure.
        title: title of the figure.
        links: keyed by the key of a case: the link that it is about.
    """

    def figures(pools: Pools, _values: Values) -> dict[str, Figure]:
        from sojourn.plots import style
        from sojourn.plots.curves import Panel, curves, distribution_curve

        every = {key: pools[key].distribution(f"queue/{link}/delay") for key, link in links.items()}
        found = {key: spread for key, spread in every.items() if spread}
        if not found:
            return {}
        colours, dashes = style.colours(found), style.dashes(found)
        lines = [
            distribution_curve(key, spread, colours[key], dashes[key])
            for key, spread in found.items()
        ]
        high_ms = 1e3 * max(spread.quantile_s(0.99) for spread in found.values())
        panel = Panel("", lines, "queue delay [ms]", "CDF", (0, 1.1 * high_ms), (0, 1.01))
        return {item: curves(title, [panel])}

    return figures

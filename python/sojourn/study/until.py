"""The stopping rule: more seeds per point until an interval is narrow enough.

Repeatedly testing a 95 % interval until it is narrow gives less than 95 % coverage. Here a point is
tested after a fixed series of numbers of seeds, and the level of each look is such that all
intervals together hold with the stated confidence: repeated confidence intervals (Jennison and
Turnbull 1989) at Pocock's constant level (Pocock 1977). The constant is computed for these looks by
the recursion of Armitage, McPherson and Rowe 1969. The interval of a mean uses Student's t at that
level (Jennison and Turnbull 2000 §4.4), that of a median order statistics.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.comparing.distributions import NORMAL, outside_median, root, t_quantile
from sojourn.describing.formatting import counted
from sojourn.describing.metrics import row_of
from sojourn.describing.quantity import Quantity, required
from sojourn.errors import InputError
from sojourn.study.keys import at_least_one, known_keys

UNTIL_KEYS = ("metric", "within", "confidence", "max_seeds")
DEFAULT_CONFIDENCE = 0.95
FIRST_LOOK = 8
GROWTH = 1.5
# A study's notation for a unit of table `summary`.
_WRITTEN = {"s": "s", "bit/s": "bit"}
# Nodes of the integration; more do not change the fourth digit of the bound.
_GRID = 161
# Standard deviations beyond which a normal value lies once in 10^9.
_FAR = 6.0


@dataclass(frozen=True)
class Until:
    """When a point has enough seeds.

    Attributes:
        metric: key of table ``summary``.
        within: upper limit of the interval's half-width, in the metric's SI unit, or as a share of
            the estimate.
        is_share: whether `within` is a share.
        unit: unit of `within` as written; empty for a share and a plain number.
        confidence: probability with which the interval at the stop holds.
        max_seeds: no point gets more seeds than this.
    """

    metric: str
    within: float
    is_share: bool
    confidence: float
    max_seeds: int
    unit: str = ""

    def check_unit(self, unit: str) -> None:
        """Refuse a rule whose width is of another unit than its metric.

        Args:
            unit: unit of the metric in table ``summary``; empty if unknown.

        Raises:
            InputError: ``within = "5mbit"`` for a delay, for example.
        """
        wanted = Quantity(0.0, _WRITTEN.get(unit, ""))
        if self.is_share or not unit or Quantity(0.0, self.unit).family == wanted.family:
            return
        found = f"in {self.unit}" if self.unit else "a plain number"
        raise InputError(
            f"until.within: is {found}, but {self.metric} is in {unit}; write it in the unit of "
            "the metric, or as a share such as 5%"
        )

    @functools.cached_property
    def looks(self) -> tuple[int, ...]:
        """The numbers of seeds at which a point is tested."""
        return planned_looks(self.max_seeds)

    @functools.cached_property
    def level(self) -> float:
        """One minus the confidence of a single look."""
        return pocock_level(self.looks, 1.0 - self.confidence)

    def interval(self, values: Sequence[float]) -> tuple[float, float, float]:
        """Estimate and both ends of its interval at one look; NaN with too few values.

        Args:
            values: one per seed, shape ``(n_seeds,)``; NaN is left out.
        """
        finite = np.sort(np.asarray([value for value in values if not math.isnan(value)]))
        if len(finite) < 2:
            return (float(finite[0]) if len(finite) else math.nan), math.nan, math.nan
        if row_of(self.metric).centre == "median":
            return _median(finite, self.level)
        mean = float(np.mean(finite))
        error = float(np.std(finite, ddof=1)) / math.sqrt(len(finite))
        half = t_quantile(len(finite) - 1, 1.0 - self.level / 2.0) * error
        return mean, mean - half, mean + half

    def is_met(self, values: Sequence[float]) -> bool:
        """Whether the interval is narrow enough; False if it is unknown."""
        centre, low, high = self.interval(values)
        most = self.within * abs(centre) if self.is_share else self.within
        return math.isfinite(high - low) and (high - low) / 2.0 <= most

    def wanted(self, values: Sequence[float]) -> int:
        """The number of seeds that a point needs, given these values.

        Args:
            values: values of seeds 1, 2, ... in order, shape ``(n_seeds,)``; NaN for a failed run.
        """
        for look in self.looks:
            if len(values) < look or self.is_met(values[:look]):
                return look
        return self.max_seeds


def read_until(table: Mapping[str, Any], metrics: Sequence[str]) -> Until:
    """Read table ``until``.

    Raises:
        InputError: a key or a value is invalid, or no number of seeds can meet it.
    """
    known_keys("until", table, UNTIL_KEYS)
    metric = table.get("metric")
    if metric not in metrics:
        raise InputError(f"until.metric: must be one of `metrics`, not `{metric}`")
    confidence = table.get("confidence", DEFAULT_CONFIDENCE)
    if not isinstance(confidence, float) or not 0.5 <= confidence < 1.0:
        raise InputError(f"until.confidence: must be from 0.5 to below 1, not `{confidence}`")
    within, is_share, unit = _within(table.get("within"))
    most = at_least_one("until.max_seeds", table.get("max_seeds"))
    rule = Until(str(metric), within, is_share, confidence, most, unit)
    needed = fewest_seeds(rule)
    if most < needed:
        raise InputError(
            f"until.max_seeds: no interval of {100 * confidence:g} % for {metric} comes of "
            f"{counted(most, 'seed')}; at least {needed} are needed"
        )
    return rule


def _within(value: object) -> tuple[float, bool, str]:
    if isinstance(value, str) and value.endswith("%"):
        number = required("until.within", value.removesuffix("%"))
        found, is_share = Quantity(number.number / 100.0, ""), True
    else:
        found, is_share = required("until.within", value), False
    if not found.size > 0.0:
        raise InputError(f"until.within: {value} cannot be met; it must be more than 0")
    return found.size, is_share, found.unit


def fewest_seeds(rule: Until) -> int:
    """The smallest number of seeds that gives an interval at all."""
    if row_of(rule.metric).centre == "mean":
        return 2
    # The extremes of n values miss the median with probability 2 ** (1 - n).
    return 1 + math.ceil(-math.log2(rule.level))


def _median(ordered: np.ndarray[Any, Any], level: float) -> tuple[float, float, float]:
    """The median between order statistics at a level (Conover 1999 §3.2)."""
    n = len(ordered)
    centre = float(np.median(ordered))
    outside = outside_median(n, level)
    if outside == 0:
        return centre, math.nan, math.nan
    return centre, float(ordered[outside - 1]), float(ordered[n - outside])


def planned_looks(max_seeds: int) -> tuple[int, ...]:
    """The numbers of seeds at which a rule looks."""
    counts = [min(FIRST_LOOK, max_seeds)]
    while counts[-1] < max_seeds:
        counts.append(min(max_seeds, math.ceil(counts[-1] * GROWTH)))
    return tuple(counts)


def repeated_p_value(looks: tuple[int, ...], p_value: float) -> float:
    """The probability that some look has a two-sided p-value as small as that of one look.

    Args:
        looks: see `pocock_level`.
        p_value: above 0, below 1.
    """
    bound = -NORMAL.inv_cdf(p_value / 2.0)
    # Bonferroni's bound is sharp there, and the integral is lost in rounding.
    if bound > _FAR:
        return min(1.0, p_value * len(looks))
    at, excess = _excess(looks)
    return min(1.0, p_value * math.exp(float(np.interp(bound, at, excess))))


@functools.cache
def _excess(looks: tuple[int, ...]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The logarithm of the p-value over all looks divided by that of one look, for each bound."""
    at = np.linspace(0.0, _FAR, 121)
    one = [2.0 * NORMAL.cdf(-bound) for bound in at.tolist()]
    # At a bound of 0 there is nothing to integrate: both are 1.
    each = [_misses(looks, bound) / p for bound, p in zip(at[1:].tolist(), one[1:], strict=True)]
    return at, np.log([1.0, *each])


@functools.cache
def pocock_level(looks: tuple[int, ...], alpha: float) -> float:
    """The two-sided level of each look such that any look misses with probability alpha.

    Args:
        looks: numbers of values at the looks, increasing.
        alpha: probability that the interval of some look does not hold.
    """
    if len(looks) == 1:
        return alpha
    # Between the level of a single look and Bonferroni's.
    low, high = -NORMAL.inv_cdf(alpha / 2), -NORMAL.inv_cdf(alpha / (2 * len(looks)))
    bound = root(lambda c: _misses(looks, c) - alpha, low, high, tolerance=1e-6)
    return 2.0 * NORMAL.cdf(-bound)


def _misses(looks: tuple[int, ...], bound: float) -> float:
    """Probability that a standardised mean of normal values leaves +-bound at one of the looks."""
    at, weights = _nodes()
    # Density of the sum of the values so far, for paths that have not left.
    scale = bound * math.sqrt(looks[0])
    sums = at * scale
    density = np.exp(-(sums**2) / (2 * looks[0])) / math.sqrt(2 * math.pi * looks[0])
    stayed = 1.0
    for before, now in itertools.pairwise(looks):
        step = math.sqrt(now - before)
        edge = bound * math.sqrt(now)
        mass = density * weights * scale
        inside = _normal_cdf((edge - sums) / step) - _normal_cdf((-edge - sums) / step)
        stayed = float(mass @ inside)
        scale, new = edge, at * edge
        kernel = np.exp(-((new[:, None] - sums[None, :]) ** 2) / (2 * step**2))
        density = kernel @ mass / (step * math.sqrt(2 * math.pi))
        sums = new
    return 1.0 - stayed


@functools.cache
def _nodes() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    return np.polynomial.legendre.leggauss(_GRID)


def _normal_cdf(at: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.array([NORMAL.cdf(each) for each in at.tolist()])

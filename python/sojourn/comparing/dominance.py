"""Queue delay and utilisation judged together: which AQM dominates which, and how surely.

Each of the two alone rewards the wrong thing: an idle link has no delay, and a standing queue keeps
a link busy. An AQM dominates another where it is at least as good in both and better in one. At
least as good means not worse by more than the margin of equivalence
(`sojourn.comparing.equivalence`); better means by more than it.

Two questions are answered. For the headline row *delay p95 at utilisation* each AQM is tested
against the first: one of the two differences must be significant in its good direction after Holm's
correction, and the other must not be worse, shown by a one-sided t test at 5 % against the margin.
For the plane every pair of AQMs gets the share of bootstrap samples of the seeds in which one
dominates the other; these shares are exploratory.

Source: Efron and Tibshirani 1993 §6 and §13 (bootstrap, percentiles).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import TYPE_CHECKING, Literal
from weakref import WeakKeyDictionary

from sojourn.comparing.equivalence import is_above, margin
from sojourn.comparing.metrics import Metric
from sojourn.comparing.statistics import ALPHA, CONFIDENCE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sojourn.comparing.compared_runs import ComparedRuns
    from sojourn.comparing.rows import PairedDifference

PAIR = ("delay_p95", "utilisation")
"""The metrics of a queue that are judged together."""
LABEL = "delay p95 at utilisation"
SAMPLES = 9_999
# With fewer seeds, all differences have one sign by chance in more than 5 % of cases: 2^(1 - n), 25
# % for three seeds, 3.1 % for six. All bootstrap samples then agree.
SURE_SEEDS = 6
_FEW = (
    "Fewer than six seeds cannot say which AQM dominates another in queue delay p95 and "
    "utilisation together."
)

JointVerdict = Literal["better", "worse", "trade", "same", ""]


@dataclass(frozen=True)
class Dominance:
    """The certainty that one AQM dominates another on the plane of delay and utilisation.

    Attributes:
        aqm: the AQM that may dominate.
        over: the other AQM.
        probability: share of bootstrap samples of the seeds in which it does; NaN with fewer than
            `SURE_SEEDS` seeds.
        delay: mean of the paired differences of queue delay p95, in seconds, `aqm` minus `over`.
        utilisation: the same of utilisation, 0 to 1.
        seeds: number of seeds with both values.
        confidence: the least probability that is called sure.
    """

    aqm: str
    over: str
    probability: float
    delay: float
    utilisation: float
    seeds: int
    confidence: float = CONFIDENCE

    @property
    def is_sure(self) -> bool:
        """Whether the share of samples in which it dominates is at least `confidence`."""
        return self.probability >= self.confidence


def judged_together(
    comparison: ComparedRuns,
) -> dict[str, tuple[PairedDifference, PairedDifference]]:
    """Differences of delay p95 and of utilisation by AQM; empty between engines or shapers."""
    if comparison.references or comparison.shaped:
        return {}
    of = {
        (row.metric.metric, row.aqm): row
        for row in comparison.tests
        if row.metric.scope == "queue" and row.metric.metric in PAIR
    }
    return {
        aqm: (of[PAIR[0], aqm], of[PAIR[1], aqm])
        for aqm in comparison.aqms[1:]
        if all((name, aqm) in of for name in PAIR)
    }


def verdict(
    delay: PairedDifference, utilisation: PairedDifference, seeds: DifferencesOfSeeds,
    level: float = ALPHA,
) -> JointVerdict:  # fmt: skip
    """``better`` and ``worse`` where one dominates, ``trade`` where each is better in one.

    Args:
        delay: difference of queue delay p95 from the first AQM.
        utilisation: difference of utilisation from it.
        seeds: both, seed by seed.
        level: level of the one-sided tests.
    """
    if delay.is_equivalent and utilisation.is_equivalent:
        return "same"
    shorter, longer = _directions(delay)
    idler, busier = _directions(utilisation)
    if (shorter and idler) or (longer and busier):
        return "trade"
    delays, shares = seeds
    not_longer = is_above([-value for value in delays], -delay.margin, level)
    not_shorter = is_above(delays, -delay.margin, level)
    not_idler = is_above(shares, -utilisation.margin, level)
    not_busier = is_above([-value for value in shares], -utilisation.margin, level)
    if (shorter and not_idler) or (busier and not_longer):
        return "better"
    return "worse" if (longer and not_busier) or (idler and not_shorter) else ""


def joint_verdicts(comparison: ComparedRuns) -> dict[str, JointVerdict]:
    """The verdict on every AQM after the first against the first, if both metrics are known."""
    return {
        aqm: verdict(
            *pair, seed_by_seed(comparison, aqm, comparison.baseline), comparison.looks.one_sided
        )
        for aqm, pair in judged_together(comparison).items()
    }


DifferencesOfSeeds = tuple[list[float], list[float]]
"""Differences of queue delay p95 and of utilisation, one per seed."""


def seed_by_seed(comparison: ComparedRuns, aqm: str, over: str) -> DifferencesOfSeeds:
    """Value of `aqm` minus that of `over`; pairs with a missing value are left out."""
    metrics = metrics_of_plane(comparison)
    columns = [comparison.values(m, name) for m in metrics for name in (aqm, over)]
    pairs = [
        (mine - theirs, busy - their_busy)
        for mine, theirs, busy, their_busy in zip(*columns, strict=True)
        if not math.isnan(mine + theirs + busy + their_busy)
    ]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def plane(comparison: ComparedRuns) -> list[Dominance]:
    """Every ordered pair of AQMs, in the order of the columns; empty for one AQM or engines."""
    if comparison not in _planes:
        _planes[comparison] = _pairs(comparison)
    return _planes[comparison]


# Cached, because a report asks for it several times.
_planes: WeakKeyDictionary[ComparedRuns, list[Dominance]] = WeakKeyDictionary()


def _pairs(comparison: ComparedRuns) -> list[Dominance]:
    if comparison.references or comparison.shaped or len(metrics_of_plane(comparison)) < 2:
        return []
    return [_dominance(comparison, aqm, over) for aqm, over in permutations(comparison.aqms, 2)]


def sentence(comparison: ComparedRuns) -> str:
    """Which AQMs surely dominate which, in one sentence; may be empty."""
    pairs = [pair for pair in plane(comparison) if not math.isnan(pair.probability)]
    if not pairs:
        return few_seeds(comparison)
    of: dict[str, list[str]] = {}
    for pair in pairs:
        if pair.is_sure:
            of.setdefault(pair.aqm, []).append(pair.over)
    if not of:
        return "In queue delay p95 and utilisation together no AQM dominates another."
    said = "; ".join(f"{aqm} dominates {', '.join(others)}" for aqm, others in of.items())
    share = f"{100 * pairs[0].confidence:.3g} % of bootstrap samples"
    return f"In queue delay p95 and utilisation together {said} ({share})."


def few_seeds(comparison: ComparedRuns) -> str:
    """A note that there are too few seeds to decide dominance; empty otherwise."""
    seeds = [pair.seeds for pair in plane(comparison)]
    return _FEW if seeds and 1 < max(seeds) < SURE_SEEDS else ""


def _directions(row: PairedDifference) -> tuple[bool, bool]:
    """Whether the metric is significantly lower, or higher, and not the same in practice."""
    found = not row.is_equivalent and row.p_adjusted < 1 - CONFIDENCE
    return found and row.test.difference.mean < 0, found and row.test.difference.mean > 0


def metrics_of_plane(comparison: ComparedRuns) -> list[Metric]:
    """Queue delay p95 and utilisation, as far as the comparison has them."""
    found = {m.metric: m for m in comparison.metrics if m.scope == "queue" and m.metric in PAIR}
    return [found[name] for name in PAIR if name in found]


@lru_cache(maxsize=1)
def _samples(n: int) -> NDArray[np.int64]:
    """Indices of seeds, shape ``(SAMPLES, n)``: the same for all pairs, so they are consistent."""
    import numpy as np

    return np.random.default_rng(0).integers(0, n, (SAMPLES, n))


def _dominance(comparison: ComparedRuns, aqm: str, over: str) -> Dominance:
    import numpy as np

    delays, shares = (np.asarray(column) for column in seed_by_seed(comparison, aqm, over))
    n = len(delays)
    if n == 0:
        return Dominance(aqm, over, math.nan, math.nan, math.nan, 0)
    means = float(delays.mean()), float(shares.mean())
    fixed = aqm in comparison.fixed and over in comparison.fixed
    if n < SURE_SEEDS or fixed:
        return Dominance(aqm, over, math.nan, *means, n)
    allowed = [
        margin(metric, float(np.nanmean(comparison.values(metric, over))))
        for metric in metrics_of_plane(comparison)
    ]
    drawn = _samples(n)
    longer, busier = delays[drawn].mean(1), shares[drawn].mean(1)
    as_good = (longer <= allowed[0]) & (busier >= -allowed[1])
    better = (longer < -allowed[0]) | (busier > allowed[1])
    probability = float((as_good & better).mean())
    return Dominance(aqm, over, probability, *means, n, comparison.looks.confidence)

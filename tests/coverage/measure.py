"""How often the intervals of a comparison cover the truth: writes docs/evidence/coverage.md.

    python tests/coverage/measure.py

Runs one small scenario with two AQMs under 6,000 seeds each, takes the mean (or the median) over
all of them as the truth, and counts how many intervals of ten seeds contain it. Runs are kept in
out/coverage in parts, so an interrupted measurement continues; delete that folder to start over.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import sequential
from numpy.typing import NDArray
from scipy import stats

from sojourn import _core
from sojourn.comparing.centres import estimate_about, estimate_of, operands_of
from sojourn.comparing.statistics import Estimate, estimate, share_estimate
from sojourn.describing.library import load
from sojourn.describing.metric_table import Centre
from sojourn.describing.metrics import row_of

Floats = NDArray[np.float64]
# Coverage in percent: with the seeds in order, and the mean over groupings.
Covered = tuple[float, float]

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
KEPT = ROOT / "out" / "coverage"
PAGE = ROOT / "docs" / "evidence" / "coverage.md"
AQMS = ("pie:ecn=true", "codel:ecn=true")
SEEDS, PART, GROUP, REGROUPINGS = 6000, 500, 10, 10
BAND = (93.0, 97.0)
# The last columns are of other methods and are not judged.
JUDGED = 3
# The shares of the table: an ordinary one, one near its bound, one that is mostly zero.
SHARES = (
    "queue/bottleneck/drop_rate", "queue/bottleneck/utilisation", "queue/bottleneck/mark_rate",
)  # fmt: skip
FEW = (3, 5, 10)
# If more seeds than this have the same value, a median's interval has no width.
MOST_ALIKE = 0.5
# Counts of packets have no interval in any table.
LEFT_OUT = {"flows"}


def main() -> None:
    """Run, count and write: about five minutes of one core, mostly for the last column."""
    values = {aqm: _runs(aqm) for aqm in AQMS}
    keys = [key for key in values[AQMS[0]] if key in values[AQMS[1]]]
    rows, alike = [], []
    for key in keys:
        scope, _, metric = key.split("/")
        if scope == "run" or metric in LEFT_OUT:
            continue
        columns = [_column(values, key, aqm) for aqm in AQMS]
        with np.errstate(invalid="ignore"):
            columns.append(columns[1] - columns[0])  # the difference of two unknowns is unknown
        if any(_commonest(column) > MOST_ALIKE for column in columns[:2]):
            alike.append(key)
            continue
        rows.append((key, _row(metric, columns)))
    shares = "\n".join(_of_shares(values))
    until = "\n".join(sequential.rows(values))
    PAGE.write_text(_page(rows, alike, shares, until), encoding="utf-8")
    outside = [key for key, cells in rows if any(map(_is_outside, cells[:JUDGED]))]
    print(f"{len(rows)} metrics; outside the band: {', '.join(outside) or 'none'}")


def _runs(aqm: str) -> dict[str, Floats]:
    """Every number of the summaries by key, one per seed; NaN if a run lacks it."""
    scenario = load(str(HERE / "scenario.toml"), {"links.bottleneck.queue": aqm})
    parts = [_part(scenario, aqm, first) for first in range(1, SEEDS + 1, PART)]
    keys = sorted(set[str]().union(*parts))
    nothing = np.full(PART, np.nan)
    return {key: np.concatenate([part.get(key, nothing) for part in parts]) for key in keys}


def _part(scenario: _core.Scenario, aqm: str, first: int) -> dict[str, Floats]:
    kept = KEPT / f"{aqm.partition(':')[0]}-{first}.npz"
    if not kept.exists():
        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda seed: _one(scenario, seed), range(first, first + PART)))
        keys = sorted(set[str]().union(*found))
        KEPT.mkdir(parents=True, exist_ok=True)
        numbers = np.array([[run.get(key, np.nan) for run in found] for key in keys])
        np.savez(kept, keys=np.array(keys), numbers=numbers)
    with np.load(kept) as part:
        return dict(zip(part["keys"].tolist(), part["numbers"], strict=True))


def _one(scenario: _core.Scenario, seed: int) -> dict[str, float]:
    return {"/".join(row[:3]): row[3] for row in _core.run(scenario.with_seed(seed)).summary()}


def _column(values: dict[str, dict[str, Floats]], key: str, aqm: str) -> Floats:
    """Infinity for unknown quantiles; runs without any number stay NaN."""
    column, above = values[aqm][key], values[aqm].get(f"{key}_above")
    return column if above is None else np.where(np.isnan(above), column, np.inf)


def _commonest(column: Floats) -> float:
    """The share of the most frequent value."""
    return float(np.unique(column, return_counts=True)[1].max() / len(column))


def _row(metric: str, columns: Sequence[Floats]) -> list[Covered]:
    """Of both AQMs, of their difference, and of the mean of the first by two other methods."""
    described = row_of(metric)
    centre = described.centre
    of_difference: Centre = "mean" if described.headline else centre
    operands = [count * operands_of(described) for count in (1, 1, 2)]
    centres: tuple[Centre, ...] = (centre, centre, of_difference)
    makers = [partial(_ends, partial(estimate_of, described))] * 2
    makers.append(partial(_ends, partial(estimate_about, of_difference, operands=operands[2])))
    judged = [
        _coverage(column, about, made)
        if about == "median" or not np.isinf(column).any()
        else _coverage_with_unknown(column, n)
        for column, about, n, made in zip(columns, centres, operands, makers, strict=True)
    ]
    others = [_coverage(columns[0], "mean", made) for made in (partial(_ends, estimate), _bca)]
    return judged + others


def _ends(made: Callable[[Sequence[float]], Estimate], groups: Floats) -> Floats:
    """The intervals of some groups, shape ``(n_groups, 2)``."""
    return np.array([(one.low, one.high) for one in map(made, groups.tolist())])


def _of_shares(values: dict[str, dict[str, Floats]]) -> Iterator[str]:
    """Coverage of intervals of the mean of a share, by number of seeds and method."""
    yield "| share | AQM | mean | seeds | t | t, below 0 or above 1 | logit |"
    yield "|---|---|---|---|---|---|---|"
    for key in SHARES:
        for aqm, of in values.items():
            column = of[key]
            column = column[: len(column) // 60 * 60]
            for n in FEW:
                t, logit = (
                    _coverage(column, "mean", partial(_ends, made), n)[1]
                    for made in (estimate, share_estimate)
                )
                ends = _ends(estimate, column.reshape(-1, n))
                beyond = 100.0 * float(np.mean((ends[:, 0] < 0.0) | (ends[:, 1] > 1.0)))
                name, mean = aqm.partition(":")[0], np.mean(column)
                yield (
                    f"| `{key}` | {name} | {mean:.3g} | {n} | {t:.1f} | {beyond:.1f} | "
                    f"{logit:.1f} |"
                )


def _bca(groups: Floats) -> Floats:
    """The bootstrap's bias-corrected and accelerated intervals of the mean."""
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        # Equal values have no such interval; it is NaN and contains nothing.
        warnings.simplefilter("ignore")
        found = stats.bootstrap((groups,), np.mean, axis=1, n_resamples=999, rng=rng)
    return np.column_stack(found.confidence_interval)


def _coverage(
    column: Floats, centre: Centre, made: Callable[[Floats], Floats], size: int = GROUP
) -> Covered:
    column = column[~np.isnan(column)]
    column = column[: len(column) // size * size]
    if centre == "mean" and not np.isfinite(column).all():
        return math.nan, math.nan
    truth = float(np.mean(column) if centre == "mean" else np.median(column))
    shares = []
    for turn in range(1 if made is _bca else REGROUPINGS):
        order = np.random.default_rng(turn).permutation(len(column)) if turn else ...
        low, high = made(column[order].reshape(-1, size)).T
        shares.append(100.0 * float(np.mean((low <= truth) & (truth <= high))))
    return shares[0], float(np.mean(shares))


def _coverage_with_unknown(column: Floats, operands: int) -> Covered:
    """The median instead of the mean, as in a comparison with an unknown value among ten."""
    column = column[~np.isnan(column)]
    column = column[: len(column) // GROUP * GROUP]
    truths = {"mean": np.mean(column[np.isfinite(column)]), "median": np.median(column)}
    shares = []
    for turn in range(REGROUPINGS):
        order = np.random.default_rng(turn).permutation(len(column)) if turn else ...
        held = []
        for group in column[order].reshape(-1, GROUP):
            about: Centre = "mean" if np.isfinite(group).all() else "median"
            found = estimate_about(about, group.tolist(), operands)
            held.append(found.low <= truths[about] <= found.high)
        shares.append(100.0 * float(np.mean(held)))
    return shares[0], float(np.mean(shares))


def _is_outside(cell: Covered) -> bool:
    """Also without a share, which judged columns must not have."""
    return not BAND[0] <= cell[1] <= BAND[1]


def _page(rows: list[tuple[str, list[Covered]]], alike: list[str], shares: str, until: str) -> str:
    outside = [key for key, cells in rows if any(map(_is_outside, cells[:JUDGED]))]
    table = [
        f"| `{key}` | {row_of(key).centre} | {' | '.join(map(_text, cells))} |"
        for key, cells in rows
    ]
    names = [aqm.partition(":")[0] for aqm in AQMS]
    others = [f"{names[0]}: mean, {method}" for method in ("t", "BCa")]
    head = ["metric", "centre", *names, "difference", *others]
    text = (HERE / "page.template").read_text(encoding="utf-8")
    return text.format(
        seeds=f"{SEEDS:,}", intervals=SEEDS // GROUP, group=GROUP, regroupings=REGROUPINGS,
        metrics=len(rows), inside=len(rows) - len(outside), low=f"{BAND[0]:g}",
        high=f"{BAND[1]:g}", alike=", ".join(f"`{key}`" for key in alike) or "none",
        first=names[0], second=names[1], shares=shares, until=until,
        outside=", ".join(f"`{key}`" for key in outside) or "none",
        table="\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *table]),
    )  # fmt: skip


def _text(cell: Covered) -> str:
    first, regrouped = cell
    if math.isnan(first):
        return "–"
    mark = "**" if _is_outside(cell) else ""
    return f"{first:.1f} ({mark}{regrouped:.1f}{mark})"


if __name__ == "__main__":
    main()

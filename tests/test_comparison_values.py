"""Comparisons of a few synthetic runs: every number and sentence against arithmetic by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from sojourn.comparing.compared_runs import run_folder
from sojourn.comparing.comparison import Comparison
from sojourn.comparing.conclusions import method, sentences
from sojourn.comparing.records import difference_record, estimate_record
from sojourn.comparing.statistics import (
    CONFIDENCE,
    Estimate,
    PairedTest,
    estimate,
    holm,
    paired,
)
from sojourn.comparing.table import SIGNS, table_rows, zero_note
from sojourn.running.result import Result

# Student's t for 95 %, two-sided, with 2 degrees of freedom.
T2 = 4.302652729911275


class FewNumbers:
    """A run with only a summary."""

    digest = "0"
    warnings: list[str] = []  # noqa: RUF012

    def __init__(self, seed: int, numbers: dict[str, float], invalid: Sequence[str] = ()) -> None:
        self._numbers, self._about = numbers, {"seed": seed, "invalid": list(invalid)}

    def summary(self) -> list[tuple[str, str, str, float, str]]:
        units = {"goodput": "bit/s", "utilisation": "1", "drop_rate": "1", "delay_p95": "s"}
        keys = ((*key.split("/"), value) for key, value in self._numbers.items())
        return [(scope, name, m, value, units[m]) for scope, name, m, value in keys]

    def manifest_json(self) -> str:
        return json.dumps(self._about)

    def table(self, name: str) -> Any:
        raise NotImplementedError(name)

    def write(self, folder: str) -> list[str]:
        raise NotImplementedError(folder)


def compared(values: dict[str, dict[str, Sequence[float | None]]], **more: Any) -> Comparison:
    """A comparison from values by AQM and key, one per seed; None if a run lacks the number."""
    scenario: Any = SimpleNamespace(name="few", links=["b"])
    seeds = range(1, 1 + len(next(iter(next(iter(values.values())).values()))))
    results = {
        aqm: [
            Result(FewNumbers(seed, known))  # type: ignore[misc]
            for i, seed in enumerate(seeds)
            for known in [{k: v[i] for k, v in of.items() if v[i] is not None}]
        ]
        for aqm, of in values.items()
    }
    return Comparison(scenario, "b", list(seeds), results, **more)


DELAY, GOODPUT, DROPS = "queue/b/delay_p95", "class/x/goodput", "queue/b/drop_rate"
THREE = {
    "slow": {DELAY: [0.100, 0.110, 0.105], GOODPUT: [9e6, 8e6, 9.4e6], DROPS: [0.0, 0.0, 0.0]},
    "fast": {DELAY: [0.010, 0.021, 0.014], GOODPUT: [9e6, 8.1e6, 9.2e6], DROPS: [0.0, 0.0, 0.0]},
}


def test_estimates_are_mean_and_interval_of_each_aqm() -> None:
    found = compared(THREE)
    rows = {(cell.metric.key, cell.aqm): cell.estimate for cell in found.cells}
    assert list(rows) == [(DELAY, "slow"), (DELAY, "fast"), (GOODPUT, "slow"), (GOODPUT, "fast")]
    slow = rows[DELAY, "slow"]
    # Deviations -5, 5 and 0 ms: s = 5 ms, half-width = t s / sqrt(3), s widened by bins of 0.11 ms.
    assert slow.mean == pytest.approx(0.105)
    assert slow.half_width == pytest.approx(T2 * math.hypot(0.005, 11e-5 / 12**0.5) / 3**0.5)
    assert slow.n == 3
    assert (slow.low, slow.high) == (slow.mean - slow.half_width, slow.mean + slow.half_width)


def test_differences_are_value_minus_baseline_seed_by_seed() -> None:
    found = compared(THREE)
    delay, goodput = found.tests
    assert (delay.metric.key, delay.aqm, delay.baseline) == (DELAY, "fast", "slow")
    # -90, -89 and -91 ms: mean -90, s = 1 ms and the bins of both, of at most 0.11 ms.
    s = math.hypot(0.001, 11e-5 / math.sqrt(6))
    assert delay.test.difference.mean == pytest.approx(-0.090)
    assert delay.test.difference.half_width == pytest.approx(T2 * s / math.sqrt(3))
    # With 2 degrees of freedom p = 1 - |t| / sqrt(t^2 + 2).
    t = 0.090 / s * math.sqrt(3)
    assert delay.test.p_value == pytest.approx(1 - t / math.sqrt(t * t + 2), rel=1e-6)
    assert delay.p_adjusted == pytest.approx(2 * delay.test.p_value)
    assert delay.verdict == "different"
    assert goodput.verdict == "same"
    assert goodput.p_adjusted == pytest.approx(max(goodput.test.p_value, delay.p_adjusted))


def test_what_is_zero_in_every_run_is_named_but_not_tested() -> None:
    found = compared(THREE)
    assert [metric.key for metric in found.zero_metrics] == [DROPS]
    assert DROPS not in {metric.key for metric in found.metrics}
    assert zero_note(found) == "Zero in every run: drop rate."
    once = {aqm: of | {DROPS: [0.0, 0.0, 0.1]} for aqm, of in THREE.items()}
    assert compared(once).zero_metrics == []
    assert zero_note(compared(once)) == ""


def test_a_number_that_a_run_lacks_is_nan_and_its_pair_is_left_out() -> None:
    values = {"a": {DELAY: [0.1, None, 0.3]}, "b": {DELAY: [0.2, 0.2, 0.5]}}
    found = compared(values)
    (metric,) = found.metrics
    assert math.isnan(found.values(metric, "a")[1])
    assert found.values(metric, "a")[::2] == [0.1, 0.3]
    (row,) = found.tests
    assert row.test.difference.n == 2
    assert row.test.difference.mean == pytest.approx(0.15)


def test_an_aqm_with_one_run_left_is_not_fixed() -> None:
    found = compared(THREE)
    found.results["slow"] = [found.results["slow"][0], None, None]
    assert found.fixed == []
    assert len(found.of("slow")) == 1


def test_the_same_runs_under_all_seeds_count_once() -> None:
    same = {"a": {DELAY: [0.1] * 3}, "b": {DELAY: [0.1, 0.2, 0.3]}}
    found = compared(same)
    assert found.fixed == ["a"]
    assert [cell.estimate.n for cell in found.cells] == [1, 3]
    # The other AQM is random, so there are three pairs.
    assert found.tests[0].test.difference.n == 3
    assert compared({"a": {DELAY: [0.1, 0.1]}, "b": {DELAY: [0.1, 0.2]}}).fixed == ["a"]


def test_invalid_runs_are_named_by_aqm_and_seed() -> None:
    found = compared(THREE)
    found.results["fast"] = [None, Result(FewNumbers(9, {}, ["it stalled", "it leaked"]))]
    assert found.invalid == ["fast, seed 9: it stalled", "fast, seed 9: it leaked"]


def test_records_of_tables_have_si_units_and_both_p_values() -> None:
    found = compared(THREE)
    cell, row = found.cells[0], found.tests[0]
    difference = row.test.difference
    assert str(estimate_record(cell)) == str({
        "metric": DELAY, "label": "queue delay p95", "unit": "s", "aqm": "slow",
        "mean": cell.estimate.mean, "centre": "mean", "low": cell.estimate.low,
        "high": cell.estimate.high, "n": 3, "unknown": 0, "above": math.nan,
    })  # fmt: skip
    assert str(difference_record(row)) == str({
        "metric": DELAY, "label": "queue delay p95", "unit": "s", "aqm": "fast",
        "baseline": "slow", "difference": difference.mean, "low": difference.low,
        "high": difference.high, "n": 3, "p_value": row.test.p_value,
        "family": "headline", "p_adjusted": row.p_adjusted, "margin": row.margin,
        "equivalent": False, "correlation": row.correlation, "tolerance": math.nan, "agrees": None,
        "verdict": "different",
    })  # fmt: skip
    assert str(found.table().to_pylist()[0]) == str(estimate_record(cell))
    assert str(found.differences().to_pylist()[0]) == str(difference_record(row))


def test_the_table_shows_values_in_their_unit_with_signs_and_notes() -> None:
    delay, goodput = table_rows(compared(THREE))
    assert (delay.label, delay.unit) == ("queue delay p95", "ms")
    assert [cell.text for cell in delay.cells] == ["105 ± 12", "15 ± 14"]
    assert [cell.sign for cell in delay.cells] == ["", "≠"]
    assert delay.cells[0].note == ""
    assert delay.cells[1].note == (
        "−90.0 ms against slow, 95 % interval −92.5 to −87.5, p < 0.001, corrected < 0.001, "
        "margin ±5.2, correlation 0.99"
    )
    assert (goodput.label, goodput.unit) == ("goodput x", "Mbit/s")
    assert [cell.verdict for cell in goodput.cells] == ["", "same"]
    assert set(SIGNS) == {"better", "worse", "different", "same", "agrees", "differs", "trade", ""}


def test_the_conclusion_has_a_sentence_for_each_aqm_with_amounts() -> None:
    assert sentences(compared(THREE)) == [
        "Against slow, fast lowers queue delay p95 by 90.0 ms (95 % interval 87.5 to 92.5); makes "
        "no practical difference to goodput x."
    ]
    swapped = {"fast": THREE["fast"], "slow": THREE["slow"]}
    (sentence,) = sentences(compared(swapped))
    assert sentence.startswith("Against fast, slow raises queue delay p95 by 90.0 ms (95 % int")


def test_shares_differ_by_points_and_three_metrics_are_joined() -> None:
    def of(delay: float, goodput: float, share: float) -> dict[str, list[float]]:
        steps = (0.0, 1e-4, -1e-4)
        return {
            DELAY: [delay + s for s in steps],
            "queue/b/utilisation": [share - s for s in steps],
            GOODPUT: [goodput + 1e7 * s for s in steps],
        }

    a, b = of(0.1, 9e6, 0.95), of(0.05, 7e6, 0.90)
    b = {key: [x + d for x, d in zip(v, (0, 1e-5, 0), strict=True)] for key, v in b.items()}
    sentence, together = sentences(compared({"a": a, "b": b}))
    assert together.startswith("Fewer than six seeds cannot say which AQM dominates another")
    assert "lowers queue delay p95 by 50.00 ms" in sentence
    assert "(95 % interval 49.89 to 50.10), utilisation by 5.000 points (95 % interval" in sentence
    assert ") and goodput x by 2.0000 Mbit/s (" in sentence
    assert "raises" not in sentence and "no significant" not in sentence


def test_without_two_seeds_or_two_aqms_the_only_sentence_is_the_reason() -> None:
    one = {aqm: {key: v[:1] for key, v in of.items()} for aqm, of in THREE.items()}
    assert sentences(compared(one)) == [
        "With one seed there are no intervals and no tests; use at least two, better ten."
    ]
    assert sentences(compared({"slow": THREE["slow"]})) == []


def test_fixed_aqms_are_named_and_left_out_only_where_the_baseline_is_fixed_too() -> None:
    varied, same = {DELAY: [0.1, 0.2, 0.3]}, {DELAY: [0.1, 0.1, 0.1]}
    both = sentences(compared({"a": same, "b": dict(same), "c": varied}))
    assert both[0].startswith("Every seed gives the same run with a and b: nothing that they meet")
    assert [s.split(" ")[2] for s in both[1:]] == ["c"]
    other = sentences(compared({"c": varied, "a": same}))
    assert other[0].startswith("Every seed gives the same run with a: ")
    assert other[1].startswith("Against c, a ")


def test_the_method_counts_seeds_and_tests_made() -> None:
    means, tests, others = method(compared(THREE))
    assert means.startswith("Each value is the mean over 3 seeds")
    assert "Holm's correction at 5 % over the 2 tests of the headline metrics" in tests
    assert "docs/how-to/comparing-honestly.md" in others
    one = {aqm: {key: v[:1] for key, v in of.items()} for aqm, of in THREE.items()}
    (text,) = method(compared(one))
    assert text == "Values are those of one seed: intervals and tests need two seeds or more."


def test_folders_of_aqms_that_look_alike_differ() -> None:
    aqms = ["pie:a=1", "pie/a=1", "pie(a=1)", "codel on linux"]
    folders = [run_folder(aqm, 4).as_posix() for aqm in aqms]
    assert folders == [
        "runs/contender=pie%3Aa%3D1/replica=4", "runs/contender=pie%2Fa%3D1/replica=4",
        "runs/contender=pie%28a%3D1%29/replica=4", "runs/contender=codel%20on%20linux/replica=4",
    ]  # fmt: skip


# Edge cases of statistics.


def test_the_confidence_is_95_percent() -> None:
    assert CONFIDENCE == 0.95


def test_two_values_have_an_interval_of_student_s_t_with_one_degree() -> None:
    found = estimate([1.0, 2.0])
    # t(0.975, 1) = tan(0.475 pi); s / sqrt(2) = 0.5.
    assert found.half_width == pytest.approx(0.5 * math.tan(0.475 * math.pi))
    assert (found.mean, found.n) == (1.5, 2)


def test_no_value_gives_nan_and_one_value_no_interval() -> None:
    assert estimate([]).n == 0 and math.isnan(estimate([]).half_width)
    one = estimate([2.5, math.nan])
    assert (one.mean, one.n) == (2.5, 1) and math.isnan(one.half_width)


def test_two_pairs_are_the_least_that_can_be_tested() -> None:
    # Differences 1 and 2: t = 3 with one degree, p = 1 - 2 atan(t) / pi.
    found = paired([2.0, 4.0], [1.0, 2.0])
    assert found.p_value == pytest.approx(1 - 2 * math.atan(3.0) / math.pi)
    assert math.isnan(paired([1.0, math.nan], [0.0, 0.0]).p_value)
    assert paired([0.0, 0.0], [1.0, 1.0]) == PairedTest(Estimate(-1.0, 0.0, 2), 0.5)


def test_the_p_value_has_two_sides() -> None:
    up, down = paired([1.0, 3.0], [0.0, 0.0]), paired([-1.0, -3.0], [0.0, 0.0])
    assert up.p_value == down.p_value < 1.0


def test_holm_multiplies_by_the_tests_that_are_left_and_stops_at_one() -> None:
    assert holm([0.2, 0.2, 0.2]) == pytest.approx([0.6, 0.6, 0.6])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([0.04]) == [0.04]
    assert holm([]) == []
    # A later p-value never falls below an earlier one: 0.01 * 3, then 0.011 * 2, then 0.5.
    assert holm([0.5, 0.011, 0.01]) == pytest.approx([0.5, 0.03, 0.03])

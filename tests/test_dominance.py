"""Delay and utilisation judged together, and unknown numbers, against arithmetic by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from sojourn.comparing import dominance
from sojourn.comparing.comparison import Comparison
from sojourn.comparing.conclusions import method, sentences
from sojourn.comparing.dominance import plane
from sojourn.comparing.table import dominance_table, show_p, table_rows
from sojourn.comparing.verdict import verdict
from sojourn.running.result import Result

DELAY, SHARE = "queue/b/delay_p95", "queue/b/utilisation"
COMPLETION = "class/x/completion_p95"
STEPS = (0.0, 1e-4, -1e-4, 2e-4, -2e-4, 3e-4, -3e-4, 1.5e-4)


class Numbers:
    """A run with only a summary."""

    digest = "0"
    warnings: list[str] = []  # noqa: RUF012

    def __init__(self, numbers: dict[str, float]) -> None:
        self._numbers = numbers

    def summary(self) -> list[tuple[str, str, str, float, str]]:
        units = {"utilisation": "1"}
        keys = ((*key.split("/"), value) for key, value in self._numbers.items())
        return [(scope, name, m, value, units.get(m, "s")) for scope, name, m, value in keys]

    def manifest_json(self) -> str:
        return json.dumps({"seed": 1})

    def table(self, name: str) -> Any:
        raise NotImplementedError(name)

    def write(self, folder: str) -> list[str]:
        raise NotImplementedError(folder)


def compared(runs: dict[str, Sequence[dict[str, float]]]) -> Comparison:
    scenario: Any = SimpleNamespace(name="few", links=["b"])
    results = {aqm: [Result(Numbers(run)) for run in of] for aqm, of in runs.items()}
    seeds = range(1, 1 + len(next(iter(results.values()))))
    return Comparison(scenario, "b", list(seeds), results)


def points(**of: tuple[float, float]) -> Comparison:
    """AQMs around a delay in seconds and a utilisation, eight seeds each."""
    return compared({
        aqm: [{DELAY: delay + step, SHARE: share - step * (i % 3)} for i, step in enumerate(STEPS)]
        for aqm, (delay, share) in of.items()
    })  # fmt: skip


@pytest.mark.parametrize(
    ("delay", "share", "verdict"),
    [
        (0.050, 0.95, "better"), (0.200, 0.95, "worse"), (0.100, 0.99, "better"),
        (0.100, 0.90, "worse"), (0.050, 0.90, "trade"), (0.200, 0.99, "trade"),
        (0.100, 0.951, "same"), (0.050, 0.99, "better"), (0.050, 0.945, "better"),
    ],
)  # fmt: skip
def test_an_idle_link_earns_no_prize_for_its_delay(
    delay: float, share: float, verdict: str
) -> None:
    found = points(base=(0.100, 0.95), other=(delay, share))
    (row, *_) = table_rows(found)
    assert row.label == "delay p95 at utilisation" and row.headline
    assert [cell.verdict for cell in row.cells] == ["", verdict]


def test_the_row_shows_both_numbers_and_says_what_the_sign_means() -> None:
    (row, *_) = table_rows(points(base=(0.100, 0.95), other=(0.050, 0.90)))
    assert (row.unit, row.cells[0].note) == ("ms", "")
    assert row.cells[1].text == "50.02 at 89.99 %"
    assert row.cells[1].note == "against base: a trade: better in one, worse in the other"


def test_the_plane_has_every_ordered_pair_with_the_share_of_samples_that_agree() -> None:
    found = points(base=(0.100, 0.95), fast=(0.050, 0.95), idle=(0.010, 0.80))
    of = {(pair.aqm, pair.over): pair for pair in plane(found)}
    assert len(of) == 6
    assert of["fast", "base"].probability == 1.0 and of["fast", "base"].is_sure
    assert of["base", "fast"].probability == 0.0
    assert of["idle", "fast"].probability == of["fast", "idle"].probability == 0.0
    assert of["fast", "base"].delay == pytest.approx(-0.050)
    assert of["idle", "base"].utilisation == pytest.approx(-0.15)
    assert dominance.sentence(found) == (
        "In queue delay p95 and utilisation together fast dominates base "
        "(95 % of bootstrap samples)."
    )
    rows = dominance_table(found)
    assert [cell.text for cell in rows[1].cells] == ["100 %", "", "0 %"]
    assert sentences(found)[-1] == dominance.sentence(found)


def test_the_plane_of_a_comparison_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = points(base=(0.100, 0.95), fast=(0.050, 0.95))
    first = plane(found)
    monkeypatch.setattr(dominance, "_dominance", None)
    assert plane(found) == first
    assert dominance_table(found)


def test_what_the_seeds_do_not_settle_has_a_probability_between() -> None:
    # Six of eight seeds are 20 ms faster, two 60 ms slower, so the mean difference is 0.
    base = [{DELAY: 0.1 + step, SHARE: 0.95} for step in STEPS]
    steps = (-0.020,) * 6 + (0.060,) * 2
    other = [{DELAY: 0.1 + step, SHARE: 0.95} for step in steps]
    (first, second) = plane(compared({"base": base, "other": other}))
    assert 0.1 < first.probability < 0.9 and 0.1 < second.probability < 0.9
    assert first.probability + second.probability < 1.0


def test_five_unanimous_seeds_are_not_sure_and_six_are() -> None:
    """Probability that all differences have one sign by chance: 1/16 and 1/32."""
    for seeds, is_sure in ((5, False), (6, True)):
        base = [{DELAY: 0.1 + step, SHARE: 0.95} for step in STEPS[:seeds]]
        other = [{DELAY: 0.05 + step, SHARE: 0.95} for step in STEPS[:seeds]]
        found = compared({"base": base, "other": other})
        (_, pair) = plane(found)
        assert pair.is_sure == is_sure
        assert math.isnan(pair.probability) != is_sure
        assert ("other dominates base" in dominance.sentence(found)) == is_sure
        assert ("six seeds" in dominance.sentence(found)) != is_sure
        shown = [row.cells[0].verdict for row in dominance_table(found)]
        assert shown == (["", "better"] if is_sure else [])
        assert bool(dominance.few_seeds(found)) != is_sure


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"fast": (0.050, 0.95), "idle": (0.010, 0.80)},
         "fast beats base: queue delay p95 50.02 ms instead of 100.0 ms, at 94.99 % utilisation "
         "instead of 94.99 %; idle trades utilisation for less delay."),
        ({"a": (0.050, 0.90), "b": (0.020, 0.90)},
         "No AQM is shown to beat base; b and a trade utilisation for less delay, b most: queue "
         "delay p95 20.02 ms instead of 100.0 ms, at 89.99 % utilisation instead of 94.99 %."),
        ({"busy": (0.200, 0.99)},
         "No AQM is shown to beat base; busy trades delay for more utilisation: queue delay p95 "
         "200.0 ms instead of 100.0 ms, at 98.99 % utilisation instead of 94.99 %."),
        ({"slow": (0.200, 0.95), "same": (0.100, 0.951)},
         "No AQM is shown to beat base; base has the lowest delay too: queue delay p95 100.0 ms "
         "at 94.99 % utilisation; slow is worse; same makes no practical difference."),
    ],
)  # fmt: skip
def test_the_verdict_is_one_sentence_about_delay_and_utilisation(
    others: dict[str, tuple[float, float]], said: str
) -> None:
    assert verdict(points(base=(0.100, 0.95), **others)) == said


def test_without_seeds_or_anything_to_compare_the_verdict_says_so() -> None:
    one = compared({"a": [{DELAY: 0.1, SHARE: 0.9}], "b": [{DELAY: 0.05, SHARE: 0.8}]})
    assert verdict(one).startswith("One seed is an example and no evidence; in this run b has the")
    alone = verdict(points(a=(0.1, 0.9)))
    assert alone == (
        "a alone, with nothing to compare it with: queue delay p95 100.0 ms at 89.99 % utilisation."
    )
    assert verdict(compared({"a": [{}, {}], "b": [{}, {}]})).startswith("No run has both")


def test_one_seed_gives_points_and_no_probability() -> None:
    one = compared({"a": [{DELAY: 0.1, SHARE: 0.9}], "b": [{DELAY: 0.2, SHARE: 0.9}]})
    assert all(math.isnan(pair.probability) for pair in plane(one))
    assert dominance_table(one) == [] and dominance.sentence(one) == ""


def completions(known: Sequence[float], bounds: Sequence[float]) -> list[dict[str, float]]:
    """Runs whose p95 is known, then runs with only a bound."""
    return [{COMPLETION: t} for t in known] + [{f"{COMPLETION}_above": t} for t in bounds]


TIMES = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7]


def test_a_completion_time_that_some_seeds_do_not_know_is_a_median_with_an_open_end() -> None:
    found = compared({"a": completions(TIMES, []), "b": completions(TIMES[:5], [9.0] * 3)})
    cell = found.cells[1]
    assert (cell.unknown, cell.estimate.mean, cell.estimate.high) == (3, 1.35, math.inf)
    (row,) = table_rows(found)
    assert row.cells[1].text.startswith("1.35 (1.0") and row.cells[1].text.endswith("–∞)")
    assert "completion p95 x under b in 3 of 8 seeds" in method(found)[-1]
    assert found.table().to_pylist()[1]["unknown"] == 3


def test_a_completion_time_that_most_seeds_do_not_know_is_shown_as_a_bound() -> None:
    found = compared({"a": completions(TIMES, []), "b": completions([1.0], [9.0] * 7)})
    (row,) = table_rows(found)
    assert row.cells[1].text == "> 9.00"
    # One seed has no difference, seven have times longer by an unknown amount.
    (test,) = found.tests
    assert test.test.p_value == 2**-6 and test.verdict == "worse"
    assert row.cells[1].note == (
        "against a: no amount and no interval is known; sign test over 8 seeds, p 0.016, "
        "corrected 0.016"
    )
    assert "completion p95 x (by an amount that is not known)" in sentences(found)[0]


def test_seeds_in_which_even_the_sign_is_not_known_are_left_out() -> None:
    # In the last seed both are unknown; in the seed before, the bound is below the other value.
    found = compared({
        "a": completions([*TIMES[:6], 9.5], [8.0]), "b": completions(TIMES[:6], [9.0, 9.0]),
    })  # fmt: skip
    (row,) = found.tests
    assert row.test.difference.n == 6
    assert row.test.p_value == 1.0


def test_p_values_are_printed_with_a_floor() -> None:
    assert [show_p(p) for p in (0.5, 0.031, 0.001, 0.00099, 1e-300)] == [
        "0.5", "0.031", "0.001", "< 0.001", "< 0.001",
    ]  # fmt: skip


def test_an_aqm_that_sent_nothing_has_no_delay_and_is_never_the_lowest():
    some = [{DELAY: 0.02 + step, SHARE: 0.9 - step} for step in STEPS]
    none = [{SHARE: 0.0} for _ in STEPS]
    found = verdict(compared({"none": none, "some": some}))
    assert found == "No verdict: none sent no packet that counts, so has no queue delay."
    found = verdict(compared({"some": some, "none": none, "more": [
        {DELAY: 0.02 + 2 * step, SHARE: 0.9 + step} for step in STEPS
    ]}))  # fmt: skip
    assert "some has the lowest delay" in found or "more has the lowest delay" in found
    assert "none sent no packet that counts" in found and "– ms" not in found


def test_a_contender_without_a_tested_metric_gets_no_sentence():
    runs = compared({aqm: [{"queue/b/drop_rate": 1.0}, {"queue/b/drop_rate": 0.9}] for aqm in "xy"})
    assert sentences(runs) == []


def test_runs_whose_every_metric_is_zero_are_runs_that_gave_a_result(capsys):
    from sojourn.cli.console import stdout_console
    from sojourn.cli.tables import print_comparison

    idle = compared({aqm: [{SHARE: 0.0}, {SHARE: 0.0}] for aqm in "xy"})
    idle.scenario.resolved_json = lambda: "{}"
    print_comparison(idle, stdout_console())
    out = capsys.readouterr().out
    assert "Zero in every run: utilisation." in out and "no run gave a result" not in out

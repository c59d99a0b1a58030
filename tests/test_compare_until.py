"""Comparisons that add seeds until they are decided: error rates, races, words and bad input."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sojourn.comparing.comparison import Comparison
from sojourn.comparing.contenders import head
from sojourn.comparing.looks import Looks
from sojourn.comparing.stopping import StoppingRule, from_facts
from sojourn.comparing.until import add_seeds, read_until
from sojourn.errors import InputError
from sojourn.running.result import Result
from sojourn.study.until import planned_looks, pocock_level

DELAY, SHARE, GOODPUT = "queue/b/delay_p95", "queue/b/utilisation", "class/bulk/goodput"
UNITS = {"delay_p95": "s", "utilisation": "1", "goodput": "bit/s"}
Values = Mapping[str, Mapping[str, NDArray[np.float64]]]


class Numbers:
    """A run with only a summary."""

    digest = "0"
    warnings: list[str] = []  # noqa: RUF012

    def __init__(self, numbers: Mapping[str, float]) -> None:
        self._numbers = numbers

    def summary(self) -> list[tuple[str, str, str, float, str]]:
        rows = ((*key.split("/"), value) for key, value in self._numbers.items())
        return [(scope, name, metric, value, UNITS[metric]) for scope, name, metric, value in rows]

    def manifest_json(self) -> str:
        return "{}"


def compare_values(rule: StoppingRule, values: Values) -> Comparison:
    """A comparison whose runs have these values, by AQM and key, one per seed."""
    scenario: Any = SimpleNamespace(
        name="few", links=["b"], resolved_json=lambda: '{"links": [{"name": "b"}], "flows": []}'
    )
    cells = [(aqm, seed) for seed in range(1, rule.max_seeds + 1) for aqm in values]

    def one(aqm: str, seed: int) -> Result:
        numbers = {key: float(column[seed - 1]) for key, column in values[aqm].items()}
        return Result(Numbers(numbers))  # type: ignore[arg-type]

    def compared(seeds: Sequence[int], outcomes: Any, rule: StoppingRule) -> Comparison:
        results = {aqm: [outcomes.get((aqm, seed)) for seed in seeds] for aqm in values}
        return Comparison(scenario, "b", seeds, results, until=rule)

    return add_seeds(rule, cells, lambda made: {cell: one(*cell) for cell in made}, compared)


def draw(rng: np.random.Generator, delay: float = 0.02, spread: float = 0.004, n: int = 60) -> Any:
    """Values of an AQM; `spread` is the standard deviation of delays in seconds."""
    return {
        DELAY: rng.normal(delay, spread, n), SHARE: rng.normal(0.9, 0.003, n),
        GOODPUT: rng.normal(9e6, 1e5, n),
    }  # fmt: skip


def false_verdicts(rule: StoppingRule, studies: int) -> float:
    """The share of comparisons of equal AQMs in which some verdict says that they differ."""
    rng = np.random.default_rng(11)
    wrong = 0
    for _ in range(studies):
        # One metric, because with more the comparison would go on after a false verdict; a spread
        # so wide that equivalence is not shown either.
        pair = {aqm: {DELAY: draw(rng, 0.1, 0.04)[DELAY]} for aqm in ("pie", "codel")}
        (row,) = compare_values(rule, pair).tests
        wrong += row.verdict not in ("", "same")
    return wrong / studies


@pytest.mark.slow
@pytest.mark.parametrize("race", [False, True])
def test_equal_aqms_differ_in_at_most_one_comparison_of_twenty(race):
    # With a true share of 5 %, 300 comparisons show more than 9 % once in a thousand times.
    assert false_verdicts(StoppingRule("decided", 60, race), 300) <= 0.09


@pytest.mark.slow
def test_without_planned_looks_more_comparisons_would_err(monkeypatch):
    monkeypatch.setattr(Looks, "p_value", lambda _, p: p)
    assert false_verdicts(StoppingRule("decided", 60), 300) > 0.12


def test_levels_and_p_values_are_those_of_pocock_and_of_one_look_without_a_rule():
    looks = Looks(planned_looks(60))
    assert looks.counts == (8, 12, 18, 27, 41, 60)
    level = pocock_level(looks.counts, 0.05)
    assert looks.confidence == 1.0 - level
    assert looks.p_value(level) == pytest.approx(0.05, rel=1e-3)
    assert looks.p_value(1e-12) == pytest.approx(6e-12)
    assert looks.one_sided == pytest.approx(pocock_level(looks.counts, 0.10) / 2)
    alone = Looks()
    assert (alone.confidence, alone.one_sided, alone.p_value(0.03)) == (0.95, 0.05, 0.03)


def test_seeds_end_with_the_first_look_that_decides_and_intervals_are_wider():
    rng = np.random.default_rng(5)
    values = {"pie": draw(rng), "codel": draw(rng, delay=0.006)}
    found = compare_values(StoppingRule("decided", 60), values)
    assert len(found.seeds) == 8 or found.until.open == 0
    assert all(row.verdict for row in found.tests)
    fixed = Comparison(found.scenario, "b", found.seeds, found.results)
    for ours, theirs in zip(found.tests, fixed.tests, strict=True):
        assert ours.test.difference.mean == theirs.test.difference.mean
        assert ours.test.difference.half_width > 1.2 * theirs.test.difference.half_width
        assert ours.test.p_value > theirs.test.p_value


def test_a_share_asks_for_the_width_of_intervals_not_for_a_verdict():
    rng = np.random.default_rng(5)
    values = {"pie": draw(rng), "codel": draw(rng, delay=0.06)}
    found = compare_values(StoppingRule("5%", 60), values)
    assert found.until.open == 0
    (delay,) = [row for row in found.tests if row.metric.metric == "delay_p95"]
    larger = found.estimate(delay.metric, "codel").mean
    assert 0.02 * larger < delay.test.difference.half_width <= 0.05 * larger


@pytest.fixture
def race():
    """An AQM equal to the first, one that loses, and one that hardly differs from the first."""
    rng = np.random.default_rng(8)
    pie = draw(rng)
    values = {
        "pie": pie, "madpie": {key: column * 1.001 for key, column in pie.items()},
        "taildrop": draw(rng, 0.2) | {GOODPUT: rng.normal(9e6, 5e6, 60)},
        "pi2": draw(rng, 0.0187, 0.006),
    }  # fmt: skip
    return values, compare_values(StoppingRule("decided", 60, True), values)


def test_a_race_says_who_stopped_when_and_why(race):
    _, found = race
    by_aqm = {one.aqm: one for one in found.until.stopped}
    assert by_aqm["madpie"].seeds == by_aqm["taildrop"].seeds == 8
    assert by_aqm["madpie"].why == "each of its headline differences is known"
    why = "pie beats it, with 1 headline difference open"
    assert by_aqm["taildrop"].why == why
    assert len(found.of("taildrop")) == 8 < len(found.of("pi2"))
    assert len(found.of("pie")) == len(found.seeds)
    text = " ".join(head(found))
    assert f"taildrop stopped after 8 seeds: {why}." in text
    assert f"{len(found.seeds)} of at most 60" in text


def test_a_race_leaves_the_numbers_of_those_that_ran_on_as_they_are(race):
    values, found = race
    whole = compare_values(StoppingRule("decided", 60), values)
    seeds = min(len(found.seeds), len(whole.seeds))
    for aqm in ("pie", "pi2"):
        ours = [run.summary for run in found.of(aqm)[:seeds]]
        assert ours == [run.summary for run in whole.of(aqm)[:seeds]]
    (row,) = [row for row in found.tests if (row.aqm, row.metric.metric) == ("pi2", "delay_p95")]
    n = len(found.of("pi2"))
    differences = values["pi2"][DELAY][:n] - values["pie"][DELAY][:n]
    assert row.test.difference.n == n
    assert row.test.difference.mean == pytest.approx(differences.mean())


def test_what_a_race_decided_stays_decided_when_others_go_on(race):
    _, found = race
    known = {one.aqm for one in found.until.stopped if "is known" in one.why}
    assert known
    assert all(row.verdict for row in found.tests if row.aqm in known and row.headline)


def test_the_rule_is_read_back_from_its_facts(race):
    _, found = race
    facts = json.loads(json.dumps(found.until.facts()))
    assert from_facts(facts) == found.until
    assert facts["looks"] == [8, 12, 18, 27, 41, 60]
    assert from_facts(None) is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("5ms", None, False), "until 5ms: write a share such as 5%, or `decided`"),
        (("", None, False), "until : write a share such as 5%, or `decided`"),
        (("x%", None, False), "until x%: write a share"),
        (("0%", None, False), "until 0%: is not above 0 and below 100%"),
        (("-3%", None, False), "until -3%: is not above 0 and below 100%"),
        (("5ms%", None, False), "until 5ms%: is not above 0"),
        (("nan%", None, False), "until nan%: "),
        (("100%", None, False), "until 100%: is not above 0 and below 100%"),
        (("decided", 1, False), "max_seeds: 1 is below 2; an interval needs at least 2 seeds"),
        ((None, 9, False), 'max_seeds: belongs to a rule of when to stop; add `until="decided"`'),
        ((None, None, True), 'race: belongs to a rule of when to stop; add `until="decided"`'),
    ],
)
def test_a_rule_that_cannot_be_is_refused_with_the_remedy(given, said):
    with pytest.raises(InputError, match=": ") as error:
        read_until(*given)
    assert str(error.value).startswith(said)


def test_the_command_says_how_many_seeds_it_ran_and_json_has_the_rule(command):
    words = ["compare", "small.toml", "--aqm", "taildrop,codel", "--until", "decided", "--race"]
    words += ["--max-seeds", "8", "--set", "duration=500ms", "--out", "out"]
    done = command(*words)
    assert "of at most 8, after look 1 of the 1 planned" in " ".join(done.stdout.split())
    facts = json.loads((command.folder / "out" / "comparison.json").read_text())
    assert facts["until"]["text"] == "decided"
    assert facts["until"]["max_seeds"] == 8
    again = Comparison.open(command.folder / "out")
    assert again.until == from_facts(facts["until"])
    assert again.seeds == facts["seeds"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--seeds", "3"], "seeds: --until finds their number, and --max-seeds bounds it"),
        (
            ["--engine", "sim,linux"],
            "--until: compares AQMs on one engine; for several give --seeds",
        ),
    ],
)
def test_the_command_refuses_what_has_no_meaning_with_a_rule(command, more, said):
    done = command("compare", "small.toml", "--aqm", "codel,pie", "--until", "decided", *more)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr


def test_one_aqm_has_no_difference_to_decide(command):
    done = command("compare", "small.toml", "--aqm", "codel", "--until", "5%")
    assert done.returncode == 2
    assert "--until: differences need at least two AQMs; name another in --aqm" in done.stderr

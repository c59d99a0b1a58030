"""`tune`: goals as text, the points of the search, and the judgement of the result."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import pytest

import sojourn
from sojourn.errors import InputError
from sojourn.search import tune_report
from sojourn.search.goals import read_goal
from sojourn.search.tune_file import FIRST_HELD_OUT, parse_tune, read_tune
from sojourn.search.tuning import Tried, _choice, _leaders, tune

SHORT = {"duration": "2s", "warmup": "1s"}
SEARCH = {
    "name": "small", "aqm": "codel@linux", "trials": 9, "seeds": 4, "held_out_seeds": 3,
    "goal": "minimise delay_p95 subject to utilisation >= 0.5",
    "scenarios": [{"scenario": "dumbbell-reno", "set": SHORT}],
    "held_out": [{"scenario": "dumbbell-cubic", "set": SHORT}],
    "parameters": [{"name": "target", "from": "1ms", "to": "50ms", "scale": "log"}],
}  # fmt: skip


def search(store, report=pytest.fail, **more):
    pytest.importorskip("optuna")
    found = parse_tune(SEARCH | more)
    return tune(found, str(store), executor=ThreadPoolExecutor(2), report=report)


def test_a_goal_is_read_with_the_units_of_scenarios():
    goal = read_goal("minimise delay_p95 and maximise class/bulk/goodput subject to "
                     "utilisation >= 0.9 and delay_p99 <= 40ms", "wan")  # fmt: skip
    assert [(aim.metric, aim.is_least) for aim in goal.aims] == [
        ("queue/wan/delay_p95", True), ("class/bulk/goodput", False),
    ]  # fmt: skip
    busy, late = goal.conditions
    assert (busy.metric, busy.bound, busy.is_most) == ("queue/wan/utilisation", 0.9, False)
    assert (late.bound, late.is_most) == (0.04, True)
    assert busy.excess(0.45) == pytest.approx(0.5)
    assert late.excess(0.02) == pytest.approx(-0.5)
    assert goal.aims[1].loss(2.0, 1.0) == -math.log(2.0)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"goal": "delay_p95"}, "names no aim; write it as"),
        ({"goal": "minimise delay_p95 subject to utilisation"}, "is not a condition such as"),
        ({"goal": "minimise delay_p95 subject to delay_p99 <= 4 parsecs"}, "is not a condition"),
        ({"goal": "minimise a and minimise b and minimise c"}, "has 3 aims"),
        ({"goal": "minimise delay_p95 subject to utilisation >= 2ms"}, "not in that unit; write s"),
        ({"goal": "minimise delay_p95 subject to delay_p99 <= 2"}, "not in that unit; write such"),
        ({"goal": "minimise delay_p95 subject to utilisation >= 95"}, "at most 1; write 95 % as"),
        ({"aqm": "codel:target=9ms"}, "parameters.target: codel:target=9ms sets it as well"),
        ({"parameters": [{"name": "tagret", "values": [1, 2]}]}, "did you mean `target`"),
        ({"parameters": [{"name": "target", "values": ["5ms"]}]}, "nothing to choose from"),
        ({"parameters": []}, "at least one"),
        ({"held_out": SEARCH["scenarios"]}, "the search has seen it"),
        ({"scenarios": ["dumbell-reno"]}, "did you mean `dumbbell-reno`"),
        ({"seeds": 1}, "needs at least 2"),
        ({"aqm": "codle"}, "unknown AQM `codle`"),
        ({"trails": 3}, "did you mean `trials`"),
    ],
)
def test_what_is_wrong_with_a_search_is_said_before_it_runs(more, message):
    with pytest.raises(InputError, match=message):
        parse_tune(SEARCH | more)


def test_the_shipped_search_is_legal_and_an_unknown_one_is_named():
    assert read_tune("tune-pie").trials == 64
    with pytest.raises(InputError, match="did you mean `tune-pie`"):
        read_tune("tune-pei")


@pytest.mark.slow
def test_a_search_finds_less_delay_and_is_judged_by_runs_that_it_has_not_seen(tmp_path):
    found = search(tmp_path)
    assert len(found.tried) == 9
    best = found.judged[0]
    assert best.role == "best"
    assert best.tried.loss == min(one.loss for one in found.tried if not one.is_stopped)
    overall = best.overall["queue/bottleneck/delay_p95"]
    assert (overall.n, overall.low <= overall.mean <= overall.high) == (3, True)
    (place,) = best.places
    assert place.scenario.startswith("dumbbell-cubic")
    kept = sojourn.study.storage.StudyStore(sojourn.study.folder.open_folder(tmp_path), pytest.fail)
    seeds = {seed for rows in kept.tables() for seed in rows["seed"].to_pylist()}
    assert seeds == {1, 2, 3, 4, *(FIRST_HELD_OUT + i for i in range(3))}
    line = tune_report.tc_line(found, best.tried.text)
    assert line.startswith("tc qdisc replace dev DEV root codel target ")
    assert "limit" not in line
    again = search(tmp_path)
    assert again.runs == 0
    assert again.judged == found.judged
    with pytest.raises(InputError, match="holds the runs of a search, `small`"):
        sojourn.study.open_results(tmp_path)


@pytest.mark.slow
def test_a_condition_that_nothing_meets_gives_no_result_and_says_so(tmp_path):
    goal = "minimise delay_p95 subject to delay_p95 <= 1ns"
    found = search(tmp_path, goal=goal, trials=3)
    assert found.judged == []
    assert all(one.is_stopped for one in found.tried)
    assert any("no setting keeps" in line for line in tune_report.lines(found))


def test_a_metric_that_the_scenario_does_not_have_is_refused_by_its_name(tmp_path):
    with pytest.raises(InputError, match="delay_p59` in every run; did you mean `queue"):
        search(tmp_path, goal="minimise delay_p59")


def test_warnings_of_a_scenario_are_reported_with_its_name(tmp_path):
    short = {"scenario": "dumbbell-cubic", "set": {"links.bottleneck.buffer": "3p"}}
    said = []
    with pytest.raises(InputError, match="delay_p59"):  # nothing more is run
        search(tmp_path, said.append, goal="minimise delay_p59", held_out=[short])
    (text,) = said
    assert text.startswith("dumbbell-cubic links.bottleneck.buffer=3p: links.bottleneck.queue")


def tried(text: str, *losses: float, excess: float = 0.0) -> Tried:
    return Tried(text, {}, [[[loss] for loss in losses]], [[excess]])


def test_the_robust_choice_is_the_least_bad_in_its_worst_scenario():
    even, uneven = tried("even", -0.2, -0.3), tried("uneven", -1.0, 0.1)
    illegal = tried("illegal", -5.0, -5.0, excess=0.1)
    assert [(role, one.text) for role, one in _choice([even, uneven, illegal])] == [
        ("best", "uneven"), ("robust", "even"),
    ]  # fmt: skip


def test_the_front_has_what_no_other_beats_in_both_aims():
    def of(text: str, one: float, two: float) -> Tried:
        return Tried(text, {}, [[[one]], [[two]]], [])

    found = _leaders([of("a", -1.0, 1.0), of("b", 1.0, -1.0), of("c", 1.0, 1.0)])
    assert [one.text for one in found] == ["a", "b"]

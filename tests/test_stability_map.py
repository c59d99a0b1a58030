"""Predicted against observed: the measures, the map, the links from points to their series."""

import json
import re

import numpy as np
import pytest

from sojourn import InputError
from sojourn.stability.study.map import make_map, verdicts
from sojourn.stability.study.observation import _peak, scenario_of

PIE = "pie@paper2013"


@pytest.fixture(scope="module")
def observed():
    made = make_map(PIE, [0.03, 0.3], [10e6], [5, 20])
    return made.observe(per_axis=2, duration_s=24.0)


def test_a_limit_cycle_fills_one_peak_and_noise_many():
    t = np.arange(4000) * 0.01
    noise = np.random.default_rng(1).normal(size=len(t))
    share, frequency = _peak(np.sin(5.0 * t) + 0.1 * noise)
    assert share > 0.9
    assert frequency == pytest.approx(5.0, abs=0.4)
    assert _peak(noise)[0] < 0.05
    assert _peak(np.ones(500))[0] == 0.0


def test_the_scenario_is_the_operating_point():
    made = scenario_of("pie@linux:target=5ms", 0.08, 12.5e6, 7, cc="cubic", seed=5)
    words = json.loads(made.resolved_json())
    (link,), (flows,) = words["links"], words["flows"]
    assert (link["rate"], words["seed"], flows["count"]) == ("12.5mbit", 5, 7)
    assert (flows["rtt"], flows["app"]["tcp"]["cc"]) == ("80ms", "cubic")
    assert link["queue"]["settings"]["target"] == "5ms"


def test_the_simulator_swings_where_theory_says(observed):
    """Few long flows have a negative margin, short paths a positive one, and the runs differ."""
    by_margin = sorted(observed.observed, key=lambda point: point.phase_margin_deg)
    worst, best = by_margin[0], by_margin[-1]
    assert worst.phase_margin_deg < 0 < best.phase_margin_deg
    assert worst.observation.variation > 2 * best.observation.variation
    assert best.observation.delay_mean_s == pytest.approx(best.delay_s, rel=0.3)


def test_a_point_is_one_call_from_its_series(observed):
    point = make_map(PIE, [0.03], [10e6], [5]).point(0.03, 5)
    seen = point.run(duration_s=6.0)
    assert seen.t_s.shape == seen.delay_s.shape
    assert seen.t_s[-1] == pytest.approx(6.0, abs=0.02)
    assert seen.result.summary["queue/bottleneck/utilisation"] == seen.utilisation
    assert str(point) == "30 ms, 10 Mbit/s, 5 flows"


@pytest.mark.slow
def test_every_observed_dot_links_to_its_series(observed, tmp_path):
    written = {path.name for path in observed.save(tmp_path)}
    assert written == {"map.svg", "map.png", "map.html", "map.json"} | {
        f"point-{i}.svg" for i in (1, 2, 3, 4)
    }
    page = (tmp_path / "map.html").read_text()
    for i in (1, 2, 3, 4):
        assert len(re.findall(rf"point-{i}\.svg", page)) == 2, "in the map and in the table"
        assert (tmp_path / f"point-{i}.svg").read_text().startswith("<?xml")
    assert page.count('<a aria-label="') == 4 and "Content-Security-Policy" in page
    assert "is stable at" in page and 'class="card scroll"' in page
    numbers = json.loads((tmp_path / "map.json").read_text())
    assert [point["series"] for point in numbers["observed"]] == [
        f"point-{i}.svg" for i in (1, 2, 3, 4)
    ]
    assert numbers["observed"][0]["variation"] == observed.observed[0].observation.variation
    assert numbers["predicted"]["phase_margin_deg"] == observed.predicted.phase_margin_deg.tolist()


def test_the_page_begins_with_what_was_predicted_and_observed(observed):
    predicted, seen = verdicts(observed)
    margin = observed.predicted.phase_margin_deg
    assert f"{PIE} is stable at {(margin > 0).sum()} of {margin.size} points" in predicted
    stable = [p.observation.variation for p in observed.observed if p.phase_margin_deg > 0]
    assert f"is {np.mean(stable):.2f} where the model predicts stability" in seen
    assert verdicts(make_map(PIE, [0.03], [10e6], [5])) == [
        f"The fluid model predicts that {PIE} is stable at 1 of 1 points of the map that have an "
        "equilibrium."
    ]


def test_the_same_seed_gives_the_same_observation(observed):
    again = make_map(PIE, [0.03, 0.3], [10e6], [5, 20]).observe(per_axis=2, duration_s=24.0, jobs=1)
    for one, other in zip(observed.observed, again.observed, strict=True):
        assert one.observation.result.digest == other.observation.result.digest
        assert one.observation.variation == other.observation.variation


def test_scalable_flows_are_simulated_next_to_the_others():
    made = make_map("dualpi2", [0.03], [20e6], [4], scalable_flows=3.0)
    words = json.loads(made.point(0.03, 4).scenario().resolved_json())
    classic, scalable = words["flows"]
    assert (classic["count"], classic["app"]["tcp"]["ecn"]) == (4, False)
    assert (scalable["count"], scalable["app"]["tcp"]["cc"]) == (3, "dctcp")
    seen = made.observe(duration_s=9.0).observed[0].observation
    assert seen.utilisation > 0.8


def test_points_without_equilibrium_are_not_simulated():
    made = make_map(PIE, [0.01], [10e6], [2, 100])
    seen = made.observe(per_axis=2, duration_s=3.0)
    assert [point.flows for point in seen.observed] == [2]


def test_impossible_questions_are_refused_with_a_sentence():
    made = make_map(PIE, [0.03], [10e6, 20e6], [5])
    with pytest.raises(InputError, match="the map has 2 rates; name one"):
        made.point(0.03, 5)
    with pytest.raises(InputError, match="cannot be simulated; give a whole number"):
        made.point(0.03, 5.5, 10e6).run()
    with pytest.raises(InputError, match="the simulator's PIE scales its steps"):
        make_map(PIE, [0.03], [10e6], [5], step_scaling=False).observe()
    scalable = make_map("pie:ecn=true", [0.03], [10e6], [5], cc="scalable")
    with pytest.raises(InputError, match="exists as a model only"):
        scalable.observe()


def test_the_map_of_a_single_rtt_is_a_strip(tmp_path):
    from sojourn.plots.stability_map import stability_map

    drawing = stability_map(make_map(PIE, [0.1], [10e6], np.arange(5.0, 50.0)))
    assert drawing.get_figheight() < 3

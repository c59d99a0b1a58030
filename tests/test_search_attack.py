"""`attack`: measures of badness, the search within bounds, and the simplification."""

from __future__ import annotations

import json
import math
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import sojourn
from attacks import findings_table
from sojourn.describing.quantity import quantity
from sojourn.errors import InputError
from sojourn.search import attack_report
from sojourn.search.attack_file import BADNESS, parse_attack, read_attack
from sojourn.search.attacking import attack, save
from sojourn.search.simplifying import simplify
from sojourn.search.tune_file import shipped
from sojourn.search.variants import Attacked, ScenarioVariant

FOUND = Path(__file__).parents[1] / "docs/results/attacks"
FINDINGS = sorted(path.stem for path in FOUND.glob("*.toml"))
SEARCH = {
    "name": "small", "aqm": "codel", "against": ["pie"], "scenario": "dumbbell-reno",
    "set": {"duration": "2s", "warmup": "1s"}, "worst": "delay", "trials": 6, "seeds": 2,
    "words": [{"name": "flows", "key": "flows.bulk.count", "from": 5, "to": 60},
              {"name": "cc", "key": "flows.bulk.cc", "values": ["reno", "cubic"]}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"worst": "boredom"}, "worst: must be one of delay, utilisation"),
        ({"worst": "unfairness"}, "classes: are missing"),
        ({"worst": "starvation", "classes": "bulk"}, "compares at least two"),
        ({"words": []}, "words: are missing"),
        ({"against": ["pye"]}, "unknown AQM `pye`"),
        ({"bounds": []}, "unknown key `bounds`"),
        ({"against": ["codel"]}, "against: codel is compared with itself"),
        ({"words": [SEARCH["words"][0], SEARCH["words"][0] | {"name": "n"}]}, "is listed twice"),
        ({"name": "../elsewhere"}, "name: must be a text that can name a file"),
        ({"seeds": 10**9}, "seeds: 1,000,000,000 are more than the 1,000,000 that a search takes"),
    ],
)
def test_what_is_wrong_with_an_attack_is_said_before_it_runs(more, message):
    with pytest.raises(InputError, match=message):
        parse_attack(SEARCH | more)


def test_a_class_that_the_scenario_lacks_is_refused_before_any_run(tmp_path):
    found = parse_attack(SEARCH | {"worst": "unfairness", "classes": ["bluk"]})
    with pytest.raises(InputError, match="unknown class `bluk`; did you mean `bulk`"):
        attack(found, str(tmp_path), report=pytest.fail)


@pytest.mark.parametrize("name", shipped("attack"))
def test_a_shipped_attack_is_legal_and_compares_with_another_aqm(name):
    assert read_attack(name).against


def test_unfairness_is_that_of_all_flows_of_all_classes():
    found = parse_attack(SEARCH | {"worst": "unfairness", "classes": ["a", "b"]})
    # Flows of 1, 3 and 8: Jain's index is 144 / (3 * 74).
    run = {"class/a/flows": 2.0, "class/a/goodput": 4.0, "class/a/jain": 16.0 / 20.0,
           "class/b/flows": 1.0, "class/b/goodput": 8.0}  # fmt: skip
    assert found.badness(run) == pytest.approx(1.0 - 144.0 / 222.0)
    starved = parse_attack(SEARCH | {"worst": "starvation", "classes": ["a", "b"]})
    assert starved.badness(run) == pytest.approx(1.0 - 2.0 / 4.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", FINDINGS)
def test_what_an_attack_has_found_still_holds(name):
    facts = findings_table.findings()[name]
    badness, queue = BADNESS[facts["worst"]][0], f"queue/{facts['link']}"
    means = {}
    for aqm in (facts["aqm"], *facts["against"]):
        sets = {f"links.{facts['link']}.queue": aqm}
        runs = [
            sojourn.run(FOUND / f"{name}.toml", seed=seed, sets=sets, store=None).summary
            for seed in range(1, facts["seeds"] + 1)
        ]
        bad = [badness(run, queue, tuple(facts["classes"])) for run in runs]
        means[aqm] = math.fsum(bad) / len(bad)
        assert means[aqm] == pytest.approx(facts["badness"][aqm], abs=0.05)
    others = min(means[aqm] for aqm in facts["against"])
    assert means[facts["aqm"]] - others > 0.7 * facts["judged_score"][0]


@pytest.mark.parametrize("name", FINDINGS)
def test_a_finding_is_clear_under_seeds_that_its_search_has_not_seen(name):
    facts = findings_table.findings()[name]
    low, gain = facts["judged_score"][1], facts["score"] - facts["base"]
    assert facts["judged_seeds"][0] > facts["seeds"]
    assert low > 0.3 * gain > 0.0


def test_the_table_of_findings_has_their_figures():
    page = findings_table.PAGE.read_text()
    assert page == findings_table.rewritten(page), "`make attacks` writes it"
    assert all(f"(../results/attacks/{name}.toml)" in page for name in FINDINGS)


@pytest.mark.slow
def test_what_is_found_is_worse_keeps_few_words_and_runs_as_a_scenario(tmp_path):
    pytest.importorskip("optuna")
    search = parse_attack(SEARCH)
    found = attack(search, str(tmp_path / "s"), executor=ThreadPoolExecutor(2), report=pytest.fail)
    assert found.worst.score > found.base.score
    assert set(found.small.variant.values) <= set(found.worst.variant.values)
    gain = found.worst.score - found.base.score
    assert found.small.score >= found.base.score + 0.8 * gain
    lines = "\n".join(attack_report.lines(found))
    assert "log" not in lines and re.search(r"small: .*\n  codel [\d.]+ m?s, pie [\d.]+ m?s", lines)
    assert re.search(r"codel against pie: [\d.]+ times as long \([\d.]+ to", lines)
    path = save(found, tmp_path)
    facts = json.loads((tmp_path / "small.finding.json").read_text())
    bad = [search.badness(sojourn.run(path, seed=seed, store=None).summary) for seed in (1, 2)]
    assert facts["badness"]["codel"] == pytest.approx(sum(bad) / 2)


@pytest.mark.parametrize(
    ("worst", "badness", "shown", "beyond"),
    [
        ("delay", math.log10(0.25), "250 ms", "0.25 times as long"),
        ("delay", math.log10(12.5), "12.5 s", "12.5 times as long"),
        ("utilisation", 0.4, "40 %", "40 points more"),
        ("oscillation", 1.5, "1.5", "1.5 more"),
        ("unfairness", 0.25, "0.75", "0.25 less"),
        ("starvation", 0.88, "88 %", "88 points more"),
    ],
)
def test_badness_is_shown_in_units(worst, badness, shown, beyond):
    measure = attack_report.MEASURES[worst]
    assert measure.shown(badness) == shown
    assert f"{measure.beyond(badness)} {measure.words}" == beyond
    assert set(attack_report.MEASURES) == set(BADNESS)


class Formula:
    """Variants whose badness is a formula of their keys, instead of runs."""

    def __init__(self, search, groups, times_s, score):
        self.search, self.groups, self.times_s, self.score = search, groups, times_s, score

    def attacked(self, variants):
        return [Attacked(each, self.score(each), {}) for each in variants]


def test_what_does_not_matter_is_left_out_and_numbers_become_short_and_round():
    words = [
        {"name": "rate", "key": "links.bottleneck.rate", "from": "1mbit", "to": "50mbit"},
        {"name": "rtt", "key": "flows.bulk.rtt", "from": "10ms", "to": "3s"},
        {"name": "size", "key": "flows.web.app.request", "from": "100B", "to": "5kB"},
    ]
    search = parse_attack(SEARCH | {"words": words})

    def score(variant):
        rate, rtt = (quantity(variant.values.get(name, "0s")).size for name in ("rate", "rtt"))
        length = quantity(variant.times.get("duration", "15s")).size
        return 1e-6 * rate + rtt if length >= 5.0 and "bulk" not in variant.without else 0.0

    values = {"rate": "9.37mbit", "rtt": "1040ms", "size": "3.1kB"}
    variants = Formula(search, ["bulk", "web"], (15.0, 6.0), score)
    base, worst = variants.attacked([ScenarioVariant(), ScenarioVariant(values)])
    small = simplify(variants, base, worst)
    # The rate alone gives 9.37 of 10.41, more than four fifths.
    assert small.variant == ScenarioVariant(
        {"rate": "10mbit"}, {"duration": "5s", "warmup": "2s"}, ("web",)
    )  # fmt: skip


def test_a_number_stays_as_it_is_where_a_round_one_would_not_do():
    words = [{"name": "flows", "key": "flows.bulk.count", "from": 1, "to": 60}]
    search = parse_attack(SEARCH | {"words": words})
    variants = Formula(
        search, ["bulk"], (1.0, 0.0), lambda each: float(each.values.get("flows") in (37, 38))
    )
    base, worst = variants.attacked([ScenarioVariant(), ScenarioVariant({"flows": 37})])
    assert simplify(variants, base, worst).variant == ScenarioVariant({"flows": 37})

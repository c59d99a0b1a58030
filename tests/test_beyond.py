"""The scenarios, the study and the law behind the pages of `make beyond`."""

from pathlib import Path

import pytest

import sojourn

FOLDER = Path(__file__).parents[1] / "docs" / "results" / "beyond"


def test_the_study_of_targets_has_every_point():
    plan = sojourn.study.plan_study(sojourn.study.read(FOLDER / "pie-targets.toml"))
    assert plan.points == 5 * 7 * 2 * 2


@pytest.mark.slow
def test_differential_dropping_gives_the_premium_class_more_by_the_weight_alone():
    laws = [f"{FOLDER / 'weighted_pie.py'}:WeightedPie:weight={weight}" for weight in (1, 4)]
    sets = {"duration": "30s", "warmup": "10s"}
    compared = sojourn.compare(FOLDER / "two-classes.toml", laws, seeds=2, sets=sets)
    equal, premium = (
        sum(run.summary["class/premium/goodput"] for run in compared.of(law))
        / sum(run.summary["class/standard/goodput"] for run in compared.of(law))
        for law in compared.aqms
    )
    assert 0.7 < equal < 1.4
    assert 2.5 < premium < 6


@pytest.mark.slow
def test_a_queue_per_class_gives_each_its_share():
    sets = {"links.premium.rate": "8mbit", "links.standard.rate": "2mbit", "duration": "30s"}
    run = sojourn.run(FOLDER / "two-queues.toml", seed=1, sets=sets).summary
    ratio = run["class/premium/goodput"] / run["class/standard/goodput"]
    assert ratio == pytest.approx(4, rel=0.1)

"""The project's own AQM against its promises, over seeds and in virtual time."""

from sojourn.testing import ms

AQM = "step.py:Step"


def test_the_queue_stays_near_the_target(sojourn_run):
    assert sojourn_run("home.scenario.toml", aqm=AQM).metric("delay_p50") < ms(2)


def test_it_costs_little_throughput(sojourn_compare):
    step, taildrop = sojourn_compare("home.scenario.toml", [AQM, "taildrop"])
    assert step.metric("goodput") > 0.85 * taildrop.metric("goodput")

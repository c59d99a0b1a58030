"""Designed gains keep the wanted margin, and their text form is parsed back."""

import re

import numpy as np
import pytest

from sojourn import InputError, _core
from sojourn.stability import analyse
from sojourn.stability.study.design import design

pytestmark = pytest.mark.slow


def at_drop_prob(aqm, rtt_s, prob, target_s):
    """The designed AQM on a link with the equilibrium at a probability, analysed again."""
    flows = 4.0
    rate = np.sqrt(2 / prob) * flows / (rtt_s + target_s) * 8 * 1500
    found = analyse(aqm, rtt_s, rate, flows)
    assert found.signal_prob == pytest.approx(prob)
    return float(found.phase_margin_deg)


@pytest.mark.parametrize(
    ("aqm", "target"), [("pie@paper2013", 0.02), ("pie", 0.015), ("pi2", 0.02), ("pi2@linux", 0.02)]
)
@pytest.mark.parametrize(("rtt", "prob"), [(0.1, 0.012), (0.3, 0.002)])
@pytest.mark.parametrize("wanted", [30.0, 60.0])
def test_the_gains_have_the_margin(aqm, target, rtt, prob, wanted):
    made = design(aqm, rtt, prob, wanted)
    assert _core.check_aqm(made.aqm)
    reached = at_drop_prob(made.aqm, rtt, prob, target)
    assert reached == pytest.approx(float(made.worst.phase_margin_deg), abs=0.01)
    assert reached == pytest.approx(wanted, abs=0.5)


def test_the_integral_gain_is_the_best_there_is():
    made = design("pi2", 0.1, 0.01, 45.0)
    best = made.alpha_hz / made.tupdate_s
    for ratio in np.geomspace(3, 100, 25):
        strong = f"pi2:alpha={1.02 * made.alpha_hz}hz,beta={ratio * made.alpha_hz}hz"
        text = f"{strong},tupdate={made.tupdate_s * 1e3:g}ms"
        assert at_drop_prob(text, 0.1, 0.01, 0.02) < 45.2, (ratio, best)


def test_more_margin_costs_speed():
    curve = design("pie", 0.1, 0.01).curve
    assert (np.diff(curve.integral_gain_per_s2) < 0).all()
    assert (np.diff(curve.crossover_rad_per_s) < 0).all()


def test_the_update_interval_is_the_longest_that_costs_little():
    made = design("pi2", 0.5, 0.01)
    speed = dict(zip(made.periods.tupdate_s, made.periods.integral_gain_per_s2, strict=True))
    assert speed[made.tupdate_s] >= 0.9 * max(speed.values())
    assert all(s < 0.9 * max(speed.values()) for t, s in speed.items() if t > made.tupdate_s)
    assert design("pi2", 0.5, 0.01, tupdate_s=0.02).tupdate_s == 0.02


def test_step_scaling_keeps_the_margin_above_the_least_probability():
    made = design("pie@paper2013", 0.1, 0.01, 45.0)
    assert (made.phase_margin_deg > 44.9).all()


def test_tc_counts_pies_gains_in_sixteenths():
    """The unit of tc-pie(8), Linux 6.1 sch_pie.c; the loop is analysed again with those gains."""
    made = design("pie@paper2013", 0.1, 0.012)
    words = re.fullmatch(r"pie target 20ms tupdate (\d+)ms alpha (\d+) beta (\d+)", made.tc)
    assert words, made.tc
    period, alpha, beta = map(int, words.groups())
    kernel = f"pie@linux:target=20ms,tupdate={period}ms,alpha={alpha / 16}hz,beta={beta / 16}hz"
    reached = at_drop_prob(kernel, 0.1, 0.012, 0.02)
    assert reached >= 45.0
    assert f"{reached:.1f} degrees" in made.tc_note


def test_where_sixteenths_are_too_coarse_the_kernels_pie_is_refused():
    with pytest.raises(InputError, match="no gain of pie@linux gives 60 degrees"):
        design("pie@linux", 0.1, 0.001, 60.0)
    made = design("pie", 0.1, 0.001, 60.0)
    assert made.tc.startswith("pie target 15ms")
    assert "the most that sixteenths can have" in made.tc_note


@pytest.mark.parametrize(
    ("wanted", "prob"), [(20.0, 0.003), (45.0, 0.003), (45.0, 0.022), (60.0, 0.022), (45.0, 0.12)]
)
def test_the_kernels_pie_gets_gains_it_takes(wanted, prob):
    """tc-pie(8): alpha and beta are whole numbers from 0 to 32."""
    made = design("pie@linux", 0.1, prob, wanted)
    assert _core.check_aqm(made.aqm)
    assert float(made.worst.phase_margin_deg) >= wanted
    assert at_drop_prob(made.aqm, 0.1, prob, 0.015) == pytest.approx(
        float(made.worst.phase_margin_deg), abs=0.01
    )


def test_other_parameters_stay():
    made = design("pie:ecn=true,target=5ms", 0.1, 0.012)
    assert made.aqm.startswith("pie@rfc8033:ecn=true,target=5ms,alpha=")


def test_tc_has_pi2_as_dualpi2_in_hertz():
    made = design("pi2", 0.1, 0.01)
    assert made.tc == (
        f"dualpi2 target 20ms tupdate {made.tupdate_s * 1e3:g}ms "
        f"alpha {made.alpha_hz:g} beta {made.beta_hz:g}"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("red", 0.1, 0.01), "give pie or pi2"),
        (("codel", 0.1, 0.01), "has no fluid model"),
        (("pie", -0.1, 0.01), "longest_rtt_s: -0.1 is refused"),
        (("pie", 0.1, 2.0), "least_drop_prob: 2 is not a probability"),
        (("pie", 0.1, 0.01, 99.0), "give 1 to 85 degrees"),
        (("pi2@linux", 0.1, 0.3), "0.25 at most"),
    ],
)
def test_impossible_designs_are_refused_with_a_sentence(arguments, words):
    with pytest.raises(InputError) as error:
        design(*arguments)
    assert words in str(error.value)

"""Operating points, registry parameters, loops and what is refused."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sojourn import InputError, ScenarioError, _core
from sojourn.stability import analyse, bode, loop
from sojourn.stability.loops.normalised import loop_at
from sojourn.stability.model.aqms import Link, fluid
from sojourn.stability.model.parameters import step_rows
from sojourn.stability.model.windows import WINDOWS

LINK = Link(np.array([1000.0]), 1500.0)
RED = "red:min_th=20kB,max_th=80kB"
CASES = [
    ("pi", {}), ("pie", {}), ("pie@paper2013", {}), ("pi2", {}), ("madpie", {}), (RED, {}),
    ("dualpi2", {"scalable_flows": 5.0}), ("dualpi2", {}), ("pie", {"cc": "cubic"}),
    ("pi2@coupled", {"cc": "dctcp"}), ("pi2@coupled", {"cc": "scalable"}),
]  # fmt: skip


def test_reno_rests_where_p_w_squared_is_two():
    """Pan et al. 2013 section V: W0^2 p0 = 2, W0 = R0 C/N, R0 with the queue's target."""
    found = analyse("pie@paper2013", 0.1, 12e6, 10.0)
    assert found.delay_s == pytest.approx(0.02)
    assert found.window_packets == pytest.approx(0.12 * 1000 / 10)
    assert found.signal_prob == pytest.approx(2 / 144)


def test_cubic_and_scalable_rest_where_their_equations_say():
    cubic, reno = WINDOWS["cubic"], WINDOWS["reno"]
    beta = 717 / 1024
    assert cubic.increase / cubic.decrease == pytest.approx(3 / (1 + beta))
    assert reno.increase / reno.decrease == 2.0
    assert WINDOWS["dctcp"].resting_packets(np.array(0.1)) == pytest.approx(20.0)


def test_parameters_are_those_of_the_registry():
    """Linux 6.1 sch_pie.c; Pan et al. 2013; sch_pi2.c; ns-2.35 ns-default.tcl, Queue/PI."""
    linux = fluid("pie@linux", LINK)
    assert linux.period_s == 0.020  # 15 ms in whole jiffies of 4 ms, plus one (fact aqm-4)
    assert (linux.derandomised, linux.stamped) == (True, True)
    paper = fluid("pie@paper2013", LINK)
    assert (paper.target_s, paper.period_s, paper.derandomised) == (0.02, 0.03, False)
    assert (paper.alpha_hz, paper.beta_hz) == (0.125, 1.25)
    assert paper.steps == step_rows("pie", "tune", "paper2013")
    # Linux controls p_s = 2 p': the same loop as classic; the ns-3 port is twice as strong.
    assert fluid("pi2@linux", LINK).alpha_hz == fluid("pi2", LINK).alpha_hz == 0.3125
    assert fluid("pi2@ns3", LINK).alpha_hz == 0.625
    pi = fluid("pi", LINK)
    assert pi.alpha_hz == pytest.approx(6e-8 * 1000)
    assert pi.beta_hz == pytest.approx(1.816e-5 * 1000)
    assert pi.target_s == pytest.approx(0.05)
    assert fluid("madpie", LINK).steps == step_rows("pie", "tune", "ns2")


TUNE = _core.describe_aqm("pie")["step_tables"]["tune"]


@pytest.mark.parametrize("word", TUNE)
def test_steps_are_scaled_by_the_factors_of_the_registry(word):
    model = fluid(f"pie:tune={word}", LINK)
    lower = 0.0
    for below, factor in TUNE[word]:
        last = 100.0 if below is None else np.nextafter(below, 0.0)
        assert (model.step_factor(np.array([lower, last])) == factor).all()
        lower = below


def test_every_word_of_tune_has_a_step_table():
    (tune,) = (p for p in _core.describe_aqm("pie")["params"] if p["name"] == "tune")
    assert set(TUNE) == set(tune["words"])


@pytest.mark.parametrize(
    ("dialect", "rows"),
    [
        ("rfc8033", [(5e-7, 2048), (1e-6, 512), (5e-3, 8), (0.01, 2), (0.1, 1)]),
        ("paper2013", [(1e-7, 8), (0.01, 2), (0.5, 1)]),
        ("ns2", [(1e-7, 32), (1e-3, 8), (0.5, 0.5)]),
    ],
)
def test_steps_are_scaled_by_the_table(dialect, rows):
    """RFC 8033 §4.2; Pan et al. 2013 §III; the authors' ns-2 code."""
    model = fluid(f"pie@{dialect}", LINK)
    for output, divisor in rows:
        assert model.step_factor(np.array([output])) == [1 / divisor]
    plain = fluid(f"pie@{dialect}", LINK, step_scaling=False)
    assert plain.step_factor(np.array([1e-7])) == [1.0]


def test_derandomised_signals_are_rarer_than_the_output_says():
    """Fact stability-3: 0.00544 at 0.01, 1/18 at 0.1, 1/3 at 0.5, 0.9 at 0.9."""
    model, reno = fluid("pie", LINK), WINDOWS["reno"]
    output = np.array([0.01, 0.1, 0.5, 0.9, 1.0])
    signal = model.signal(output, reno)
    np.testing.assert_allclose(signal[:2], [0.00544, 1 / 18], rtol=0.03)
    assert signal[2] == pytest.approx(1 / 3, rel=0.12)
    assert signal[3:].tolist() == [0.9, 1.0]
    np.testing.assert_allclose(model.output(signal, reno), output, rtol=1e-14)
    slope = (model.signal(output + 1e-7, reno) - model.signal(output - 1e-7, reno)) / 2e-7
    np.testing.assert_allclose(model.signal_slope(output, reno), slope, rtol=1e-6)


def test_red_rests_where_its_line_meets_the_windows():
    found = analyse(RED, 0.1, 12e6, [5.0, 20.0])
    model = fluid(RED, LINK)
    np.testing.assert_allclose(model.signal(found.delay_s), found.signal_prob, rtol=1e-9)
    np.testing.assert_allclose(found.signal_prob, 2 / found.window_packets**2, rtol=1e-12)
    step = 1e-7
    slope = (model.signal(found.delay_s + step) - model.signal(found.delay_s - step)) / (2 * step)
    np.testing.assert_allclose(model.signal_slope_per_s(found.delay_s), slope, rtol=1e-6)


@pytest.mark.parametrize("gap_mode", ["uniform", "wait", "geometric"])
@pytest.mark.parametrize("gentle", ["true", "false"])
def test_red_slopes_are_derivatives(gap_mode, gentle):
    text = f"red:min_th=20kB,max_th=80kB,gap_mode={gap_mode},gentle={gentle}"
    model = fluid(text, LINK)
    for delay in ([0.02], [0.04], [0.07]) if gentle == "true" else ([0.02], [0.04]):
        at = np.array(delay)
        slope = (model.signal(at + 1e-7) - model.signal(at - 1e-7)) / 2e-7
        np.testing.assert_allclose(model.signal_slope_per_s(at), slope, rtol=1e-6)


def test_dualpi2_fills_the_link_with_both_populations():
    """RFC 9332 §2.1: p_C = p'^2, p_CL = k p'."""
    made = loop("dualpi2", 0.05, 24e6, 6.0, scalable_flows=4.0)
    classic, scalable = made.populations
    sent = classic.sent_pps + scalable.sent_pps
    np.testing.assert_allclose(sent, made.capacity_pps, rtol=1e-12)
    np.testing.assert_allclose(scalable.signal_prob, 2 * np.sqrt(classic.signal_prob), rtol=1e-12)
    assert not scalable.waits


@pytest.mark.parametrize(("aqm", "more"), CASES)
@pytest.mark.parametrize("variant", ["exact", "continuous", "derived"])
def test_at_high_frequency_delay_and_at_low_the_integrator_rule(aqm, more, variant):
    made = loop(aqm, 0.1, 20e6, 20.0, variant=variant, **more)
    data = bode(made, np.geomspace(1e-5, 300.0, 4000))
    end = 0.0 if "red" in aqm else -90.0
    assert data.phase_deg[0] == pytest.approx(end, abs=1.0)
    assert data.gain_db[-1] < -20


def test_windows_of_many_packets_need_no_inner_delay():
    """Hollot et al. 2001: with W0 >> 1 the rational plant is as good as the exact one."""
    gaps = []
    for packets in (10.0, 100.0, 1000.0):
        args = (0.1, 2 / packets**2, 0.01 / packets, 0.1 / packets, 0.03)
        exact = loop_at(*args, name="continuous").response(np.array([1.0, 10.0]))
        rational = loop_at(*args, name="derived").response(np.array([1.0, 10.0]))
        gaps.append(np.abs(exact / rational - 1).max())
    assert gaps[0] > 5 * gaps[1] > 25 * gaps[2]


def test_frequent_updates_are_continuous_ones():
    held = analyse("pi2:tupdate=10us,alpha=0.0001hz,beta=3hz,delay=rate", 0.1, 2e7, 20.0)
    flowing = analyse(
        "pi2:tupdate=10us,alpha=0.0001hz,beta=3hz,delay=rate", 0.1, 2e7, 20.0, variant="continuous"
    )
    assert held.phase_margin_deg == pytest.approx(float(flowing.phase_margin_deg), abs=0.01)


def test_without_gain_the_integrator_alone_is_left():
    found = analyse("pi2:alpha=0.0000001hz,beta=0.000001hz", 0.1, 1e7, 20.0)
    assert found.phase_margin_deg == pytest.approx(90.0, abs=0.1)
    assert found.gain_margin_db > 100.0
    assert found.crossover_rad_per_s < 1e-4


def test_without_delay_the_derived_loop_is_rational():
    with_delay = loop("pi2", 0.1, 2e7, 20.0, variant="derived")
    without = loop("pi2", 0.1, 2e7, 20.0, variant="derived", with_delay=False)
    w = np.array([0.3, 5.0])
    turned = without.response(w) * np.exp(-1j * w * 0.12)
    np.testing.assert_allclose(with_delay.response(w), turned, rtol=1e-12)


def test_printed_is_twice_derived():
    derived = loop("pie", 0.1, 2e7, 20.0, variant="derived")
    printed = loop("pie", 0.1, 2e7, 20.0, variant="printed")
    w = np.array([0.3, 5.0])
    np.testing.assert_allclose(printed.response(w), 2 * derived.response(w), rtol=1e-15)


@given(
    rtt=st.floats(0.005, 0.5), flows=st.floats(1.0, 100.0), rate=st.floats(2e6, 1e9),
    factor=st.floats(1.05, 4.0),
)  # fmt: skip
@settings(max_examples=30, deadline=None)
def test_gain_costs_gain_margin(rtt, flows, rate, factor):
    assume(flows * 12000 / rate < rtt / 2)
    low = analyse("pi2:alpha=0.1hz,beta=1hz", rtt, rate, flows)
    high = analyse(f"pi2:alpha={0.1 * factor}hz,beta={factor}hz", rtt, rate, flows)
    fall_db = float(low.gain_margin_db - high.gain_margin_db)
    assert fall_db == pytest.approx(20 * np.log10(factor), abs=1e-6)
    assert high.crossover_rad_per_s >= low.crossover_rad_per_s


def test_points_without_equilibrium_are_nan_with_a_reason():
    found = analyse("pie", 0.1, 10e6, [5.0, 100.0])
    assert np.isfinite(found.phase_margin_deg).tolist() == [True, False]
    assert found.is_stable.tolist() == [False, False]
    assert len(found.problems) == 1
    assert "100 over 10 Mbit/s" in found.problems[0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: analyse("pie", -0.1, 1e7, 5), "rtt_s: -0.1 is refused; it must be positive"),
        (lambda: analyse("pie", 0.1, 0, 5), "rate_bps: 0 is refused; it must be positive"),
        (lambda: analyse("pie", 0.1, 1e7, 0), "flows: 0 is refused; it must be positive"),
        (lambda: analyse("pie", 0.1, 1e7, float("nan")), "flows: nan is refused"),
        (lambda: analyse("pie", 0.1, 1e7, []), "flows: is empty"),
        (lambda: analyse("pie", 0.1, 1e7, 100), "a drop probability of 2.18, above 1"),
        (
            lambda: analyse("pi2@linux", 0.1, 1e7, 60),
            "a probability of 0.849 in the controller, above",
        ),
        (lambda: analyse("codel", 0.1, 1e7, 5), "AQMs with one: pi, pie, madpie, pi2, dualpi2"),
        (lambda: analyse("fq(pie)", 0.1, 1e7, 5), "has no fluid model"),
        (lambda: analyse("red@linux", 0.1, 1e7, 5), "give red with min_th"),
        (lambda: analyse("red:max_p=0.001", 0.1, 1e7, 50), "raise max_p or max_th"),
        (lambda: analyse("pie", 0.1, 1e7, 5, cc="bbr"), "those with one: reno, cubic, dctcp"),
        (lambda: analyse("pie", 0.1, 1e7, 5, cc="dctcp"), "give pie ecn=true"),
        (lambda: analyse("pie", 0.1, 1e7, 5, scalable_flows=3), "only dualpi2"),
        (lambda: analyse("dualpi2", 0.1, 1e7, 5, cc="dctcp"), "a classic and a scalable"),
        (lambda: analyse("pie", [0.1, 0.2], 1e7, [5, 6, 7]), "do not broadcast"),
        (lambda: analyse("pie", 0.1, 1e7, 5, variant="x"), "known: exact, continuous"),
        (lambda: loop("pie", 0.1, 1e7, [5, 100]), "above 1"),
        (lambda: loop_at(0.1, 1.5, 0.1, 1, 0.03), "1.5 is not a probability"),
        (lambda: loop_at(0.1, 0.5, 0.0, 1, 0.03), "alpha_hz: 0 is refused"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(call, words):
    with pytest.raises(InputError) as error:
        call()
    assert words in str(error.value)


def test_an_unknown_aqm_is_refused_by_the_registry():
    with pytest.raises(ScenarioError, match="no dialect"):
        analyse("pie@foo", 0.1, 1e7, 5)


def test_the_loop_of_madpie_is_that_of_the_pie_whose_parameters_it_has() -> None:
    study = "target=20ms,tupdate=30ms,alpha=0.125hz,beta=1.25hz"
    for text in (
        f"linux:{study}", f"rfc8033:{study},delay=rate", f"ns2:{study},tune=rfc8033",
        f"ns2:{study},derandomise=true",
    ):  # fmt: skip
        pie, madpie = (fluid(f"{kind}@{text}", LINK) for kind in ("pie", "madpie"))
        for name in ("period_s", "steps", "derandomised", "stamped"):
            assert getattr(madpie, name) == getattr(pie, name), (text, name)

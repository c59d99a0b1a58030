"""The fluid model in time: its integrator, its linearisation, and consistency with margins."""

import numpy as np
import pytest

from sojourn import InputError
from sojourn.stability import analyse
from sojourn.stability.loops.dde import integrate
from sojourn.stability.loops.response import Step, respond

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.nightly]

RED = "red:min_th=20kB,max_th=80kB"
LOOPS = [
    ("pie@paper2013", {}), ("pie", {}), ("pi2", {}), ("madpie", {}), (RED, {}),
    ("pi2", {"cc": "cubic"}), ("pi2@coupled", {"cc": "scalable"}),
    ("pie:ecn=true", {"cc": "dctcp"}), ("dualpi2", {"scalable_flows": 5.0}),
]  # fmt: skip


class Lagging:
    """y' = -y(t - 1), which has a polynomial solution from one unit of time to the next."""

    held = np.zeros(1, bool)

    def slopes(self, index, t_s, state, past):
        return -past.at(np.full(state.shape[1], t_s - 1.0))

    def jump(self, index, t_s, state, past):
        return state


def test_the_integrator_is_exact_on_cubics():
    one = np.ones((1, 3))
    y = integrate(Lagging(), one, one, 1 / 16, 48)
    assert y.shape == (49, 1, 3)
    np.testing.assert_allclose(y[16, 0], 0.0, atol=1e-13)
    np.testing.assert_allclose(y[32, 0], -0.5, atol=1e-13)
    np.testing.assert_allclose(y[48, 0], -1 / 6, atol=1e-13)


class Sine:
    """y' = -y(t - pi/2): y = sin t, if the history is sin t."""

    held = np.zeros(1, bool)

    def slopes(self, index, t_s, state, past):
        late = t_s - np.pi / 2
        if late < 0:
            return np.full_like(state, -np.sin(late))
        return -past.at(np.full(state.shape[1], late))

    def jump(self, index, t_s, state, past):
        return state


def test_the_integrator_is_of_fourth_order():
    errors = []
    for steps in (80, 320):
        start = np.zeros((1, 1))
        y = integrate(Sine(), start, start, 6.0 / steps, steps)
        errors.append(abs(y[-1, 0, 0] - np.sin(6.0)))
    assert np.log2(errors[0] / errors[1]) / 2 == pytest.approx(4.0, abs=0.2)


def both(aqm, more, share, variant="continuous"):
    args = (aqm, 0.1, 10e6, 20.0, [Step(0.5, flows=20.0 * (1 + share))])
    options = {"duration_s": 5.0, "variant": variant, **more}
    return respond(*args, **options), respond(*args, **options, linearised=True)


@pytest.mark.parametrize(("aqm", "more"), LOOPS)
def test_the_linearisation_errs_by_the_square_of_the_step(aqm, more):
    """The linearised model is therefore the linearisation of these equations, in every term."""
    errors = []
    for share in (0.02, 0.01):
        whole, linear = both(aqm, more, share)
        errors.append(np.abs(whole.delay_s - linear.delay_s).max())
        moved = np.abs(whole.delay_s - whole.rest_s).max()
    assert moved > 3e-4, "the step must do something"
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.03)


@pytest.mark.parametrize(("aqm", "more"), [LOOPS[0], LOOPS[1], LOOPS[2]])
def test_with_updates_held_the_error_falls_alike(aqm, more):
    """With more tolerance, because an update reads the past between steps of the integration."""
    errors = []
    for share in (0.04, 0.01):
        whole, linear = both(aqm, more, share, "exact")
        errors.append(np.abs(whole.delay_s - linear.delay_s).max())
    order = np.log2(errors[0] / errors[1]) / 2
    assert 1.7 < order < 2.4


def test_a_step_of_the_rate_is_linearised_alike():
    errors = []
    for share in (0.02, 0.01):
        step = [Step(0.5, rate_bps=10e6 * (1 + share))]
        parts = [
            respond("pi2", 0.1, 10e6, 20.0, step, duration_s=5, variant="continuous", linearised=l)
            for l in (False, True)  # noqa: E741
        ]
        errors.append(np.abs(parts[0].delay_s - parts[1].delay_s).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


@pytest.mark.parametrize("aqm", ["pie@paper2013", "pi2"])
@pytest.mark.parametrize("variant", ["exact", "continuous"])
def test_the_gain_margin_is_where_the_linear_response_stops_decaying(aqm, variant):
    """The loop in frequency and the equations in time agree on the limit of stability."""
    margin_db = analyse(aqm, 0.1, 10e6, 20.0, variant=variant).gain_margin_db
    alpha, beta = (0.125, 1.25) if "pie" in aqm else (0.3125, 3.125)
    grown = []
    for share in (0.93, 1.07):
        gain = share * 10 ** (float(margin_db) / 20)
        text = f"{aqm}:alpha={alpha * gain:.9f}hz,beta={beta * gain:.9f}hz"
        response = respond(
            text, 0.1, 10e6, 20.0, [Step(0.5, flows=20.1)], duration_s=16.0,
            variant=variant, linearised=True,
        )  # fmt: skip
        off = np.abs(response.delay_s - response.rest_s)
        early = off[(response.t_s > 4) & (response.t_s < 8)].max()
        late = off[(response.t_s > 12) & (response.t_s < 16)].max()
        grown.append(late / early)
    assert grown[0] < 1.0 < grown[1]


def test_settling_and_overshoot():
    """Two points at once: few flows keep oscillating, many settle."""
    response = respond(
        "pie", 0.1, 10e6, [5.0, 20.0], [Step(1.0, flows=[7.0, 28.0])], duration_s=20.0
    )
    settling = response.settling_s()
    assert np.isnan(settling[0])
    assert 0.5 < settling[1] < 5.0
    assert (response.overshoot() > 1.0).all()
    after = response.t_s > response.last_step_s + settling[1]
    assert np.abs(response.delay_s[after, 1] / 0.015 - 1).max() <= 0.1
    assert (response.delay_s >= 0).all()
    assert response.delay_s.shape == (len(response.t_s), 2)


def test_half_the_rate_is_twice_the_delay_at_once():
    response = respond("pie", 0.1, 10e6, 10.0, [Step(1.0, rate_bps=5e6)], duration_s=3.0)
    at = np.searchsorted(response.t_s, response.last_step_s)
    assert response.delay_s[at - 1] == pytest.approx(0.015)
    assert response.delay_s[at] == pytest.approx(0.030)


@pytest.mark.parametrize(
    ("arguments", "more", "words"),
    [
        ((0.1, 10e6, 20.0, []), {}, "give at least one"),
        ((0.1, 10e6, 20.0, [Step(2.0, flows=21), Step(1.0, flows=22)]), {}, "in order"),
        ((0.1, 10e6, 20.0, [Step(70.0, flows=21)]), {}, "before the end"),
        ((0.1, 10e6, 20.0, [Step(1.0, flows=100)]), {}, "above 1"),
        ((0.1, 10e6, 20.0, [Step(1.0, flows=-3)]), {}, "flows: -3 is refused"),
        ((0.1, 10e6, 20.0, [Step(1.0, rate_bps=0)]), {}, "rate_bps: 0 is refused"),
        ((0.1, 10e6, 20.0, [Step(1.0, flows=21)]), {"variant": "derived"}, "no equations of"),
        ((1e-6, 1e12, 20.0, [Step(1.0, flows=21)]), {}, "give a shorter time"),
        (
            (0.1, 10e6, 20.0, [Step(1.0, flows=21), Step(2.0, flows=22)]),
            {"linearised": True}, "the linear response is of one",
        ),
    ],
)  # fmt: skip
def test_bad_steps_are_refused_with_a_sentence(arguments, more, words):
    with pytest.raises(InputError) as error:
        respond("pie", *arguments, **more)
    assert words in str(error.value)

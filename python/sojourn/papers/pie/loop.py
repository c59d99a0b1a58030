"""Figures 12 to 16: control theory in four readings (facts stability-1 and stability-2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from matplotlib.figure import Figure

from sojourn.reproduce.paper import Item, Pools, Values
from sojourn.stability.study import pie_paper as theory
from sojourn.stability.study.pie_paper import Gains, Reading


def _reading(reading: Reading) -> str:
    delay = "with_delay" if reading.with_delay else "without_delay"
    return f"{reading.variant}.{delay}"


def pair_key(pair: Gains) -> str:
    """The part of a key that names a pair of gains."""
    return f"alpha{pair.alpha_hz:g}".replace(".", "_")


def _f13_measure(_pools: Pools) -> dict[str, float]:
    found = theory.figure_13()
    values = {}
    for reading, margin in found.phase_margin_deg.items():
        key = _reading(reading)
        values[f"{key}.at_0_0156_0_156.phase_margin_deg"] = found.at_stated_deg[reading]
        values[f"{key}.admissible_pct_of_plane"] = 100 * float(np.mean(margin > 0))
        values[f"{key}.least_gains.phase_margin_deg"] = float(margin[0, 0])
        values[f"{key}.largest_gains.phase_margin_deg"] = float(margin[-1, -1])
        values[f"{key}.max_phase_margin_deg"] = float(np.nanmax(margin))
        values[f"{key}.min_phase_margin_deg"] = float(np.nanmin(margin))
    return values


def _f14_measure(_pools: Pools) -> dict[str, float]:
    values = {}
    for curve in theory.figure_14():
        p0 = f"p0_{1e4 * curve.drop_prob:g}e_4"
        key = f"{_reading(curve.reading)}.rtt{1e3 * curve.rtt_s:g}ms.{p0}"
        values[f"{key}.phase_margin_deg"] = curve.phase_margin_deg
        values[f"{key}.gain_margin_db"] = curve.gain_margin_db
        values[f"{key}.crossover_rad_per_s"] = curve.crossover_rad_per_s
        at = int(np.argmin(np.abs(curve.frequency_rad_per_s - 1.0)))
        values[f"{key}.gain_at_1_rad_per_s_db"] = float(curve.gain_db[at])
        for name, pole in zip(("s1", "s2"), curve.poles_rad_per_s, strict=True):
            values[f"{key}.{name}_rad_per_s"] = pole
    return values


ROOTS = (0.01, 0.03, 0.1, 0.3, 0.5, 1.0)


def _over_p0(_pools: Pools) -> dict[str, float]:
    """Margins and loop frequencies at some values of sqrt(p0), per reading and pair of gains."""
    found = theory.figures_15_16(100)
    values = {}
    for reading in theory.READINGS:
        for pair in theory.PAIRS:
            for root in ROOTS:
                at = int(np.argmin(np.abs(found.sqrt_drop_prob - root)))
                name = f"sqrt_p0_{root:g}".replace(".", "_")
                key = f"{_reading(reading)}.{pair_key(pair)}.{name}"
                margin = found.phase_margin_deg[reading][pair][at]
                frequency = found.loop_frequency_rad_per_s[reading][pair][at]
                values[f"{key}.phase_margin_deg"] = float(margin)
                values[f"{key}.loop_frequency_rad_per_s"] = float(frequency)
    return values


def _theory_figures(number: int) -> Callable[[Pools, Values], Mapping[str, Figure]]:
    def figures(_pools: Pools, _values: Values) -> Mapping[str, Figure]:
        from sojourn.plots.pie_theory import draw

        return {f"F{number}": draw(number)}

    return figures


_READINGS = (
    "The printed gain is twice the one that follows from the printed equations, and one form of "
    "the loop has the delay twice: all four readings are computed. Claims use the printed gain."
)


# fmt: off
ITEMS = (
    Item("F12", "Block diagram of the feedback loop", "structure", note="Nothing to measure."),
    Item("F13", "Phase margin over alpha and beta", "computed", measure=_f13_measure,
        figures=_theory_figures(13), note=_READINGS),
    Item("F14", "Bode plot for R0 = 100 and 50 ms", "computed", measure=_f14_measure,
        figures=_theory_figures(14), note=f"{_READINGS} alpha:beta = 0.0156:0.156 (our choice)."),
    Item("F15", "Phase margin against sqrt(p0)", "computed", measure=_over_p0,
        figures=_theory_figures(15), note=_READINGS),
    Item("F16", "Loop frequency against sqrt(p0)", "computed", measure=_over_p0,
        figures=_theory_figures(16), note=_READINGS),
)
# fmt: on

"""Figures 13 to 16 of the PIE paper, each in all four readings of its loop."""

from __future__ import annotations

from matplotlib.figure import Figure

from sojourn.plots.loop_margin import LoopCurve, bode, lines, surface
from sojourn.stability.study.pie_paper import (
    BodeCurve,
    Figure13,
    OverDropProb,
    figure_13,
    figure_14,
    figures_15_16,
)


def draw(number: int) -> Figure:
    """Compute and draw one of the figures 13 to 16.

    Raises:
        KeyError: it is not one of these.
    """
    return {
        13: lambda: draw_13(figure_13()),
        14: lambda: draw_14(figure_14()),
        15: lambda: draw_15(figures_15_16()),
        16: lambda: draw_16(figures_15_16()),
    }[number]()


def draw_13(data: Figure13) -> Figure:
    """Phase margin over alpha and beta; for the dot's pair the paper states 25 degrees."""
    panels = {str(reading): margin for reading, margin in data.phase_margin_deg.items()}
    at_mark = {str(reading): margin for reading, margin in data.at_stated_deg.items()}
    labels = ("alpha [Hz]", "beta [Hz]", "phase margin [°]")
    title = "PIE's phase margin, R0 = 100 ms, p0 = 0.01 %, T = 30 ms"
    return surface(panels, data.alpha_hz, data.beta_hz, title, labels, data.stated_pair, at_mark)


def draw_14(data: list[BodeCurve]) -> Figure:
    """Bode plots for two round-trip times, with the pure delay; margins of all four readings."""
    bare = {
        (curve.reading.variant, curve.rtt_s, curve.drop_prob): curve.phase_margin_deg
        for curve in data
        if not curve.reading.with_delay
    }
    panels: dict[str, list[LoopCurve]] = {}
    for curve in data:
        if curve.reading.with_delay:
            without = bare[curve.reading.variant, curve.rtt_s, curve.drop_prob]
            panels.setdefault(f"{curve.reading.variant} gain, with delay", []).append(
                LoopCurve(
                    f"{curve.rtt_s * 1e3:.0f} ms, p0 {curve.drop_prob:.2%}",
                    curve.frequency_rad_per_s, curve.gain_db, curve.phase_deg,
                    curve.crossover_rad_per_s, curve.phase_margin_deg,
                    f" (without delay {without:.0f}°)",
                )
            )  # fmt: skip
    return bode(panels, "PIE's loop and phase margins, alpha:beta = 0.0156:0.156, T = 30 ms")


def draw_15(data: OverDropProb) -> Figure:
    """Phase margin over the square root of the drop probability."""
    panels = {
        str(reading): {str(pair): (data.sqrt_drop_prob, margin) for pair, margin in row.items()}
        for reading, row in data.phase_margin_deg.items()
    }
    return lines(
        panels, "PIE's phase margin by alpha:beta, R0 = 100 ms, T = 30 ms",
        "square root of the drop probability p0", "phase margin [°]", limits=(-120.0, 100.0),
    )  # fmt: skip


def draw_16(data: OverDropProb) -> Figure:
    """Loop frequency over the square root of the drop probability; the delay does not move it."""
    panels = {
        reading.variant + " gain": {
            str(pair): (data.sqrt_drop_prob, frequency) for pair, frequency in row.items()
        }
        for reading, row in data.loop_frequency_rad_per_s.items()
        if reading.with_delay
    }
    return lines(
        panels, "PIE's loop frequency by alpha:beta, R0 = 100 ms, T = 30 ms",
        "square root of the drop probability p0", "loop frequency [rad/s]", floor=None, log="y",
    )  # fmt: skip

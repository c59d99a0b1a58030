"""The cost of a margin: speed against phase margin, and the margin away from the worst case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from sojourn.plots import style

if TYPE_CHECKING:
    from sojourn.stability.study.design import Design


@style.figure
def trade_off(made: Design) -> Figure:
    """Draw the trade-off curve of a design with its gains as a dot, and its margins."""
    drawing = Figure(figsize=(style.WIDTH_IN, 3.0), layout="constrained")
    title = f"Design of {made.aqm.partition(':')[0]} for {made.wanted_deg:g}° of phase margin"
    drawing.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold", color=style.INK)
    speed, elsewhere = drawing.subplots(1, 2)
    curve, colour = made.curve, style.PALETTE[1]
    speed.plot(curve.phase_margin_deg, curve.crossover_rad_per_s, color=colour)
    selected = float(made.worst.phase_margin_deg), float(made.worst.crossover_rad_per_s)
    speed.plot(*selected, "o", color=style.PALETTE[2], ms=6)
    gains = f"alpha {made.alpha_hz:g} Hz\nbeta {made.beta_hz:g} Hz"
    note = f"{gains}\ntupdate {made.tupdate_s * 1e3:g} ms"
    speed.annotate(note, selected, (8, 6), textcoords="offset points", fontsize=8)
    speed.set_title("worst case")
    speed.set_xlabel("phase margin wanted [°]")
    speed.set_ylabel("loop frequency [rad/s]")
    speed.set_ylim(0.0)
    elsewhere.semilogx(made.drop_prob, made.phase_margin_deg, color=colour)
    elsewhere.axhline(made.wanted_deg, color=style.INK, lw=0.8, ls=(0, (4, 2)))
    elsewhere.set_title("with these gains")
    elsewhere.set_xlabel("drop probability")
    elsewhere.set_ylabel("phase margin [°]")
    style.plain_log(elsewhere.xaxis, made.drop_prob[0], made.drop_prob[-1])
    return drawing

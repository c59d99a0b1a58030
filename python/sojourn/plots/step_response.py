"""Queue delay of the fluid model after steps of load and rate, one panel per step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from sojourn.plots import style

if TYPE_CHECKING:
    from sojourn.stability.loops.response import Response

_BEFORE_S = 1.0


@style.figure
def step_response(panels: Mapping[str, tuple[Sequence[str], Response]], title: str) -> Figure:
    """Draw responses.

    Args:
        panels: per step, names of the points and their responses, on a grid of one axis.
        title: title of the figure.
    """
    size = (style.WIDTH_IN, 0.9 + 2.0 * len(panels))
    drawing = Figure(figsize=size, layout="constrained")
    drawing.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold", color=style.INK)
    axes = drawing.subplots(len(panels), sharex=True, squeeze=False)[:, 0]
    for panel, (name, (labels, response)) in zip(axes, panels.items(), strict=True):
        shown = response.t_s >= response.last_step_s - _BEFORE_S
        after_s = response.t_s[shown] - response.last_step_s
        colours, dashes = style.curves(labels)
        for i, label in enumerate(labels):
            delay_ms = response.delay_s[shown, i] * 1e3
            panel.plot(after_s, delay_ms, color=colours[label], ls=dashes[label], label=label)
            panel.axhline(response.rest_s[i] * 1e3, color=style.INK, lw=0.6, ls=(0, (4, 2)))
        panel.set_title(name)
        panel.set_xlim(-_BEFORE_S, after_s[-1])
        panel.set_ylim(0.0)
        panel.legend(fontsize=8, loc="upper right")
    axes[-1].set_xlabel("time after the step [s]")
    drawing.supylabel("queue delay [ms]", fontsize=9)
    return drawing

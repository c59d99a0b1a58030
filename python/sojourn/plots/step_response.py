"""Queue delay of the fluid model after steps of load and rate, one panel per step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from sojourn.plots import style

if TYPE_CHECKING:
    from sojourn.stability.response import Response

_BEFORE_S = 1.0


@style.figure
def step_response(panels: Mapping[str, Mapping[str, Response]], title: str) -> Figure:
    """Draw responses of single operating points.

    Args:
        panels: per step, per point, its response.
        title: of the figure.
    """
    drawing, axes = style.new(0.9 + 2.0 * len(panels), title, len(panels))
    for panel, (name, responses) in zip(axes, panels.items(), strict=True):
        for i, (label, response) in enumerate(responses.items()):
            shown = response.t_s >= response.last_step_s - _BEFORE_S
            after_s = response.t_s[shown] - response.last_step_s
            panel.plot(
                after_s, response.delay_s[shown] * 1e3,
                color=style.PALETTE[(i + 1) % len(style.PALETTE)], label=label,
            )  # fmt: skip
            rest_ms = float(response.rest_s) * 1e3
        panel.axhline(rest_ms, color=style.INK, lw=0.8, ls=(0, (4, 2)), zorder=1)
        panel.set_title(name)
        panel.set_xlim(-_BEFORE_S, after_s[-1])
        panel.set_ylim(0.0)
    axes[-1].set_xlabel("time after the step [s]")
    drawing.supylabel("queue delay [ms]", fontsize=9)
    lines, labels = axes[int(np.argmax([len(r) for r in panels.values()]))].get_legend_handles_labels()
    drawing.legend(lines, labels, loc="outside lower center", ncols=min(5, len(labels)))
    return drawing

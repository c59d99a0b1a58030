"""QQ plots of the queue delay on two engines."""

from __future__ import annotations

from matplotlib.figure import Figure

from sojourn.agreement.cells import ScenarioPair
from sojourn.errors import RunFailed
from sojourn.plots import curves, data, style


def qq_plot(pair: ScenarioPair, names: tuple[str, str]) -> Figure:
    """Quantiles of the queue delay on one engine against those on the other, all seeds pooled."""
    first, second = (data.distribution(rs, "queue", pair.link, "delay") for rs in pair.results)
    if first is None or second is None:
        raise RunFailed(f"{pair.name}: no packet left the queue on one engine")
    at = [i / 200 for i in range(1, 200)]
    x, y = ([d.quantile_s(q) * 1e3 for q in at] for d in (second, first))
    line = curves.Curve("quantiles 0.5 % to 99.5 %", x, y, style.PALETTE[1], marker=".")
    panel = curves.Panel(
        title=pair.name, curves=[line], diagonal=True,
        x_label=f"queue delay on {names[1]} [ms]", y_label=f"queue delay on {names[0]} [ms]",
    )  # fmt: skip
    return curves.curves("", [panel])

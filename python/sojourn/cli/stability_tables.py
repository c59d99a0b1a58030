"""Margins and gains as tables on a terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sojourn.stability.study.analysis import Stability
    from sojourn.stability.study.design import Design, TradeOff

_HEAD = (
    "rate\n[Mbit/s]", "RTT\n[ms]", "flows", "delay\n[ms]", "window", "signal\nprob.",
    "phase mar-\ngin [°]", "gain mar-\ngin [dB]", "delay mar-\ngin [ms]", "crossover\n[rad/s]",
    "stable",
)  # fmt: skip


def print_margins(found: Stability, console: Any) -> None:
    """Print one row per operating point, then an explanation."""
    table = _table(_HEAD)
    scaled = (
        found.rate_bps * 1e-6, found.rtt_s * 1e3, found.flows, found.delay_s * 1e3,
        found.window_packets, found.signal_prob, found.phase_margin_deg, found.gain_margin_db,
        found.delay_margin_s * 1e3, found.crossover_rad_per_s,
    )  # fmt: skip
    for values in zip(*(np.ravel(part) for part in scaled), np.ravel(found.is_stable), strict=True):
        *numbers, is_stable = values
        known = not math.isnan(numbers[3])
        verdict = ("yes" if is_stable else "no") if known else "none"
        table.add_row(*(_show(number) for number in numbers), verdict)
    console.print(table)
    for problem in found.problems[:1]:
        others = len(found.problems) - 1
        more = f" ({others} more points)" if others else ""
        console.print(f"no equilibrium: {problem}{more}", style="dim", markup=False)
    what = f"{found.aqm}, {found.cc}, variant {found.variant}"
    note = f"{what}; docs/how-to/stability.md says what that is"
    console.print(note, style="dim", markup=False)


def print_design(made: Design, rtt_s: float, console: Any) -> None:
    """The gains for a scenario and for tc, then both trade-offs."""
    worst = made.worst
    lines = (
        f'scenario   queue = "{made.aqm}"',
        f"tc         {made.tc}",
        f"           ({made.tc_note})",
        f"worst case RTT {rtt_s * 1e3:g} ms, drop probability {made.drop_prob[0]:.3g}: phase "
        f"margin {float(worst.phase_margin_deg):.1f}°, gain margin "
        f"{float(worst.gain_margin_db):.1f} dB, loop frequency "
        f"{float(worst.crossover_rad_per_s):.2f} rad/s",
        f"elsewhere  least phase margin {np.nanmin(made.phase_margin_deg):.1f}° at drop "
        f"probability {made.drop_prob[np.nanargmin(made.phase_margin_deg)]:.3g}",
    )
    for line in lines:
        console.print(line, markup=False)
    console.print("\nmargin against speed", style="bold")
    console.print(_trade_off(made.curve))
    console.print("update interval against speed", style="bold")
    console.print(_trade_off(made.periods))


def _trade_off(curve: TradeOff) -> Any:
    table = _table(
        ("margin\n[°]", "tupdate\n[ms]", "alpha\n[Hz]", "beta\n[Hz]", "loop freq.\n[rad/s]")
    )
    columns = (
        curve.phase_margin_deg, curve.tupdate_s * 1e3, curve.alpha_hz, curve.beta_hz,
        curve.crossover_rad_per_s,
    )  # fmt: skip
    for values in zip(*columns, strict=True):
        table.add_row(*map(_show, values))
    return table


def _table(head: tuple[str, ...]) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in head:
        table.add_column(Text(column), justify="right", no_wrap=True)
    return table


def _show(value: float) -> str:
    """A number with at most four digits; a dash if there is no value."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞"
    return f"{value:.4g}".replace("-", "−") if abs(value) < 1e4 else f"{value:.0f}"

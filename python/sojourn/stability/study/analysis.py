"""Operating points and margins of an AQM over a grid of links and flows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.errors import InputError
from sojourn.stability.arrays import ArrayLike, Bools, Floats
from sojourn.stability.loops.margin import margins
from sojourn.stability.loops.open_loop import DEFAULT_VARIANT, make_loop, model_of
from sojourn.stability.model.conditions import at_rest, conditions
from sojourn.tabular import Tabular

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Stability(Tabular):
    """Operating points and margins; every array has the shape of the grid.

    Points without an equilibrium (say, a drop probability above 1) are NaN; `problems` has why.

    Attributes:
        aqm: canonical text.
        cc: congestion control.
        variant: simplification of the loop, see `feedback.VARIANTS`.
        rtt_s: round-trip time without queue.
        rate_bps: rate of the link.
        flows: number of flows.
        delay_s: queue delay at rest.
        window_packets: window at rest (of the classic flows).
        signal_prob: probability of a signal at rest (of the classic flows).
        gain_margin_db: see `margin.Margins`, like the next four.
        phase_margin_deg: phase margin of the loop.
        delay_margin_s: delay margin of the loop.
        crossover_rad_per_s: crossover of the loop.
        phase_crossover_rad_per_s: phase crossover of the loop.
        is_stable: whether both margins are positive; False without an equilibrium.
        problems: one sentence per point without an equilibrium, in the order of the flat grid.
    """

    aqm: str
    cc: str
    variant: str
    rtt_s: Floats
    rate_bps: Floats
    flows: Floats
    delay_s: Floats
    window_packets: Floats
    signal_prob: Floats
    gain_margin_db: Floats
    phase_margin_deg: Floats
    delay_margin_s: Floats
    crossover_rad_per_s: Floats
    phase_crossover_rad_per_s: Floats
    is_stable: Bools
    problems: list[str]

    def to_arrow(self) -> pa.Table:
        """One row per point of the grid, in its flat order.

        Returns:
            Columns ``aqm``, ``cc``, ``variant`` and every array of this class by its name; unknown
            numbers are null.
        """
        import pyarrow as pa

        arrays = {
            name: np.asarray(value) for name, value in vars(self).items()
            if name not in ("aqm", "cc", "variant", "problems")
        }  # fmt: skip
        flat = [each.ravel() for each in np.broadcast_arrays(*arrays.values())]
        texts = {name: [getattr(self, name)] * flat[0].size for name in ("aqm", "cc", "variant")}
        numbers = {
            name: pa.array(each, from_pandas=True) for name, each in zip(arrays, flat, strict=True)
        }
        return pa.table({**texts, **numbers})


def analyse(
    aqm: str,
    rtt_s: ArrayLike,
    rate_bps: ArrayLike,
    flows: ArrayLike,
    *,
    variant: str = DEFAULT_VARIANT,
    with_delay: bool = True,
    step_scaling: bool = True,
    **more: Any,
) -> Stability:
    """Margins of an AQM over a grid of links and flows.

    Args:
        aqm: text form; defaults are those of its dialect, as in the simulator.
        rtt_s: round-trip time without queue; this and the next two broadcast to the grid.
        rate_bps: rate of the link.
        flows: number of flows.
        variant: one of `feedback.VARIANTS`.
        with_delay: whether the pure delay is included.
        step_scaling: whether PIE scales its steps.
        more: ``cc``, ``scalable_flows``, ``scalable_cc``, ``packet_bytes``, as in `conditions`.

    Raises:
        InputError: no point of the grid has an equilibrium, or an argument is wrong.
        ScenarioError: the AQM does not exist, or a parameter is out of range.
    """
    where = conditions(rtt_s, rate_bps, flows, **more)
    model = model_of(aqm, where, step_scaling=step_scaling)
    rest = at_rest(model, where)
    problems = [problem for problem in rest.problem if problem]
    if len(problems) == len(rest.problem):
        raise InputError(problems[0])
    possible = rest.possible
    open_loop = make_loop(model, rest, where.shape, variant, with_delay=with_delay)
    found = margins(open_loop.take(possible))

    def on_grid(values: Floats) -> Floats:
        whole = np.full(len(possible), np.nan)
        whole[possible] = values
        return whole.reshape(where.shape)

    classic = rest.populations[0]
    return Stability(
        aqm=model.settings.text,
        cc=where.cc.name,
        variant=variant,
        rtt_s=where.rtt_s.reshape(where.shape),
        rate_bps=where.rate_bps.reshape(where.shape),
        flows=where.flows.reshape(where.shape),
        delay_s=on_grid(rest.delay_s[possible]),
        window_packets=on_grid(classic.packets[possible]),
        signal_prob=on_grid(classic.signal_prob[possible]),
        **{name: on_grid(values) for name, values in vars(found).items()},
        is_stable=on_grid(found.is_stable.astype(np.float64)) == 1.0,
        problems=problems,
    )

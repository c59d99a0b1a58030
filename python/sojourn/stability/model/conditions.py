"""Links, flows and their equilibria: grids of operating points, checked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn.errors import InputError
from sojourn.stability.arrays import ArrayLike, Bools, Floats, floats
from sojourn.stability.model.aqms import FluidAqm, PiAqm, RedAqm
from sojourn.stability.model.population import Population
from sojourn.stability.model.windows import Window, window

PACKET_BYTES = 1500.0

_HALVINGS = 60  # of RED's interval of delays, to double precision


@dataclass(frozen=True)
class Conditions:
    """Links and flows on a grid, created by `conditions`.

    Attributes:
        shape: shape of the grid; the arrays below are flat, shape ``(n_points,)``.
        rtt_s: round-trip time without queue.
        rate_bps: rate of the link.
        flows: number of flows.
        scalable_flows: additional flows in DualPI2's low-latency queue.
        packet_bytes: size of every packet, on the wire.
        cc: their congestion control.
        scalable_cc: that of the scalable flows.
    """

    shape: tuple[int, ...]
    rtt_s: Floats
    rate_bps: Floats
    flows: Floats
    scalable_flows: Floats
    packet_bytes: float
    cc: Window
    scalable_cc: Window

    @property
    def capacity_pps(self) -> Floats:
        """Packets per second of the link."""
        return self.rate_bps / (8.0 * self.packet_bytes)

    def take(self, wanted: Bools) -> Conditions:
        """The conditions at some points, as a flat grid."""
        parts = (self.rtt_s, self.rate_bps, self.flows, self.scalable_flows)
        rtt_s, rate_bps, flows, scalable = (part[wanted] for part in parts)
        return Conditions(
            rtt_s.shape, rtt_s, rate_bps, flows, scalable,
            self.packet_bytes, self.cc, self.scalable_cc,
        )  # fmt: skip


def conditions(
    rtt_s: ArrayLike,
    rate_bps: ArrayLike,
    flows: ArrayLike,
    *,
    cc: str = "reno",
    scalable_flows: ArrayLike = 0.0,
    scalable_cc: str = "dctcp",
    packet_bytes: float = PACKET_BYTES,
) -> Conditions:
    """Links and flows on the grid that the arguments span when broadcast.

    Raises:
        InputError: a quantity is not positive and finite, or a congestion control has no model.
    """
    given = {"rtt_s": rtt_s, "rate_bps": rate_bps, "flows": flows, "packet_bytes": packet_bytes}
    for name, value in given.items():
        _check(name, floats(value), allow_zero=False)
    _check("scalable_flows", floats(scalable_flows), allow_zero=True)
    arrays = (rtt_s, rate_bps, flows, scalable_flows)
    try:
        grid = np.broadcast_arrays(*map(floats, arrays))
    except ValueError:
        shapes = ", ".join(str(np.shape(array)) for array in arrays[:3])
        raise InputError(
            f"rtt_s, rate_bps, flows: shapes {shapes} do not broadcast to one grid"
        ) from None
    rtt, rate, count, scalable = (part.ravel() for part in grid)
    controls = window(cc), window(scalable_cc)
    return Conditions(grid[0].shape, rtt, rate, count, scalable, packet_bytes, *controls)


def _check(name: str, values: Floats, *, allow_zero: bool) -> None:
    wrong = ~(np.isfinite(values) & ((values >= 0.0) if allow_zero else (values > 0.0)))
    if wrong.any():
        rule = "zero or more" if allow_zero else "positive"
        raise InputError(f"{name}: {values[wrong].flat[0]:g} is refused; it must be {rule}")
    if not values.size:
        raise InputError(f"{name}: is empty; give at least one")


@dataclass(frozen=True)
class Rest:
    """The equilibrium of an AQM and its flows, shapes ``(n_points,)``.

    Attributes:
        delay_s: queue delay.
        output: output of the controller, before squaring or thinning.
        capacity_pps: capacity of the link, packets per second.
        populations: the flows.
        problem: texts: why there is no equilibrium, or empty.
    """

    delay_s: Floats
    output: Floats
    capacity_pps: Floats
    populations: tuple[Population, ...]
    problem: list[str]

    @property
    def possible(self) -> Bools:
        """Which points have an equilibrium."""
        return np.asarray([not problem for problem in self.problem], np.bool_)


def at_rest(aqm: FluidAqm, where: Conditions) -> Rest:
    """The operating points of an AQM.

    Points without an equilibrium are flagged, not dropped; their numbers are meaningless.

    Raises:
        InputError: the congestion controls do not suit the AQM.
    """
    if isinstance(aqm, RedAqm):
        _refuse_scalable(aqm, where)
        return _red(aqm, where)
    if aqm.two_queues:
        return _two_queues(aqm, where)
    _refuse_scalable(aqm, where)
    return _one_queue(aqm, where)


def _refuse_scalable(aqm: FluidAqm, where: Conditions) -> None:
    """Scalable flows need marks, and only DualPI2 has a separate queue for them."""
    name = aqm.settings.text
    if where.scalable_flows.any():
        raise InputError(f"scalable_flows: {name} has one queue; only dualpi2 has one for them")
    if where.cc.scalable and aqm.settings.words.get("ecn") != "true":
        raise InputError(f"cc: {where.cc.name} answers marks; give {aqm.settings.kind} ecn=true")


def _one_queue(aqm: PiAqm, where: Conditions) -> Rest:
    delay_s = np.broadcast_to(aqm.target_s, where.rtt_s.shape).astype(np.float64)
    rtt_s = where.rtt_s + delay_s
    packets = rtt_s * where.capacity_pps / where.flows
    signal = where.cc.signal_prob(packets)
    output = aqm.output(signal, where.cc)
    late_s = delay_s if aqm.stamped else np.zeros_like(delay_s)
    slope = aqm.signal_slope(output, where.cc)
    flows = Population(where.cc, where.flows, where.rtt_s, rtt_s, packets, signal, slope, late_s)
    problem = _too_much(where, packets, signal, output, aqm.largest_output)
    return Rest(delay_s, output, where.capacity_pps, (flows,), problem)


def _too_much(
    where: Conditions, packets: Floats, signal: Floats, output: Floats, largest: float
) -> list[str]:
    """The reason why points have no equilibrium: a drop probability above 1 or the AQM's bound."""
    problems = [""] * len(packets)
    for i in np.flatnonzero((signal > 1.0) | (output > largest)):
        reason = f"a drop probability of {signal[i]:.3g}, above 1"
        if signal[i] <= 1.0:
            reason = f"a probability of {output[i]:.3g} in the controller, above its {largest:g}"
        problems[i] = (
            f"flows: {where.flows[i]:g} over {where.rate_bps[i] * 1e-6:g} Mbit/s with an RTT of "
            f"{where.rtt_s[i] * 1e3:g} ms have windows of {packets[i]:.2g} packets, which takes "
            f"{reason}; give fewer flows, a higher rate or a longer RTT"
        )
    return problems


def _two_queues(aqm: PiAqm, where: Conditions) -> Rest:
    """DualPI2: windows are proportional to 1/p', so their sum gives p' (fact stability-6)."""
    if where.cc.scalable or not where.scalable_cc.scalable:
        raise InputError(
            "cc, scalable_cc: dualpi2 takes a classic and a scalable congestion control, in that "
            f"order; {where.cc.name} and {where.scalable_cc.name} are not"
        )
    delay_s = np.full_like(where.rtt_s, aqm.target_s)
    one = np.ones_like(delay_s)
    per_output = (
        where.cc.resting_packets(aqm.signal(one, where.cc)),
        where.scalable_cc.resting_packets(aqm.signal(one, where.scalable_cc)),
    )
    rtts = (where.rtt_s + delay_s, where.rtt_s)
    sums = (where.flows * per_output[0] / rtts[0], where.scalable_flows * per_output[1] / rtts[1])
    output = (sums[0] + sums[1]) / where.capacity_pps
    kinds = zip(
        (where.cc, where.scalable_cc), (where.flows, where.scalable_flows),
        rtts, per_output, (0.0 * one, delay_s), (True, False), strict=True,
    )  # fmt: skip
    populations = tuple(
        Population(
            window, flows, where.rtt_s, rtt_s, packets / output, aqm.signal(output, window),
            aqm.signal_slope(output, window), late_s, waits,
        )
        for window, flows, rtt_s, packets, late_s, waits in kinds
    )  # fmt: skip
    packets, signal = populations[0].packets, populations[0].signal_prob
    problem = _too_much(where, packets, signal, output, aqm.largest_output)
    return Rest(delay_s, output, where.capacity_pps, populations, problem)


def _red(aqm: RedAqm, where: Conditions) -> Rest:
    """RED's equilibrium: where its line meets the windows' equation, by bisection."""
    low, high = aqm.lower_s.copy(), aqm.largest_s.copy()

    def needed(delay_s: Floats) -> Floats:
        packets = (where.rtt_s + delay_s) * where.capacity_pps / where.flows
        return where.cc.signal_prob(packets)

    overloaded = aqm.signal(high * (1.0 - 1e-12)) < needed(high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        enough = aqm.signal(middle) >= needed(middle)
        high, low = np.where(enough, middle, high), np.where(enough, low, middle)
    delay_s = (low + high) / 2.0
    rtt_s = where.rtt_s + delay_s
    packets = rtt_s * where.capacity_pps / where.flows
    one, none = np.ones_like(delay_s), np.zeros_like(delay_s)
    signal = where.cc.signal_prob(packets)
    flows = Population(where.cc, where.flows, where.rtt_s, rtt_s, packets, signal, one, none)
    problem = _too_much(where, packets, signal, signal, 1.0)
    for i in np.flatnonzero(overloaded):
        problem[i] = (
            f"flows: {where.flows[i]:g} over {where.rate_bps[i] * 1e-6:g} Mbit/s with an RTT of "
            f"{where.rtt_s[i] * 1e3:g} ms need a higher drop probability than RED's line reaches "
            f"at {aqm.largest_s[i] * 1e3:.3g} ms; raise max_p or max_th"
        )
    return Rest(delay_s, signal, where.capacity_pps, (flows,), problem)

"""Values over time from a file and from one run of its scenario, in the same bins."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sojourn.describing.library import load
from sojourn.importing.measured import Measurement, StepCurve
from sojourn.importing.scenario import CALL_PACKETS_PER_S, PROBES
from sojourn.importing.units import seconds
from sojourn.plots.excerpt import Floats, states
from sojourn.running.runs import run

if TYPE_CHECKING:
    from sojourn.running.replicas import Progress
    from sojourn.running.result import Result
    from sojourn.running.store import Store

Kind = Literal["rate", "time", "share"]

_PER_BIN = 5
"""Samples of the run in a bin; a run has a thousand."""
_LOSS_BINS = 5
"""Bins in one of losses: a fortieth of the run, so that a bin of a minute has 75 packets."""
_MAHIMAHI_BITS = 8 * 1504
"""Mahimahi's link_queue.hh, PACKET_SIZE: the bytes of one opportunity."""


@dataclass(frozen=True, eq=False)
class ImportedSeries:
    """A quantity over time, as read and as simulated.

    Attributes:
        name: the quantity, such as ``round trip``.
        way: ``down`` or ``up`` for the rate of that link.
        kind: its unit: bit/s, s or 1.
        edges_s: edges of the bins, shape ``(n + 1,)``.
        read: mean of each bin in the file, shape ``(n,)``; NaN where it has none.
        simulated: mean of each bin in the run, same shape.
        is_constant: whether the file has one number instead of values over time.
    """

    name: str
    way: str
    kind: Kind
    edges_s: Floats
    read: Floats
    simulated: Floats
    is_constant: bool = False

    def typical(self, from_s: float) -> tuple[float, float]:
        """Read and simulated mean, of times the median, where the file has values.

        Args:
            from_s: bins that begin earlier are left out, unless no others have values.
        """
        counted = np.isfinite(self.read) & np.isfinite(self.simulated)
        late = counted & (self.edges_s[:-1] >= from_s - 1e-9)
        at = late if late.any() else counted
        if not at.any():
            return float("nan"), float("nan")
        of: Callable[[Floats], Any] = np.median if self.kind == "time" else np.mean
        return float(of(self.read[at])), float(of(self.simulated[at]))


@dataclass(frozen=True)
class ImportedRun:
    """The quantities of a file that one run of its scenario has too.

    Attributes:
        seed: seed of the run.
        length_s: simulated time.
        warmup_s: how much of it means and medians leave out.
        found: the quantities.
        left_out: what cannot be compared, and why, a sentence each.
    """

    seed: int
    length_s: float
    warmup_s: float
    found: list[ImportedSeries]
    left_out: list[str]


def compared(
    path: Path, measured: Measurement, progress: Progress | None, store: Store | None
) -> ImportedRun:
    """Run the scenario of a measurement once.

    Args:
        path: the scenario.
        measured: the content of the file it was made from.
        progress: receives the progress of the run.
        store: the store in which an earlier run is found.
    """
    scenario = load(path, {} if measured.traffic else {"record.flows": True})
    resolved = json.loads(scenario.resolved_json())
    result = run(scenario, progress=progress, store=store)
    links = [link["name"] for link in resolved["links"]]
    times = np.unique(states(result, links[0])["rate"][0])
    edges = np.append(0.0, times[_PER_BIN - 1 :: _PER_BIN])
    found = [*_rates(measured, links, result, edges)]
    if not measured.traffic:
        found += _others(measured, result, edges)
    left_out, warmup_s = _left_out(measured, found), seconds(resolved["warmup"])
    short = [one for one in found if not np.isfinite(one.typical(warmup_s)).all()]
    left_out += [f"{' '.join((one.name, one.way)).strip()}: the run is too short" for one in short]
    found = [one for one in found if one not in short]
    return ImportedRun(scenario.seed, scenario.duration_s, warmup_s, found, left_out)


def _rates(
    measured: Measurement, links: list[str], result: Result, edges: Floats
) -> Iterator[ImportedSeries]:
    for way in links:
        curve = measured.down if way == "down" else measured.up
        name, is_constant = "rate of the link", False
        if measured.traffic and measured.details:
            arrivals = measured.details[way]
            read = _of_counts(arrivals["bytes"], arrivals["width_ns"] / 1e9, edges)
            name = "captured traffic"
        elif measured.opportunities_ms is not None:
            read = _of_opportunities(measured.opportunities_ms, edges)
        elif curve is not None:
            read, is_constant = _of_steps(curve, edges), len(curve.times_s) == 1
        else:
            continue
        carried = _of_samples(*states(result, way)["rate"], edges)
        yield ImportedSeries(name, way, "rate", edges, read, carried, is_constant)


def _others(measured: Measurement, result: Result, edges: Floats) -> Iterator[ImportedSeries]:
    if measured.delay:
        t_s, owd_s = _of_flow(result, "call", "owd")
        read, simulated = _of_steps(measured.delay, edges), _of_samples(t_s, owd_s, edges)
        yield ImportedSeries("one-way delay", "", "time", edges, read, simulated)
    elif measured.rtt or measured.base_rtt_s is not None:
        if measured.shows_only_probes:
            simulated = _of_samples(*_of_flow(result, PROBES, "rtt"), edges)
        else:
            simulated = _round_trips(result, edges)
        if measured.rtt:
            read = _of_steps(measured.rtt, edges)
            yield ImportedSeries("round trip", "", "time", edges, read, simulated)
        else:
            read = np.full(len(edges) - 1, measured.base_rtt_s)
            yield ImportedSeries("round trip", "", "time", edges, read, simulated, is_constant=True)
    if measured.losses or measured.loss:
        edges = edges[::_LOSS_BINS]
        t_s, missing = _of_flow(result, "call", "missing")
        counts = np.interp(edges, t_s, missing) if len(t_s) else np.zeros(len(edges))
        simulated = np.clip(np.diff(counts) / np.diff(edges) / CALL_PACKETS_PER_S, 0.0, 1.0)
        curve = measured.losses
        read = _of_steps(curve, edges) if curve else np.full(len(edges) - 1, measured.loss)
        yield ImportedSeries(
            "loss", "", "share", edges, read, simulated, is_constant=not measured.losses
        )


def _left_out(measured: Measurement, found: list[ImportedSeries]) -> list[str]:
    if measured.traffic:
        return ["round trips and losses: those of a capture belong to its single flows"]
    names = {one.name for one in found}
    left_out = []
    if "rate of the link" not in names:
        left_out.append("rates: the file has none")
    if not names & {"round trip", "one-way delay"}:
        left_out.append("delays: the file has none")
    if "loss" not in names:
        known = measured.loss is not None
        left_out.append(f"losses: {'nothing was lost' if known else 'the file does not say'}")
    return left_out


def _of_flow(result: Result, name: str, var: str) -> tuple[Floats, Floats]:
    """A variable of a flow of datagrams: seconds and values."""
    table = result.columns("flow_states")
    rows = zip(table["flow"], table["var"], table["t_ns"], table["value"], strict=True)
    found = [(t_ns / 1e9, value) for flow, of, t_ns, value in rows if (flow, of) == (name, var)]
    both = np.array(found, np.float64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _round_trips(result: Result, edges: Floats) -> Floats:
    """Smoothed round trips of all transfers in seconds, a mean for each bin."""
    table = result.columns("flows")
    t_s = np.array(table["t_ns"], np.float64) / 1e9
    rtt_s = np.array(table["srtt_ns"], np.float64) / 1e9
    measured = rtt_s > 0
    return _of_samples(t_s[measured], rtt_s[measured], edges)


def _of_samples(t_s: Floats, values: Floats, edges: Floats) -> Floats:
    """The mean of each bin; a sample counts for the time up to it."""
    known = np.isfinite(values)
    at = np.searchsorted(edges, t_s[known] - 1e-9) - 1
    within = (at >= 0) & (at < len(edges) - 1)
    sums = np.bincount(at[within], values[known][within], minlength=len(edges) - 1)
    counts = np.bincount(at[within], minlength=len(edges) - 1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _of_steps(curve: StepCurve, edges: Floats) -> Floats:
    """The mean over time of each bin; NaN after the end of the curve."""
    ends = np.append(curve.times_s, curve.end_s)
    return _means(ends, np.append(0.0, np.cumsum(np.diff(ends) * curve.values)), edges)


def _of_counts(counts: ArrayLike, width_s: float, edges: Floats) -> Floats:
    """Bit/s in each bin from bytes in intervals of a width."""
    sums = np.append(0.0, 8.0 * np.cumsum(np.asarray(counts, np.float64)))
    times_s = width_s * np.arange(len(sums), dtype=np.float64)
    return _means(times_s, np.asarray(sums, np.float64), edges)


def _of_opportunities(times_ms: list[int], edges: Floats) -> Floats:
    """Bit/s in each bin from opportunities to deliver a packet."""
    counts = np.searchsorted(np.array(times_ms) / 1e3, edges + 1e-9, side="right")
    return _MAHIMAHI_BITS * np.diff(counts) / np.diff(edges)


def _means(times_s: Floats, sums: Floats, edges: Floats) -> Floats:
    """The mean of each bin from an integral over time."""
    end = times_s[-1]
    upper = np.minimum(edges[1:], end)
    widths = upper - np.minimum(edges[:-1], end)
    integral = np.interp(upper, times_s, sums) - np.interp(edges[:-1], times_s, sums)
    # A bin of which the file covers less than half has no value.
    covered = widths > 0.5 * np.diff(edges)
    return np.where(covered, integral / np.where(covered, widths, 1.0), np.nan)

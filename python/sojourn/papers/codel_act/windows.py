"""Figure 6: one-second windows with every loss."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from sojourn.papers.codel_act.common import (
    AQMS,
    COLOURS,
    FLOWS,
    QD,
    TARGET_MS,
    grid,
    keys,
    scenario,
)
from sojourn.plots.curves import Curve, Panel, curves
from sojourn.plots.data import Floats
from sojourn.reproduce import measures
from sojourn.reproduce.paper import Case, Item, Pools, Profile, Seeds, Values
from sojourn.reproduce.pool import Packets

_WINDOWS = {"codel": (5, 50, 500), "codel_act": (50,), "pie": (50,)}


def _f6_cases(_profile: Profile) -> dict[str, Case]:
    def case(aqm: str, n: int) -> Case:
        end_s = 501 if aqm == "codel" else 51
        return Case(scenario(aqm, n, duration_s=end_s, sample="1s"), ("packets", "states"))

    return grid(case)


def _phases(packets: Packets, start_s: float, end_s: float) -> list[Floats]:
    """Drop phases: successive drops without a packet below the target in between."""
    drops = measures.losses_s(packets, overflow=False)
    drops = drops[(drops >= start_s) & (drops < end_s)]
    t_s, delay_s = measures.departures(packets, start_s, end_s)
    low = t_s[delay_s < TARGET_MS * 1e-3]
    phase = np.searchsorted(low, drops)
    return [drops[phase == number] for number in np.unique(phase)]


def phase_ends(t_s: Floats, delay_s: Floats, phases: list[Floats], end_s: float) -> Floats:
    """The end of each phase: the first packet below the target leaves (fact papers-17)."""
    low = np.append(t_s[delay_s < TARGET_MS * 1e-3], end_s)
    return np.asarray(low[np.searchsorted(low[:-1], [phase[-1] for phase in phases])])


def _window(packets: Packets, start_s: float, end_s: float) -> dict[str, float]:
    """Statistics of a window: phases, spacings, zero delays, the delay after a phase."""
    t_s, delay_s = measures.departures(packets, start_s, end_s)
    phases = _phases(packets, start_s, end_s)
    drops = np.concatenate([*phases, []])
    within = np.concatenate([*(np.diff(phase) for phase in phases), []])
    begins, ends = np.array([p[0] for p in phases]), phase_ends(t_s, delay_s, phases, end_s)
    free = begins[1:] - ends[:-1]
    lonely = np.diff(drops) > 0.1 if len(drops) > 1 else np.array([True])
    found = {
        "drops_per_s": len(drops) / (end_s - start_s),
        "phases_per_s": len(phases) / (end_s - start_s),
        "phase_mean_ms": 1e3 * (float(np.mean(ends - begins)) if phases else 0.0),
        "rate_within_phases_per_s": 1.0 / float(within.mean())
        if within.size and within.mean()
        else np.nan,
        "zero_pct": 100.0 * float(np.mean(delay_s < 2e-6)),
        "min_ms": 1e3 * float(delay_s.min()),
        "max_ms": 1e3 * float(delay_s.max()),
        "mean_ms": 1e3 * float(delay_s.mean()),
        "sd_ms": 1e3 * float(delay_s.std()),
        "single_drops_pct": 100.0 * float(lonely.mean()),
        "same_instant_pct": 100.0 * float(np.mean(within < 1e-6)) if within.size else 0.0,
        "phase_end_delay_ms": 1e3
        * float(np.mean(_delay_at(t_s, delay_s, [p[-1] for p in phases]))),
    }
    if free.size:
        found |= {
            "free_min_ms": 1e3 * float(free.min()),
            "free_mean_ms": 1e3 * float(free.mean()),
            "free_median_ms": 1e3 * float(np.median(free)),
        }
    if within.size:
        spaced = within[within > 1e-6]
        found["spacing_p10_ms"] = 1e3 * float(np.quantile(spaced, 0.1)) if spaced.size else 0.0
        found["spacing_median_ms"] = 1e3 * float(np.median(within))
    if len(drops) > 1:
        found["between_losses_mean_ms"] = 1e3 * float(np.diff(drops).mean())
    return found


def _delay_at(t_s: Floats, delay_s: Floats, at_s: list[float]) -> Floats:
    """Delay of the next packet that left, at given times."""
    if not len(at_s):
        return np.array([np.nan])
    return delay_s[np.minimum(np.searchsorted(t_s, at_s), len(t_s) - 1)]


def _fall_after_loss(packets: Packets, start_s: float, end_s: float) -> float:
    """Median time in ms from a loss until the delay has fallen by 2 ms."""
    drops = measures.losses_s(packets, overflow=False)
    drops = drops[(drops >= start_s) & (drops < end_s - 1)]
    t_s, delay_s = measures.departures(packets, start_s, end_s)
    falls = []
    for drop in drops:
        first = int(np.searchsorted(t_s, drop))
        then = delay_s[min(first, len(t_s) - 1)]
        low = np.flatnonzero(delay_s[first:] <= then - 2e-3)
        if low.size:
            falls.append(t_s[first + low[0]] - drop)
    return 1e3 * float(np.median(falls)) if falls else np.nan


def _profile_after_phase(packets: Packets, start_s: float, end_s: float) -> dict[str, float]:
    """Mean delay at times after the end of a drop phase."""
    t_s, delay_s = measures.departures(packets, start_s, end_s)
    ends = [phase[-1] for phase in _phases(packets, start_s, end_s - 0.2)]
    return {
        f"after_phase.at_{ms}ms_ms": 1e3
        * float(np.mean(_delay_at(t_s, delay_s, [e + ms * 1e-3 for e in ends])))
        for ms in (0, 2, 5, 10, 15, 20, 30, 40, 60, 80, 100)
    }


# A window of one second has few phases; numbers are from a longer window that ends with it.
_STRETCH_S = {5: (4.0, 6.0), 50: (41.0, 51.0), 500: (491.0, 501.0)}


def _f6_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, n, aqm in keys(""):
        for window in _WINDOWS[aqm]:
            span = _STRETCH_S[window]
            found = [
                _window(p, *span) | _profile_after_phase(p, *span) for p in pools[key].packets()
            ]
            for name in found[0]:
                each_run = [run.get(name, np.nan) for run in found]
                values[f"{key}.at{window}s.{name}"] = measures.mean_of_finite(each_run)
            if window == 50 and aqm != "pie":
                count = np.mean(
                    [
                        v[(t > span[0]) & (t <= span[1])].mean()
                        for t, v in pools[key].states("count")
                    ]
                )
                values[f"{key}.at50s.count"] = float(count)
                values[f"{key}.at50s.interval_over_sqrt_count_ms"] = 100.0 / float(
                    np.sqrt(max(count, 1))
                )
        if n == 1:
            falls = [_fall_after_loss(p, 10.0, 51.0) for p in pools[key].packets()]
            values[f"{key}.fall_after_loss_ms"] = measures.mean_of_finite(falls)
            gaps = [_window(p, 10.0, 51.0)["between_losses_mean_ms"] for p in pools[key].packets()]
            values[f"{key}.between_losses_mean_ms"] = float(np.mean(gaps))
        if aqm == "pie":
            values[f"{key}.at50s.drop_delay_correlation"] = _correlation(pools[key].packets())
    return values


def _correlation(runs: list[Packets]) -> float:
    """Correlation of drops and mean delay in bins of 50 ms, 10 to 51 s: mean over runs."""
    found = []
    for packets in runs:
        edges = np.arange(10.0, 51.0, 0.05)
        drops, _ = np.histogram(measures.losses_s(packets, overflow=False), edges)
        t_s, delay_s = measures.departures(packets, 10.0, 51.0)
        _, mean = measures.binned(t_s - 10.0, delay_s, 0.05, 41.0)
        size = min(len(drops), len(mean))
        usable = np.isfinite(mean[:size])
        found.append(np.corrcoef(drops[:size][usable], mean[:size][usable])[0, 1])
    return float(np.mean(found))


def _f6_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    plates = [
        ("a", "codel", 5),
        ("b-codel", "codel", 50),
        ("b-codel-act", "codel_act", 50),
        ("b-pie", "pie", 50),
        ("c", "codel", 500),
    ]
    figures = {}
    for name, aqm, start in plates:
        panels = []
        for n in FLOWS:
            packets = pools[f"n{n}.{aqm}"].packets()[0]
            t_s, delay_s = measures.departures(packets, start, start + 1)
            lost = measures.losses_s(packets)
            lost = lost[(lost >= start) & (lost < start + 1)]
            line = Curve(AQMS[aqm], t_s, delay_s * 1e3, COLOURS[aqm], width=1.0)
            panels.append(
                Panel(
                    f"n = {n}",
                    [line],
                    "time [s]",
                    QD,
                    (start, start + 1),
                    (0, None),
                    losses=lost.tolist(),
                )
            )
        title = f"({name[0]}) {AQMS[aqm]}, {start} to {start + 1} s: delay, losses as red lines"
        figures[f"F6{name}"] = curves(title, panels, height_in=1.9)
    return figures


# fmt: off
ITEM = Item("F6", "Queuing delay of consecutive packets with losses", cases=_f6_cases,
    seeds=Seeds(3, 5), published_runs="one run", measure=_f6_measure, figures=_f6_figures,
    note="A drop phase is a run of drops between which no packet left with less than 5 ms of "
    "delay; it lasts until one does. Numbers come from the stretches 4 to 6, 41 to 51 and 491 to "
    "501 s, because a window of one second holds too few phases.")
# fmt: on

"""Schwarzkopf, Veith and Menth 2016: CoDel and PIE for saturated TCP sources; CoDel-ACT.

Longer than 400 lines because a paper is one file: its scenarios, items and 102 claims.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from matplotlib.figure import Figure

from sojourn.plots import style
from sojourn.plots.curves import Curve, Panel, curves, distribution_curve
from sojourn.plots.data import Distribution, Floats
from sojourn.reproduce import measures
from sojourn.reproduce.keep import OVERFLOW
from sojourn.reproduce.paper import (
    Case, Claim, Item, Paper, Part, Pools, Profile, Seeds, Table, Values, alike, between, each,
    growing, is_number, is_within, more, not_less, not_more, number, order, several,
)  # fmt: skip
from sojourn.reproduce.pool import Packets, Pool
from sojourn.scenario import Bulk, FlowGroup, Link, Record, Scenario

FLOWS = (1, 4, 16, 64)
AQMS = {"codel": "CoDel", "codel_act": "CoDel-ACT", "pie": "PIE"}
KIND = {"codel": "codel@draft", "codel_act": "codel@act", "pie": "pie@ietf_draft"}
TARGET_MS = 5.0
RATE_BPS = 10e6
# A frame: 1500 B of IP and 7 B of PPP (catalogue 0.4).
PACKET_S = 1507 * 8 / RATE_BPS
COLOURS = {aqm: style.colour_of(aqm) for aqm in AQMS}
OF_FLOWS = dict(zip((1, 4, 8, 16, 64), style.PALETTE, strict=False))
# Only data after 10 s enter averages.
WARMUP_S = 10.0
QD = "queuing delay [ms]"
THRESHOLDS_MS = (1, 2, 3, 5, 7.5, 10, 12.5, 16, 20, 25, 30)  # chosen: the abscissa is not printed
INTERVALS_MS = (25, 50, 75, 100, 125, 150, 200)
UPDATES_MS = (2, 4, 8, 16, 32, 64, 100, 150)


def scenario(
    aqm: str, flows: int, rtt_ms: int = 10, *, duration_s: float = 100, sample: str = "1s",
    **settings: str | int,
) -> Scenario:  # fmt: skip
    """n saturated clients on a one-sided dumbbell (catalogue 2.1).

    Args:
        aqm: a key of `KIND`.
        flows: n.
        rtt_ms: 10 or 100; the split at 100 ms is chosen: all of it on the bottleneck.
        duration_s: the paper does not print it; 100 s is chosen.
        sample: time between samples.
        settings: parameters of the AQM other than the defaults.
    """
    text = KIND[aqm]
    if settings:
        text += ":" + ",".join(f"{name}={value}" for name, value in settings.items())
    return Scenario(
        name=f"codel-act-n{flows}-rtt{rtt_ms}",
        duration=f"{duration_s:g}s",
        warmup=f"{min(WARMUP_S, duration_s / 2):g}s",
        record=Record(sample=sample),
        links={
            "bottleneck": Link(
                rate="10mbit",
                delay=f"{rtt_ms // 2}ms",
                framing="7B",
                buffer="250kB",
                queue=text,
            )
        },
        flows=[
            FlowGroup(
                name="bulk",
                count=flows,
                path=["bottleneck"],
                rtt=f"{rtt_ms}.2ms",
                access_rate="1gbit",
                tcp="codel-act",
                start="0s..1s",
                app=Bulk(),
            )
        ],
    )


def _grid(make: Callable[[str, int], Case], flows: tuple[int, ...] = FLOWS) -> dict[str, Case]:
    return {f"n{n}.{aqm}": make(aqm, n) for n in flows for aqm in AQMS}


def _keys(prefix: str, flows: tuple[int, ...] = FLOWS) -> list[tuple[str, int, str]]:
    return [(f"{prefix}n{n}.{aqm}", n, aqm) for n in flows for aqm in AQMS]


# Figure 1: the start.


def _f1_cases(_profile: Profile) -> dict[str, Case]:
    cases = _grid(lambda aqm, n: Case(scenario(aqm, n, duration_s=10), ("packets",)))
    for aqm in ("codel", "codel_act"):
        wider = scenario(aqm, 64, duration_s=20, interval="200ms")
        cases[f"n64.{aqm}.interval200ms"] = Case(wider, ("packets",))
    return cases


def _start(packets: Packets, end_s: float) -> dict[str, float]:
    """The initial phase: until the delay, averaged over 0.25 s, is first down to half its peak."""
    t_s, delay_s = measures.departures(packets)
    middle_s, mean_s = measures.binned(t_s, delay_s, 0.25, end_s)
    top = int(np.nanargmax(mean_s))
    down = np.flatnonzero(mean_s[top:] <= mean_s[top] / 2)
    up = np.flatnonzero(mean_s >= mean_s[top] / 2)
    end = float(middle_s[top + down[0]]) if down.size else end_s
    return {
        "peak_ms": 1e3 * float(delay_s.max()),
        "peak_at_s": float(t_s[int(delay_s.argmax())]),
        "initial_end_s": end,
        "initial_duration_s": end - float(middle_s[up[0]]),
    }


def _f1_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        end_s = 20.0 if "interval" in key else 10.0
        found = [_start(packets, end_s) for packets in pool.packets()]
        mean = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
        values |= measures.under(key, mean)
        if "interval" not in key:
            first = np.concatenate([measures.departures(p, 0, 3)[1] for p in pool.packets()])
            late = np.concatenate([measures.departures(p, 7, 10)[1] for p in pool.packets()])
            values[f"{key}.mean_0to3s_ms"] = 1e3 * float(first.mean())
            values[f"{key}.mean_7to10s_ms"] = 1e3 * float(late.mean())
    for n in FLOWS:
        one, two = pools[f"n{n}.codel"].packets()[0], pools[f"n{n}.codel_act"].packets()[0]
        values[f"n{n}.same_until_s"] = _same_until(one, two)
        values[f"n{n}.same_drops"] = float(np.sum(measures.losses_s(one) < values[f"n{n}.same_until_s"]))
    return values


def _same_until(one: Packets, two: Packets) -> float:
    """When two runs part: the first packet that does not leave at the same time in both."""
    a, b = np.sort(one.left_s[one.is_sent]), np.sort(two.left_s[two.is_sent])
    shorter = min(len(a), len(b))
    parted = np.flatnonzero(np.abs(a[:shorter] - b[:shorter]) > 1e-9)
    return float(a[parted[0]]) if parted.size else float(a[shorter - 1])


def _f1_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    panels = []
    for n in FLOWS:
        lines = []
        for aqm, label in AQMS.items():
            t_s, delay_s = measures.departures(pools[f"n{n}.{aqm}"].packets()[0])
            lines.append(Curve(label, t_s, delay_s * 1e3, COLOURS[aqm], width=0.9))
        panels.append(Panel(f"n = {n}", lines, "time [s]", QD, (0, 10), (0, None)))
    return {"F1": curves("Queuing delay of consecutive packets at the start, RTT 10 ms", panels)}


# Figure 2: distributions of delay and of queue length.


def _f2_cases(_profile: Profile) -> dict[str, Case]:
    return _grid(lambda aqm, n: Case(scenario(aqm, n), ("packets",)), (16,))


def _seen(packets: Packets) -> Floats:
    """The queue that each sent packet met on arrival, in packets, those arrived after 10 s."""
    here = packets.is_sent & (packets.left_s >= WARMUP_S)
    arrived = packets.arrived_s[here]
    return measures.backlog_s(packets, arrived, RATE_BPS) / PACKET_S


def _after_warmup(pool: Pool) -> Floats:
    return np.concatenate([measures.departures(p, WARMUP_S)[1] for p in pool.packets()])


def _f2_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        delay_s = _after_warmup(pool)
        seen = np.concatenate([_seen(packets) for packets in pool.packets()])
        values |= measures.under(f"{key}.delay", measures.delays(measures.distribution(delay_s)))
        values |= measures.under(f"{key}.queue", measures.samples(seen, "packets"))
        queue_s = measures.distribution(seen * PACKET_S)
        values |= measures.under(f"{key}.queue_as_delay", measures.delays(queue_s))
        values[f"{key}.queue_bias_packets"] = float(seen.mean() - delay_s.mean() / PACKET_S)
        counts, _ = np.histogram(delay_s, np.arange(0, 0.0601, 0.002))
        for i, share in enumerate(100.0 * counts / len(delay_s)):
            values[f"{key}.delay.from_{2 * i}_to_{2 * i + 2}ms_pct"] = float(share)
        values[f"{key}.mode_ms"] = 2.0 * float(np.argmax(counts)) + 1.0
        low, high = np.quantile(delay_s, [0.05, 0.95])
        even = np.histogram(delay_s, np.linspace(low, high, 9))[0]
        values[f"{key}.evenness"] = float(even.min() / even.max())
    return values


def _f2_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    delay, queue = {}, {}
    for aqm in AQMS:
        pool = pools[f"n16.{aqm}"]
        delay[aqm] = measures.distribution(_after_warmup(pool))
        seen = np.concatenate([_seen(packets) for packets in pool.packets()])
        queue[aqm] = measures.distribution(seen * PACKET_S)

    def lines(complement: bool) -> list[Curve]:
        whole = [("delay", delay, "solid"), ("queue length", queue, (0, (2, 1.3)))]
        return [
            distribution_curve(
                f"{label}, {name}", found[aqm], COLOURS[aqm], dash, complement=complement
            )
            for aqm, label in AQMS.items()
            for name, found, dash in whole
        ]

    x_label = "queuing delay; queue length x packet time [ms]"
    panels = [
        Panel("CDF", lines(False), x_label, "fraction at or below", (0, 45), (0, 1.01)),
        Panel("complement", lines(True), x_label, "fraction above", (0, 45), (1e-4, 1.1), log_y=True),
    ]
    return {"F2": curves("Delay and queue length, n = 16, RTT 10 ms, after 10 s", panels)}


# Table I.


def _t1_cases(profile: Profile) -> dict[str, Case]:
    cases = {}
    for rtt in (10, 100):
        for key, n, aqm in _keys(f"rtt{rtt}."):
            cases[key] = Case(scenario(aqm, n, rtt), ("delays",))
            if profile == "full":
                cases[f"{key}.to510s"] = Case(scenario(aqm, n, rtt, duration_s=510), ("delays",))
    return cases


def _t1_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        values |= measures.under(key, measures.delays(pool.distribution()))
        values[f"{key}.util_pct"] = 100 * pool.number("queue/bottleneck/utilisation")
        values[f"{key}.drop_rate_pct"] = 100 * pool.number("queue/bottleneck/drop_rate")
    return values


def _t1_tables(values: Values) -> list[Table]:
    header = ["RTT [ms]", "n", *(f"{label} {w}" for label in AQMS.values() for w in ("mean", "p99"))]
    tables = []
    for suffix, words in (("", "10 to 100 s"), (".to510s", "10 to 510 s")):
        rows = [
            [
                str(rtt), str(n),
                *(f"{values[f'rtt{rtt}.n{n}.{aqm}{suffix}.{metric}']:.2f}"
                  for aqm in AQMS for metric in ("mean_ms", "p99_ms")),
            ]
            for rtt in (10, 100) for n in FLOWS if f"rtt{rtt}.n{n}.pie{suffix}.mean_ms" in values
        ]  # fmt: skip
        if rows:
            tables.append(Table(f"Table I: packet delay in ms, window {words}", header, rows))
    return tables


# Figure 3 and the prose beside it: sweeps of the threshold and of the time scale.


def _ms(value: float) -> str:
    return f"{value:g}".replace(".", "_") + "ms"


def _sweep_flows(profile: Profile) -> tuple[int, ...]:
    return (1, 4, 8, 16, 64) if profile == "full" else (1, 4, 16, 64)


def _f3_cases(profile: Profile) -> dict[str, Case]:
    thresholds = THRESHOLDS_MS if profile == "full" else (1, 5, 10, 16, 30)
    return {
        f"{aqm}.threshold{_ms(ms)}.n{n}": Case(scenario(aqm, n, target=f"{ms:g}ms"))
        for aqm in AQMS for ms in thresholds for n in _sweep_flows(profile)
    }  # fmt: skip


def _x1_cases(profile: Profile) -> dict[str, Case]:
    intervals = INTERVALS_MS if profile == "full" else (25, 100, 200)
    updates = UPDATES_MS if profile == "full" else (2, 16, 150)
    cases = {
        f"{aqm}.interval{ms}ms.n{n}": Case(scenario(aqm, n, interval=f"{ms}ms"))
        for aqm in ("codel", "codel_act") for ms in intervals for n in _sweep_flows(profile)
    }  # fmt: skip
    pie = {
        f"pie.tupdate{ms}ms.n{n}": Case(scenario("pie", n, tupdate=f"{ms}ms"))
        for ms in updates for n in _sweep_flows(profile)
    }  # fmt: skip
    return cases | pie


def _sweep_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        values[f"{key}.mean_ms"] = 1e3 * pool.number("queue/bottleneck/delay_mean")
        values[f"{key}.util_pct"] = 100 * pool.number("queue/bottleneck/utilisation")
        values[f"{key}.p99_ms"] = 1e3 * pool.number("queue/bottleneck/delay_p99")
    return values


def _sweep_panels(pools: Pools, values: Values, words: Mapping[str, str]) -> list[Panel]:
    panels = []
    metrics = (("mean_ms", "mean delay [ms]"), ("util_pct", "utilisation [%]"))
    for metric, y_label in metrics:
        for aqm, label in AQMS.items():
            name = words[aqm]
            keys = [key for key in pools if key.startswith(f"{aqm}.{name}")]
            x_of = {key: float(key.split(".")[1].removeprefix(name).removesuffix("ms").replace("_", "."))
                    for key in keys}  # fmt: skip
            lines = []
            for n, colour in OF_FLOWS.items():
                here = [key for key in keys if key.endswith(f".n{n}")]
                if here:
                    x, y = [x_of[key] for key in here], [values[f"{key}.{metric}"] for key in here]
                    lines.append(Curve(f"n = {n}", x, y, colour, marker="o"))
            is_delay = metric == "mean_ms"
            panels.append(
                Panel(
                    label, lines, f"{name} [ms]", y_label,
                    y_lim=(0, None) if is_delay else (88, 100.5),
                    diagonal=is_delay and name == "threshold",
                )
            )  # fmt: skip
    return panels


def _f3_figures(pools: Pools, values: Values) -> Mapping[str, Figure]:
    panels = _sweep_panels(pools, values, dict.fromkeys(AQMS, "threshold"))
    title = "Mean delay and utilisation against the delay threshold (dashed: delay = threshold)"
    return {"F3": curves(title, panels, columns=3)}


def _x1_figures(pools: Pools, values: Values) -> Mapping[str, Figure]:
    words = {"codel": "interval", "codel_act": "interval", "pie": "tupdate"}
    title = "Mean delay and utilisation against the time-scale parameter"
    return {"X1": curves(title, _sweep_panels(pools, values, words), columns=3)}


# Figures 4 and 5: count, p and the drop rate over the first 100 s.


def _f4_cases(_profile: Profile) -> dict[str, Case]:
    return _grid(lambda aqm, n: Case(scenario(aqm, n, sample="100ms"), ("states", "packets")))


def _variable(aqm: str) -> str:
    return "drop_prob" if aqm == "pie" else "count"


def _f4_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, _n, aqm in _keys(""):
        each_run = []
        for t_s, level in pools[key].states(_variable(aqm)):
            late = t_s >= 20
            rise, straight = measures.slope(t_s[t_s >= 10], level[t_s >= 10])
            settled = float(level[late].mean())
            each_run.append({
                "level": settled, "sd": float(level[late].std()), "max": float(level.max()),
                "end": float(level[-10:].mean()), "slope_per_s": rise, "straightness": straight,
                "reached_s": measures.reached_s(t_s, level, 0.9 * settled),
                "overshoot": float(level[t_s < 10].max()) / settled if settled else np.nan,
            })  # fmt: skip
        for name in each_run[0]:
            values[f"{key}.{_variable(aqm)}.{name}"] = float(np.mean([run[name] for run in each_run]))
    return values


def _f4_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    panels = []
    for aqm, label in AQMS.items():
        lines = [
            Curve(f"n = {n}", *pools[f"n{n}.{aqm}"].states(_variable(aqm))[0], OF_FLOWS[n], width=1.0)
            for n in FLOWS
        ]
        what = "drop probability p" if aqm == "pie" else "count"
        panels.append(Panel(label, lines, "time [s]", what, (0, 100), (0, None)))
    return {"F4": curves("State variables over the first 100 s of one run", panels, columns=3)}


GRID_S = np.arange(0.0, 100.0, 0.02)


def _drop_rate(packets: Packets) -> Floats:
    return measures.tewma(measures.losses_s(packets), GRID_S)


def _f5_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    late = GRID_S >= 20
    for key, _n, _aqm in _keys(""):
        rates = [_drop_rate(packets) for packets in pools[key].packets()]
        each_run = []
        for rate in rates:
            level = float(rate[late].mean())
            second = np.convolve(rate, np.full(50, 1 / 50), mode="same")
            each_run.append({
                "level_per_s": level, "sd_per_s": float(rate[late].std()),
                "max_per_s": float(rate[late].max()), "min_per_s": float(rate[late].min()),
                "reached_s": measures.reached_s(GRID_S, second, 0.9 * level),
                "peak_0to10s_per_s": float(rate[GRID_S < 10].max()),
                "relative_sd": float(rate[late].std()) / level if level else np.nan,
            })  # fmt: skip
        for name in each_run[0]:
            values[f"{key}.drop_rate.{name}"] = float(np.mean([run[name] for run in each_run]))
    return values


def _f5_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    panels = []
    for n in FLOWS:
        lines = [
            Curve(label, GRID_S, _drop_rate(pools[f"n{n}.{aqm}"].packets()[0]), COLOURS[aqm], width=0.9)
            for aqm, label in AQMS.items()
        ]
        panels.append(Panel(f"n = {n}", lines, "time [s]", "drop rate [1/s]", (0, 100), (0, None)))
    return {"F5": curves("Drop rate, moving average with a memory of 500 ms", panels)}


# Figure 6: one-second windows with every loss.

_WINDOWS = {"codel": (5, 50, 500), "codel_act": (50,), "pie": (50,)}


def _f6_cases(_profile: Profile) -> dict[str, Case]:
    def case(aqm: str, n: int) -> Case:
        end_s = 501 if aqm == "codel" else 51
        return Case(scenario(aqm, n, duration_s=end_s, sample="1s"), ("packets", "states"))

    return _grid(case)


def _phases(packets: Packets, start_s: float, end_s: float) -> list[Floats]:
    """Drop phases: drops between which no packet left with less delay than the target."""
    drops = measures.losses_s(packets, overflow=False)
    drops = drops[(drops >= start_s) & (drops < end_s)]
    t_s, delay_s = measures.departures(packets, start_s, end_s)
    low = t_s[delay_s < TARGET_MS * 1e-3]
    phase = np.searchsorted(low, drops)
    return [drops[phase == number] for number in np.unique(phase)]


def _window(packets: Packets, start_s: float, end_s: float) -> dict[str, float]:
    """What is seen in a window: phases, spacings, zero delays, what follows a phase."""
    t_s, delay_s = measures.departures(packets, start_s, end_s)
    phases = _phases(packets, start_s, end_s)
    drops = np.concatenate([*phases, []])
    within = np.concatenate([*(np.diff(phase) for phase in phases), []])
    free = np.array([b[0] - a[-1] for a, b in zip(phases, phases[1:], strict=False)])
    lonely = np.diff(drops) > 0.1 if len(drops) > 1 else np.array([True])
    found = {
        "drops_per_s": len(drops) / (end_s - start_s),
        "phases_per_s": len(phases) / (end_s - start_s),
        "phase_mean_ms": 1e3 * float(np.mean([phase[-1] - phase[0] for phase in phases or [[0, 0]]])),
        "rate_within_phases_per_s": 1.0 / float(within.mean()) if within.size and within.mean() else np.nan,
        "zero_pct": 100.0 * float(np.mean(delay_s < 2e-6)),
        "min_ms": 1e3 * float(delay_s.min()), "max_ms": 1e3 * float(delay_s.max()),
        "mean_ms": 1e3 * float(delay_s.mean()), "sd_ms": 1e3 * float(delay_s.std()),
        "single_drops_pct": 100.0 * float(lonely.mean()),
        "same_instant_pct": 100.0 * float(np.mean(within < 1e-6)) if within.size else 0.0,
        "phase_end_delay_ms": 1e3 * float(np.mean(_delay_at(t_s, delay_s, [p[-1] for p in phases]))),
    }  # fmt: skip
    if free.size:
        found |= {"free_min_ms": 1e3 * float(free.min()), "free_mean_ms": 1e3 * float(free.mean()),
                  "free_median_ms": 1e3 * float(np.median(free))}  # fmt: skip
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
    """Median time from a loss until the delay is down to half of what it was then, in ms."""
    drops = measures.losses_s(packets, overflow=False)
    drops = drops[(drops >= start_s) & (drops < end_s - 1)]
    t_s, delay_s = measures.departures(packets, start_s, end_s)
    falls = []
    for drop in drops:
        first = int(np.searchsorted(t_s, drop))
        low = np.flatnonzero(delay_s[first:] <= delay_s[min(first, len(t_s) - 1)] / 2)
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


# A window of one second holds few phases; numbers come from a longer stretch that ends with it.
_STRETCH_S = {5: (4.0, 6.0), 50: (41.0, 51.0), 500: (491.0, 501.0)}


def _f6_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, n, aqm in _keys(""):
        for window in _WINDOWS[aqm]:
            span = _STRETCH_S[window]
            found = [
                _window(p, *span) | _profile_after_phase(p, *span) for p in pools[key].packets()
            ]
            for name in found[0]:
                each_run = [run.get(name, np.nan) for run in found]
                values[f"{key}.at{window}s.{name}"] = float(np.nanmean(each_run))
            if window == 50 and aqm != "pie":
                count = np.mean([v[(t > span[0]) & (t <= span[1])].mean()
                                 for t, v in pools[key].states("count")])  # fmt: skip
                values[f"{key}.at50s.count"] = float(count)
                values[f"{key}.at50s.interval_over_sqrt_count_ms"] = 100.0 / float(np.sqrt(max(count, 1)))
        if n == 1:
            falls = [_fall_after_loss(p, 10.0, 51.0) for p in pools[key].packets()]
            values[f"{key}.fall_after_loss_ms"] = float(np.nanmean(falls))
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
    plates = [("a", "codel", 5), ("b-codel", "codel", 50), ("b-codel-act", "codel_act", 50),
              ("b-pie", "pie", 50), ("c", "codel", 500)]  # fmt: skip
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
                Panel(f"n = {n}", [line], "time [s]", QD, (start, start + 1), (0, None), losses=lost)
            )
        title = f"({name[0]}) {AQMS[aqm]}, {start} to {start + 1} s: delay, losses as red lines"
        figures[f"F6{name}"] = curves(title, panels, height_in=1.9)
    return figures


# Utilisation over time, and a frozen count.

_X2 = {"codel": ("codel", {}), "codel_act": ("codel_act", {}), "pie": ("pie", {})} | {
    f"codel_count{n}": ("codel", {"count": n}) for n in (600, 6000, 60000)
}


def _x2_cases(_profile: Profile) -> dict[str, Case]:
    return {
        key: Case(scenario(aqm, 16, duration_s=500, **settings), ("states",))
        for key, (aqm, settings) in _X2.items()
    }


_X2_SPANS = {"1to5s": (1, 5), "25to35s": (25, 35), "35to45s": (35, 45), "90to110s": (90, 110),
             "200to250s": (200, 250), "450to500s": (450, 500), "10to500s": (10, 500)}  # fmt: skip


def _x2_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        series = [(t, 100.0 * rate / RATE_BPS) for t, rate in pool.throughput_bps()]
        for name, (start, end) in _X2_SPANS.items():
            means = [util[(t > start) & (t <= end)].mean() for t, util in series]
            values[f"{key}.util_{name}_pct"] = float(np.mean(means))
        low = [util[t > 10].min() for t, util in series]
        values[f"{key}.util_min_pct"] = float(np.mean(low))
        slopes = [measures.slope(t[t > 60], util[t > 60])[0] for t, util in series]
        values[f"{key}.util_slope_60to500s_pct_per_100s"] = 100.0 * float(np.mean(slopes))
    return values


def _x2_figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
    def lines(keys: Mapping[str, tuple[str, str]]) -> list[Curve]:
        return [
            Curve(label, t, 100 * rate / RATE_BPS, colour, width=0.9)
            for key, (label, colour) in keys.items()
            for t, rate in pools[key].throughput_bps()[:1]
        ]

    own = {aqm: (label, COLOURS[aqm]) for aqm, label in AQMS.items()}
    frozen = {
        f"codel_count{n}": (f"CoDel, count {n}", colour)
        for n, colour in zip((600, 6000, 60000), style.PALETTE[3:], strict=False)
    }
    axes = ("time [s]", "utilisation per 1 s [%]", (0, 500), (75, 101))
    panels = [Panel("growing count", lines(own), *axes), Panel("frozen count", lines(frozen), *axes)]
    return {"X2": curves("Utilisation, n = 16, RTT 10 ms", panels)}


ITEMS = (
    Item("F1", "Queuing delay of consecutive packets from the start", cases=_f1_cases,
         seeds=Seeds(2, 5), measure=_f1_measure, figures=_f1_figures,
         note="The end of the initial phase is read as the time at which the delay, averaged over "
         "0.25 s, is first down to half of its peak. Additional runs with an interval of 200 ms."),
    Item("F2", "Distributions of queuing delay and queue length, n = 16", cases=_f2_cases,
         seeds=Seeds(2, 5), measure=_f2_measure, figures=_f2_figures,
         note="Queue length: what a sent packet met on arrival, times 1.2056 ms per packet."),
    Item("T1", "Mean and 99 % quantile of the packet delay", cases=_t1_cases, seeds=Seeds(3, 20),
         measure=_t1_measure, tables=_t1_tables,
         note="The run length is not printed: 10 to 100 s is the primary window, 10 to 510 s (full "
         "profile) is printed beside it. For 100 ms all of the RTT lies on the bottleneck (chosen)."),
    Item("F3", "Mean delay and utilisation against the delay threshold", cases=_f3_cases,
         seeds=Seeds(1, 20), measure=_sweep_measure, figures=_f3_figures,
         note="The abscissa is not printed and chosen; PIE's threshold is its target."),
    Item("X1", "Mean delay and utilisation against the time-scale parameter (prose)",
         cases=_x1_cases, seeds=Seeds(1, 20), measure=_sweep_measure, figures=_x1_figures),
    Item("F4", "State variables over time", cases=_f4_cases, seeds=Seeds(2, 5),
         measure=_f4_measure, figures=_f4_figures,
         note="The level is the mean from 20 s on; reached at 90 % of it."),
    Item("F5", "Drop rate over time", cases=_f4_cases, seeds=Seeds(2, 5), measure=_f5_measure,
         figures=_f5_figures,
         note="The level is the mean from 20 s on; it is reached when the mean over a second is first "
         "at 90 % of it."),
    Item("F6", "Queuing delay of consecutive packets with losses", cases=_f6_cases,
         seeds=Seeds(1, 5), measure=_f6_measure, figures=_f6_figures,
         note="A drop phase is a run of drops between which no packet left with less than 5 ms of "
         "delay. Numbers come from the stretches 4 to 6, 41 to 51 and 491 to 501 s, because a window "
         "of one second holds too few phases."),
    Item("X2", "Utilisation over time, and with a frozen count (prose)", cases=_x2_cases,
         seeds=Seeds(1, 5), measure=_x2_measure, figures=_x2_figures),
)  # fmt: skip

PAPER = Paper(
    key="codel-act",
    title="Performance Analysis of CoDel and PIE for Saturated TCP Sources",
    source="Schwarzkopf, Veith, Menth; International Teletraffic Congress (ITC 28), 2016",
    about="Saturated TCP sources with the stack of Linux 2.6.29 behind a link of 10 Mbit/s: CoDel's "
    "count grows without bound and its delay depends on the load; CoDel-ACT and PIE behave better.",
    items=ITEMS,
)

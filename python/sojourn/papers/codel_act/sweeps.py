"""Figure 3 and the prose around it: sweeps of the threshold and of the time scale."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from sojourn.papers.codel_act.common import AQMS, OF_FLOWS, scenario
from sojourn.plots.curves import Curve, Panel, curves
from sojourn.plots.palette import MARKERS
from sojourn.reproduce.paper import Case, Item, Pools, Profile, Seeds, Values

# Our choice: the values on the abscissa are not printed.
THRESHOLDS_MS = (1, 2, 3, 5, 7.5, 10, 12.5, 16, 20, 25, 30)
INTERVALS_MS = (25, 50, 75, 100, 125, 150, 200)
UPDATES_MS = (2, 4, 8, 16, 32, 64, 100, 150)


def in_ms(value: float) -> str:
    """A time as a part of a key."""
    return f"{value:g}".replace(".", "_") + "ms"


def _sweep_flows(profile: Profile) -> tuple[int, ...]:
    return (1, 4, 8, 16, 64) if profile == "full" else (1, 4, 16, 64)


def _f3_cases(profile: Profile) -> dict[str, Case]:
    thresholds = THRESHOLDS_MS if profile == "full" else (1, 5, 10, 16, 30)
    return {
        f"{aqm}.threshold{in_ms(ms)}.n{n}": Case(scenario(aqm, n, settings={"target": f"{ms:g}ms"}))
        for aqm in AQMS
        for ms in thresholds
        for n in _sweep_flows(profile)
    }


def _x1_cases(profile: Profile) -> dict[str, Case]:
    intervals = INTERVALS_MS if profile == "full" else (25, 100, 200)
    updates = UPDATES_MS if profile == "full" else (2, 16, 150)
    cases = {
        f"{aqm}.interval{ms}ms.n{n}": Case(scenario(aqm, n, settings={"interval": f"{ms}ms"}))
        for aqm in ("codel", "codel_act")
        for ms in intervals
        for n in _sweep_flows(profile)
    }
    pie = {
        f"pie.tupdate{ms}ms.n{n}": Case(scenario("pie", n, settings={"tupdate": f"{ms}ms"}))
        for ms in updates
        for n in _sweep_flows(profile)
    }
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
    markers = dict(zip(OF_FLOWS, MARKERS, strict=False))
    metrics = (("mean_ms", "mean delay [ms]"), ("util_pct", "utilisation [%]"))
    for metric, y_label in metrics:
        for aqm, label in AQMS.items():
            name = words[aqm]
            keys = [key for key in pools if key.startswith(f"{aqm}.{name}")]
            x_of = {
                key: float(
                    key.split(".")[1].removeprefix(name).removesuffix("ms").replace("_", ".")
                )
                for key in keys
            }
            lines = []
            for n, colour in OF_FLOWS.items():
                here = [key for key in keys if key.endswith(f".n{n}")]
                if here:
                    x, y = [x_of[key] for key in here], [values[f"{key}.{metric}"] for key in here]
                    lines.append(Curve(f"n = {n}", x, y, colour, marker=markers[n]))
            is_delay = metric == "mean_ms"
            panels.append(
                Panel(
                    label,
                    lines,
                    f"{name} [ms]",
                    y_label,
                    y_lim=(0, None) if is_delay else (88, 100.5),
                    diagonal=is_delay and name == "threshold",
                )
            )
    return panels


def _f3_figures(pools: Pools, values: Values) -> Mapping[str, Figure]:
    panels = _sweep_panels(pools, values, dict.fromkeys(AQMS, "threshold"))
    title = "Mean delay and utilisation against the delay threshold (dashed: delay = threshold)"
    return {"F3": curves(title, panels, columns=3)}


def _x1_figures(pools: Pools, values: Values) -> Mapping[str, Figure]:
    words = {"codel": "interval", "codel_act": "interval", "pie": "tupdate"}
    title = "Mean delay and utilisation against the time-scale parameter"
    return {"X1": curves(title, _sweep_panels(pools, values, words), columns=3)}


# fmt: off
ITEMS = (
    Item("F3", "Mean delay and utilisation against the delay threshold", cases=_f3_cases,
        seeds=Seeds(3, 20), published_runs="20 runs", measure=_sweep_measure, figures=_f3_figures,
        note="The abscissa is our choice: it is not printed. PIE's threshold is its target."),
    Item("X1", "Mean delay and utilisation against the time-scale parameter (prose)",
        cases=_x1_cases, seeds=Seeds(3, 20), published_runs="20 runs", measure=_sweep_measure,
        figures=_x1_figures),
)
# fmt: on

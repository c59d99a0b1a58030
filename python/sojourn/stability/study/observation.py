"""Measurements of the packet simulator at an operating point.

The queue delay is sampled every 10 ms as the mean over the packets that left, zero if none did.

- `variation`: its coefficient of variation, standard deviation divided by mean.
- `peak_share`: the normalised spectral peak: the share of its variance within one bin of the
  highest peak of Welch's estimate of its spectrum (Welch 1967; Hann windows of 2^n samples, a
  quarter of the series at most, halved overlap). Noise spreads over many bins, a limit cycle
  occupies few.
- `peak_rad_per_s`: the frequency of that peak.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sojourn import _core
from sojourn.describing.library import load
from sojourn.errors import InputError, RunFailed
from sojourn.running.replicas import Progress, Task, run_all
from sojourn.running.result import Result
from sojourn.scenario import Bulk, FlowGroup, Link, Record, Scenario
from sojourn.stability.arrays import Floats
from sojourn.stability.model.conditions import PACKET_BYTES
from sojourn.stability.model.windows import WINDOWS

LINK = "bottleneck"
DURATION_S = 60.0
WARMUP_S = 20.0
SAMPLE_S = 0.01
# Large enough for every transient, so the limit never acts.
_BUFFER_RTTS = 8.0
_LEAST_BUFFER_BYTES = 150_000.0
_LINK_SHARE = 0.48  # of the round-trip time; the rest is on access links


@dataclass(frozen=True)
class Observation:
    """One run at an operating point.

    Attributes:
        t_s: since the start, shape ``(n_samples,)``.
        delay_s: queue delay, same shape.
        from_s: end of the warm-up, which the measures exclude.
        delay_mean_s: mean.
        variation: coefficient of variation.
        peak_share: normalised spectral peak, see the module.
        peak_rad_per_s: its frequency.
        utilisation: utilisation of the link.
        result: the run itself.
    """

    t_s: Floats
    delay_s: Floats
    from_s: float
    delay_mean_s: float
    variation: float
    peak_share: float
    peak_rad_per_s: float
    utilisation: float
    result: Result


def scenario_of(
    aqm: str,
    rtt_s: float,
    rate_bps: float,
    flows: float,
    *,
    cc: str = "reno",
    scalable_flows: float = 0.0,
    scalable_cc: str = "dctcp",
    packet_bytes: float = PACKET_BYTES,
    seed: int = 1,
    duration_s: float = DURATION_S,
) -> _core.Scenario:
    """The scenario of an operating point: long flows over one link.

    Raises:
        InputError: a number of flows is not an integer, or a congestion control exists only as a
            model.
        ScenarioError: the AQM is not legal.
    """
    buffer = max(_BUFFER_RTTS * rtt_s * rate_bps / 8.0, _LEAST_BUFFER_BYTES)
    groups = [("bulk", flows, cc)] + [("scalable", scalable_flows, scalable_cc)] * (
        scalable_flows > 0
    )
    written = Scenario(
        name="operating-point",
        seed=seed,
        duration=_nanoseconds(duration_s),
        warmup=_nanoseconds(min(WARMUP_S, duration_s / 3.0)),
        links={
            LINK: Link(
                rate=f"{round(rate_bps)}bit",
                delay=_nanoseconds(_LINK_SHARE * rtt_s),
                buffer=f"{round(buffer)}B",
                queue=aqm,
            )
        },
        flows=[
            FlowGroup(
                name=name,
                count=_whole(count),
                path=[LINK],
                rtt=_nanoseconds(rtt_s),
                cc=_simulated(control),
                packet=f"{round(packet_bytes)}B",
                start="0s..1s",
                ecn=WINDOWS[control].scalable or None,
                app=Bulk(),
            )
            for name, count, control in groups
        ],
        record=Record(states=True, sample=_nanoseconds(SAMPLE_S)),
    )
    return load(written)


def _whole(flows: float) -> int:
    if flows != round(flows) or flows < 1:
        raise InputError(f"flows: {flows:g} cannot be simulated; give a whole number")
    return round(flows)


def _simulated(cc: str) -> str:
    """A congestion control that both model and simulator have."""
    known = [entry["name"] for entry in _core.ccs() if entry["name"] in WINDOWS]
    if cc not in known:
        raise InputError(f"cc: `{cc}` exists as a model only; simulate {', '.join(known)}")
    return cc


def _nanoseconds(time_s: float) -> str:
    return f"{round(time_s * 1e9)}ns"


def observe(result: Result, warmup_s: float = WARMUP_S) -> Observation:
    """Measure a run."""
    t_s, delay_s = _series(result)
    settled = delay_s[t_s >= warmup_s]
    mean = float(settled.mean())
    share, frequency = _peak(settled)
    return Observation(
        t_s, delay_s, warmup_s, mean,
        float(settled.std() / mean) if mean > 0.0 else 0.0,
        share, frequency,
        result.summary[f"queue/{LINK}/utilisation"],
        result,
    )  # fmt: skip


def _series(result: Result) -> tuple[Floats, Floats]:
    table = result.columns("states")
    wanted = [
        pair == (LINK, "delay_mean") for pair in zip(table["queue"], table["var"], strict=True)
    ]
    delay_s = np.array(table["value"], np.float64)[wanted]
    return np.array(table["t_ns"], np.float64)[wanted] * 1e-9, np.nan_to_num(delay_s)


def _peak(delay_s: Floats) -> tuple[float, float]:
    """Share of variance around the highest spectral peak, and its frequency in rad/s."""
    from scipy.signal import welch

    length = 1 << max(3, (len(delay_s) // 4).bit_length() - 1)
    frequency, power = welch(delay_s, 1.0 / SAMPLE_S, nperseg=min(length, len(delay_s)))
    power[0] = 0.0
    if not power.sum() > 0.0:
        return 0.0, float("nan")
    top = int(np.argmax(power))
    share = power[max(1, top - 1) : top + 2].sum() / power.sum()
    return float(share), float(2.0 * np.pi * frequency[top])


def observe_all(
    scenarios: Sequence[_core.Scenario],
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
    warmup_s: float = WARMUP_S,
    finish: Callable[[int, Result], None] = lambda _index, _result: None,
) -> list[Observation]:
    """Run and measure operating points.

    Raises:
        Interrupted: Ctrl-C.
        RunFailed: the simulator failed; please report it.
    """
    tasks = [Task(f"point {i + 1}", scenario) for i, scenario in enumerate(scenarios)]
    found = []
    for outcome in run_all(tasks, jobs=jobs, progress=progress, finish=finish):
        if isinstance(outcome, str):
            raise RunFailed(outcome)
        found.append(observe(outcome, warmup_s))
    return found

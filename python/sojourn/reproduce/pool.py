"""The replicas of one case as a measure gets them: all seeds pooled, or a single seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.plots.data import Distribution, Floats
from sojourn.reproduce.extract import SENT, Arrays

QUEUE = "bottleneck"


@dataclass(frozen=True)
class Packets:
    """The packets of one run at the bottleneck, in the order of their fates.

    Attributes:
        arrived_s: arrival, shape ``(n,)``, like all others.
        left_s: the time at which it left or was dropped; 0 while it is queued.
        bytes: size on the link.
        flow: number of its flow.
        fate: one of the codes of `sojourn.reproduce.extract`.
    """

    arrived_s: Floats
    left_s: Floats
    bytes: NDArray[np.int32]
    flow: NDArray[np.int32]
    fate: NDArray[np.int8]

    @cached_property
    def is_sent(self) -> NDArray[np.bool_]:
        """Whether each packet was sent."""
        sent: NDArray[np.bool_] = self.fate == SENT
        return sent

    @cached_property
    def delay_s(self) -> Floats:
        """Sojourn time of each."""
        return self.left_s - self.arrived_s

    def lost_s(self, *fates: int) -> Floats:
        """The times at which packets were dropped for one of these reasons."""
        return np.sort(self.left_s[np.isin(self.fate, fates)])


class Pool:
    """Replicas of one case.

    Args:
        runs: the kept arrays, one per seed.
        plan: the resolved scenario of the first.
    """

    def __init__(self, runs: Sequence[Arrays], plan: dict[str, Any]) -> None:
        self.runs = list(runs)
        self.plan = plan

    def seed(self, index: int) -> Pool:
        """One replica alone."""
        return Pool(self.runs[index : index + 1], self.plan)

    def number(self, key: str) -> float:
        """A number of the summary, such as ``queue/bottleneck/utilisation``: mean over replicas."""
        return float(np.mean([_summary(run).get(key, np.nan) for run in self.runs]))

    def sum(self, key: str) -> float:
        """A number of the summary, added over replicas."""
        return float(np.sum([_summary(run).get(key, np.nan) for run in self.runs]))

    def distribution(self, key: str = f"queue/{QUEUE}/delay") -> Distribution:
        """A distribution of delays, such as ``class/voip/owd``, pooled."""
        key = f"delays/{key}"
        runs = [run for run in self.runs if f"{key}/upper_ns" in run]
        columns = [
            [run[f"{key}/{name}"].astype(np.float64) for run in runs]
            for name in ("lower_ns", "upper_ns", "count")
        ]
        lower, upper, counts = (np.concatenate([*column, []]) for column in columns)
        return Distribution(lower * 1e-9, upper * 1e-9, counts)

    def state_names(self) -> str:
        """The sampled variables of the bottleneck, as a list in words."""
        return ", ".join(sorted(map(str, self.runs[0]["states/names"])))

    def states(self, var: str) -> list[tuple[Floats, Floats]]:
        """A sampled variable of the bottleneck per replica: times in seconds and values."""
        found = []
        for run in self.runs:
            column = list(run["states/names"]).index(var)
            found.append((run["states/t_s"], run["states/values"][:, column]))
        return found

    def throughput_bps(self) -> list[tuple[Floats, Floats]]:
        """Bits per second that left in each sample interval: its end (s) and the rate."""
        return self.states("rate")

    def goodput_bps(self, traffic: str, bin_s: float, per: str = "flow") -> list[Floats]:
        """Payload delivered per bin in bit/s, shape ``(n_bins, n_flows)``, per replica.

        Args:
            traffic: the class.
            bin_s: width of a bin, a multiple of the scenario's sample interval.
            per: ``flow``, or ``class`` for the sum over its flows (one column).
        """
        return [_goodput(run, "goodput", traffic, bin_s, per) for run in self.runs]

    def arrivals_bps(self, group: str, bin_s: float) -> list[Floats]:
        """Bits of a group's packets that left the bottleneck per bin, in bit/s, per replica.

        Args:
            group: the group of flows.
            bin_s: width of a bin, a multiple of 100 ms.
        """
        return [_goodput(run, "arrivals", group, bin_s, "class").ravel() for run in self.runs]

    def completions_s(self, traffic: str, size_bytes: int | None = None) -> Floats:
        """Completion times of transfers of a class, of one size or all, pooled."""
        parts = []
        for run in self.runs:
            here = run["transfers/class"] == traffic
            if size_bytes is not None:
                here &= run["transfers/bytes"] == size_bytes
            parts.append(run["transfers/completion_s"][here])
        return np.concatenate([*parts, []])

    def packets(self) -> list[Packets]:
        """All packets, per replica; only of cases that keep them."""
        return [
            Packets(
                run["packets/arrived_ns"] * 1e-9,
                run["packets/left_ns"] * 1e-9,
                run["packets/bytes"],
                run["packets/flow"],
                run["packets/fate"],
            )
            for run in self.runs
        ]


def _summary(run: Arrays) -> dict[str, float]:
    return dict(zip(run["summary/keys"], run["summary/values"], strict=True))


def _goodput(run: Arrays, kept: str, traffic: str, bin_s: float, per: str) -> Floats:
    t_s = run[f"{kept}/t_s"]
    delivered = run[f"{kept}/delivered_bytes"][:, run[f"{kept}/classes"] == traffic]
    if per == "class":
        delivered = delivered.sum(1, keepdims=True)
    every = round(bin_s / (t_s[1] - t_s[0]))
    at = np.vstack([np.zeros((1, delivered.shape[1])), delivered[every - 1 :: every]])
    rates: Floats = np.diff(at, axis=0) * 8.0 / bin_s
    return rates

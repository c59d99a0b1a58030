"""Series and rates over time, synchronised losses and backlogs, computed from rows of tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

from sojourn.describing.metrics import TABLE, row_of
from sojourn.errors import InputError

# A row of table ``summary``: scope, name, metric, value, unit.
SummaryRow = tuple[str, str, str, float, str]


def series(
    rows: Iterable[Mapping[str, Any]], scope: str, name: str, metric: str, *, bins: int = 1
) -> tuple[list[float], list[float]]:
    """One series of table ``bins``; see `sojourn.running.result.Result.series`."""
    if bins < 1:
        raise InputError(f"bins: {bins} bins make no bin; write at least 1")
    if bins > 1 and row_of(metric).bins != "mean":
        others = ", ".join(sorted(row.name for row in TABLE.values() if row.bins == "mean"))
        raise InputError(
            f"bins: the mean of `{metric}` over bins is not its rate; with bins: {others}"
        )
    wanted = (scope, name, metric)
    of: dict[int, float] = {}
    begins = set()  # a series may lack bins, but no bin is missing from all series
    for row in rows:
        begins.add(row["t_ns"])
        if (row["scope"], row["name"], row["metric"]) == wanted:
            of[row["t_ns"]] = row["value"]
    if not of:
        raise InputError(f"no series {scope}/{name}/{metric}; is `record.bins` set?")
    at = sorted(begins)
    groups = [at[i : i + bins] for i in range(0, len(at) - bins + 1, bins)]
    known = {group[0]: [of[t] for t in group if t in of] for group in groups}
    means = {t: sum(values) / len(values) for t, values in known.items() if values}
    return [t / 1e9 for t in means], list(means.values())


def tewma(
    events_s: Sequence[float], at_s: Sequence[float], *, memory_s: float = 0.5
) -> list[float]:
    """A rate of events as a time-exponentially weighted moving average (TEWMA).

    An event weighs ``exp(-age / memory) / memory``, so a constant rate of events gives that rate
    once the memory is full (Martin and Menth 2004). Schwarzkopf, Veith and Menth 2016, Figure 5,
    shows drop rates with a memory of 500 ms, the default.

    Args:
        events_s: times of events such as drops, in seconds, not decreasing.
        at_s: times at which to compute the rate, in seconds, not decreasing.
        memory_s: the memory, in seconds.

    Returns:
        Events per second at each of the times.

    Raises:
        InputError: the memory is not positive, or times decrease.
    """
    if not memory_s > 0:
        raise InputError(f"memory_s: {memory_s} is not positive")
    for name, times in (("events_s", events_s), ("at_s", at_s)):
        if any(later < earlier for earlier, later in pairwise(times)):
            raise InputError(f"{name}: times decrease; sort them")
    rates, weight, then, place = [], 0.0, 0.0, 0
    for now in at_s:
        while place < len(events_s) and events_s[place] <= now:
            weight = weight * math.exp((then - events_s[place]) / memory_s) + 1.0
            then = events_s[place]
            place += 1
        rates.append(weight * math.exp((then - now) / memory_s) / memory_s)
    return rates


def loss_synchronisation(
    drops: Iterable[tuple[float, str]], flows: int, *, window_s: float
) -> float:
    """Synchronisation of losses: 1 if every flow loses in every episode.

    An episode begins with a drop outside of the previous one and lasts ``window_s``, for example a
    base RTT plus the queue.

    Args:
        drops: (time in seconds, flow) of each drop, in the order of time.
        flows: number of flows.
        window_s: length of an episode in seconds.

    Returns:
        The mean share of flows that lose in an episode, ``1 / flows`` to 1; NaN without drops.

    Raises:
        InputError: no flow is given, or the window is not positive.
    """
    if flows < 1 or not window_s > 0:
        raise InputError(f"flows, window_s: {flows} and {window_s} must be positive")
    began, episodes = -math.inf, list[set[str]]()
    for at, flow in drops:
        if at >= began + window_s:
            began = at
            episodes.append(set())
        episodes[-1].add(flow)
    if not episodes:
        return math.nan
    return sum(len(losers) for losers in episodes) / (flows * len(episodes))


def backlog_seen(
    arrived_ns: Sequence[int],
    left_ns: Sequence[int | None],
    *,
    by: Literal["arrival", "departure"],
) -> list[int]:
    """The queue length in packets that each packet of a queue sees, from table ``packets``.

    Args:
        arrived_ns: column ``arrived_ns`` of packets at one queue.
        left_ns: column ``left_ns``; ``None`` for a packet that is still queued. Dropped packets
            count until they are dropped.
        by: seen by each packet as it arrives, or by each that left as it leaves.

    Returns:
        One number per packet, which counts packets that arrived before it and have not left before
        it, in the order of the rows (for departures, without packets that are still queued).
    """
    import numpy as np

    arrived = np.asarray(arrived_ns, dtype=np.int64)
    never = np.iinfo(np.int64).max
    left = np.asarray([never if at is None else at for at in left_ns], dtype=np.int64)
    came, gone = np.sort(arrived), np.sort(left)
    if by == "arrival":
        at = arrived
        before = np.searchsorted(came, at, side="left")
    else:
        at = left[left != never]
        before = np.searchsorted(came, at, side="right") - 1
    # Departures at this instant count as left, except the packet itself.
    after = np.searchsorted(gone, at, side="right" if by == "arrival" else "left")
    return [int(n) for n in np.maximum(before - after, 0)]


class Numbers(dict[str, float]):
    """Numbers by key; an unknown key is refused with the nearest ones."""

    def __missing__(self, key: object) -> float:
        """Refuse a key.

        Raises:
            KeyError: always.
        """
        from sojourn.describing.nearest import meant

        # `delay_p95` alone lacks its queue: `queue/bottleneck/delay_p95`.
        same = [known for known in self if known.rpartition("/")[2] == str(key)]
        hint = f"; it has {', '.join(same[:3])}" if same else meant(str(key), self)
        raise KeyError(
            f"no number `{key}` in this run{hint}; `list(result.summary)` has every key and "
            "docs/reference/tables.md every metric"
        )

"""Contenders that send at different rates because an AQM shapes (CAKE's ``bandwidth``).

A shaper below the link's rate moves the queue into the AQM and leaves the link partly idle. Queue
delay and utilisation then compare the chosen rates. Goodput and path delay include every queue and
compare what a user gets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sojourn.describing.quantity import required
from sojourn.describing.queues import link_of

if TYPE_CHECKING:
    from sojourn.comparing.metrics import Metric
    from sojourn.running.result import Result

# Framing of a packet at the shaper; framing and rate determine the throughput.
_FRAMING = {"overhead": "0B", "mpu": "0B", "cells": "none"}
_AT_THE_QUEUE = ("delay_p95", "utilisation")
_OF_THE_PATH = {"owd_p95": "path delay p95", "rtt_p95": "path delay p95"}
REMEDY = "judge them by goodput and path delay"


def shaped_rate(link: dict[str, Any]) -> str:
    """The rate of an AQM that shapes below its link, with its framing; empty otherwise.

    Args:
        link: link of a resolved scenario.
    """
    settings = link["queue"]["settings"]
    bandwidth = settings.get("bandwidth", "off")
    if link["queue"]["kind"].removeprefix("fq_") != "cake" or bandwidth == "off":
        return ""
    line = link["rate"]
    is_steady = isinstance(line, str)
    if is_steady and required("bandwidth", bandwidth).size >= required("rate", line).size:
        return ""
    framing = [f"{key} {settings[key]}" for key, none in _FRAMING.items() if settings[key] != none]
    return " with ".join(filter(None, [bandwidth, ", ".join(framing)]))


def rates(results: Mapping[str, Iterable[Result | None]], link: str) -> dict[str, str]:
    """The rate to which each contender shapes, or "" if it does not; no entry if all are equal.

    Args:
        results: keyed by contender; None where a run failed.
        link: the link whose AQM shapes.
    """
    found = {}
    for name, runs in results.items():
        first = next((run for run in runs if run is not None), None)
        scenario = first.manifest.get("scenario") if first else None
        if scenario:
            found[name] = shaped_rate(link_of(scenario, link))
    return found if len(set(found.values())) > 1 else {}


def warning(shaped: Mapping[str, str], metrics: Iterable[Metric]) -> str:
    """A warning that contenders send at different rates; empty if they do not.

    Args:
        shaped: the result of `rates`.
        metrics: those of the comparison.
    """
    if not shaped:
        return ""
    parts = [f"{aqm} at {rate or 'the rate of the link'}" for aqm, rate in shaped.items()]
    has_path = any(metric.metric in _OF_THE_PATH for metric in metrics)
    more = "" if has_path else " (record.latency = true measures it)"
    return (
        f"Contenders send at different rates ({'; '.join(parts)}), so queue delay and utilisation "
        f"compare these rates, not the AQMs: {REMEDY}{more}."
    )


def omitted_figures(shaped: Mapping[str, str]) -> tuple[str, ...]:
    """The figures that would judge contenders by the rates to which they shape."""
    return ("pareto",) if shaped else ()


def family(metrics: list[Metric]) -> list[Metric]:
    """The metrics, with the headline family for contenders that send at different rates."""
    headlines = dict.fromkeys(_AT_THE_QUEUE, "") | _OF_THE_PATH
    return [
        replace(each, row=replace(each.row, headline=headlines.get(each.metric, each.row.headline)))
        for each in metrics
    ]

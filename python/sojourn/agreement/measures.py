"""The numbers of one run that the wide grid compares: those that depend on AQM and TCP."""

from __future__ import annotations

from collections import defaultdict

from sojourn.describing.metrics import shown_in
from sojourn.running.result import Result

RETRANSMITTED = "retransmitted"
"""The metric that comes from table ``flows``, not from ``summary``."""


def values(result: Result) -> dict[str, float]:
    """The numbers by ``scope/name/metric``, in SI units.

    Numbers that cannot differ between engines are left out: Jain's index of a single flow, the
    goodput of a single class, which is the utilisation, and retransmissions of datagrams.
    """
    compared = {(row.scope, row.name) for row in shown_in("agree_wide")}
    found = {
        f"{scope}/{name}/{metric}": value
        for scope, name, metric, value, _unit in result.summary_rows
        if (scope, metric) in compared
    }
    flows = {
        name: value
        for scope, name, metric, value, _unit in result.summary_rows
        if (scope, metric) == ("class", "flows")
    }
    for name, count in flows.items():
        if count == 1:
            found.pop(f"class/{name}/jain", None)
        if len(flows) == 1:
            found.pop(f"class/{name}/goodput", None)
    for name, share in _sent_again(result).items():
        if f"class/{name}/loss_rate" not in found:  # otherwise it sends datagrams
            found[f"class/{name}/{RETRANSMITTED}"] = share
    return found


def _sent_again(result: Result) -> dict[str, float]:
    """The share of each class's payload, after the first sample, that was retransmitted."""
    rows = result.rows("flows")
    times = {row["t_ns"] for row in rows}
    if len(times) < 2:
        return {}
    sign = {min(times): -1, max(times): 1}
    sent: defaultdict[str, int] = defaultdict(int)
    again: defaultdict[str, int] = defaultdict(int)
    for row in rows:
        sent[row["class"]] += sign.get(row["t_ns"], 0) * row["sent_bytes"]
        again[row["class"]] += sign.get(row["t_ns"], 0) * row["retransmitted_bytes"]
    return {name: again[name] / amount for name, amount in sent.items() if amount}

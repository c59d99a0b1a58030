"""Synthetic results for tests: shaped like those of real runs, without a simulator."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from sojourn.comparing.comparison import Comparison
from sojourn.running.result import Result

# Typical queue delay in seconds, loss rate, mark rate.
AQMS = {
    "taildrop": (0.210, 0.002, 0.0),
    "codel": (0.007, 0.011, 0.0),
    "fq_codel": (0.003, 0.010, 0.0),
    "pie": (0.016, 0.012, 0.0),
    "pi2": (0.017, 0.013, 0.004),
    "madpie": (0.015, 0.012, 0.0),
}

# The engine in a manifest.
SIM: dict[str, Any] = {"engine": "sim"}


class SyntheticTable:
    """The interface of a table of the core."""

    def __init__(self, table: pa.Table):
        self._table = table

    def columns(self, first: int = 0, count: int | None = None) -> dict[str, list[Any]]:
        return self._table.slice(first, count).to_pydict()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


class SyntheticRun:
    """The interface of a run of the core; `account` is the engine in its manifest."""

    def __init__(
        self,
        tables: dict[str, pa.Table],
        summary: list[tuple[str, str, str, float, str]],
        account: dict[str, Any],
    ):
        self.account = account
        self.digest, self.warnings = "0123456789abcdef", []
        self._tables, self._summary = tables, summary

    def table(self, name: str) -> SyntheticTable:
        return SyntheticTable(self._tables[name])

    def summary(self) -> list[tuple[str, str, str, float, str]]:
        return self._summary

    def manifest_json(self) -> str:
        facts = {"name": "demo", "seed": 1, "digest": self.digest, "versions": {}}
        return json.dumps(facts | self.account)

    def write(self, folder: str) -> list[str]:
        raise NotImplementedError(folder)


def histogram(scope: str, name: str, metric: str, values_s: np.ndarray) -> list[dict[str, Any]]:
    edges, counts = np.unique(np.ceil(values_s * 1e4).astype(int) * 100_000, return_counts=True)
    base = {"scope": scope, "name": name, "metric": metric}
    return [
        base | {"lower_ns": int(e) - 100_000, "upper_ns": int(e), "count": int(c)}
        for e, c in zip(edges, counts, strict=True)
    ]


def flows(goodput: float) -> pa.Table:
    times = [i * 100_000_000 for i in range(1, 100)]
    rows = [
        {
            "flow": f"bulk.{number}", "t_ns": t_ns, "cwnd_bytes": 15_000 + number * (t_ns >> 16),
            "srtt_ns": 100_000_000, "delivered_bytes": int(goodput * t_ns / 8e9) // 2,
        }
        for number in (1, 2) for t_ns in times
    ]  # fmt: skip
    return pa.Table.from_pylist(rows)


def states(delay_s: np.ndarray, loss: float, marks: float, rng: np.random.Generator) -> pa.Table:
    n = len(delay_s)
    columns = {
        "delay_mean": delay_s,
        "drops": rng.poisson(loss * 80, n).astype(float),
        "marks": rng.poisson(marks * 80, n).astype(float),
    }
    rows = [
        {"queue": "bottleneck", "t_ns": i * 100_000_000, "var": var, "value": float(values[i])}
        for var, values in columns.items()
        for i in range(n)
    ]
    return pa.Table.from_pylist(rows)


def result(aqm: str, seed: int, account: dict[str, Any] = SIM) -> Result:
    typical, loss, marks = AQMS[aqm]
    rng = np.random.default_rng([seed, *aqm.encode()])
    luck = np.random.default_rng(seed).normal()
    delay = rng.gamma(6.0, typical / 6.0, 5000) * (1 + 0.01 * luck)
    times = rng.lognormal(np.log(0.3 + 3 * typical), 0.5, 300)
    owd = delay[:1000] + 0.05
    goodput = 9.1e6 - 1e5 * np.exp(-typical * 100) + 2e4 * luck + rng.normal(0, 8e3)
    p50, p95, p99 = np.quantile(delay, [0.5, 0.95, 0.99])
    queue = {
        "delay_mean": (delay.mean(), "s"), "delay_p50": (p50, "s"), "delay_p95": (p95, "s"),
        "delay_p99": (p99, "s"), "delay_max": (delay.max(), "s"),
        "utilisation": (0.985 + 0.002 * luck, "1"), "drop_rate": (loss * (1 + 0.05 * luck), "1"),
        "drop_rate_overflow": (loss if aqm == "taildrop" else 0.0, "1"),
        "drop_rate_random": (0.0 if aqm == "taildrop" else loss, "1"),
        "mark_rate": (marks, "1"), "mark_rate_deterministic": (0.0, "1"),
    }  # fmt: skip
    classes = {
        "bulk": {"flows": (10.0, "1"), "goodput": (goodput, "bit/s"), "jain": (0.97, "1")},
        "web": {
            "goodput": (4e5, "bit/s"), "transfers": (300.0, "1"),
            "completion_p50": (float(np.median(times)), "s"),
            "completion_p95": (float(np.quantile(times, 0.95)), "s"),
        },
        "voip": {
            "goodput": (8.7e4, "bit/s"), "owd_p95": (float(np.quantile(owd, 0.95)), "s"),
            "loss_rate": (loss, "1"),
        },
    }  # fmt: skip
    summary = [("queue", "bottleneck", m, float(v), u) for m, (v, u) in queue.items()]
    for name, metrics in classes.items():
        summary += [("class", name, m, float(v), u) for m, (v, u) in metrics.items()]
    summary.append(("run", "", "events", 1e6, "events"))
    wander = typical * (1 + 0.3 * np.sin(np.arange(600) / 9 + seed)) + rng.normal(
        0, typical / 9, 600
    )
    bins = histogram("queue", "bottleneck", "delay", delay)
    bins += histogram("class", "web", "completion", times)
    bins += histogram("class", "voip", "owd", owd)
    tables = {
        "flows": flows(goodput),
        "states": states(np.maximum(wander, 0), loss, marks, rng),
        "histograms": pa.Table.from_pylist(bins),
    }
    return Result(SyntheticRun(tables, summary, account))


def comparison(
    aqms: Sequence[str] = tuple(AQMS), seeds: int = 10, accounts: Sequence[dict[str, Any]] = (SIM,)
) -> Comparison:
    """Results of AQMs; `accounts` are their engines, in turn."""
    numbers = list(range(1, seeds + 1))
    scenario: Any = SimpleNamespace(
        name="demo", seed=1, origin="demo.toml", source="name = 1\n", sets=[], duration_s=60.0,
        links=["bottleneck"], resolved_json=lambda: "{}", warnings=[],
        document_json=lambda: "{}",
    )  # fmt: skip
    results = {
        aqm: [result(aqm, seed, accounts[i % len(accounts)]) for seed in numbers]
        for i, aqm in enumerate(aqms)
    }
    return Comparison(scenario, "bottleneck", numbers, results)

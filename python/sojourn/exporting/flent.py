"""A run as a data file of Flent, version 4.

Source: flent 2.3, flent/resultset.py, and the series of its tests rrul, rrul_be, tcp_ndown,
tcp_nup, ping, voip, voip-1up and voip-rrul: rates in Mbit/s, times in ms, null for no value.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.describing.quantity import required
from sojourn.errors import InputError
from sojourn.exporting.flent_calls import UNITS, Call, call
from sojourn.running.result import Result

_VERSION = 4
# Time 0 of a run; virtual time has no date, and equal runs give equal files.
_EPOCH = "1970-01-01T00:00:00.000000Z"
_UPLINKS = ("up", "upload", "upstream", "uplink")
# Flent samples this often.
_STEP_NS = 200_000_000
# The classes of service of rrul, by DSCP, and those of its UDP pings.
_RRUL = {0: "BE", 8: "BK", 40: "CS5", 46: "EF"}
_RRUL_PINGS = {0: "UDP BE", 8: "UDP BK", 46: "UDP EF"}
_RRUL_BE_STREAMS = 4
_ICMP = "ICMP"
_UDP_HEADER_BYTES = 28

Series = list[float | None]


@dataclass(frozen=True)
class _Flow:
    """A flow of the run: its place in Flent's tests, and its samples."""

    way: str
    """``download``, ``upload``, ``ping`` or ``call``."""
    dscp: int
    values: Series
    call: Call | None = None


def data(result: Result) -> tuple[bytes, list[str]]:
    """The content of a ``.flent.gz``, and what the file cannot express.

    Downloads and uploads are the TCP flows; flows whose first link is called ``up``, ``upload``,
    ``upstream`` or ``uplink`` go up. Flows of ``kind = "echo"`` are the pings; the first voice call
    is that of the tests voip, voip-1up and voip-rrul.

    Args:
        result: a run that recorded its flows.

    Raises:
        InputError: the run has no samples of flows, or has samples of flows that the scenario
            lacks, or Flent has no test with such flows.
    """
    times, flows, left_out = _flows(result)
    calls = [flow.call for flow in flows if flow.call]
    name, parameters, series = _test(flows, bool(calls))
    raw = {label: _raw(times, values) for label, values in series.items()}
    if calls:
        series |= calls[0].series()
        raw["VoIP"] = calls[0].packets(times)
    manifest = result.manifest
    step = times[1] - times[0] if len(times) > 1 else times[0]
    metadata = {
        "NAME": name, "TITLE": f"{manifest['name']}, seed {manifest['seed']}",
        "STEP_SIZE": step, "LENGTH": times[-1], "TOTAL_LENGTH": times[-1], "HOST": "far",
        "HOSTS": ["far"], "LOCAL_HOST": "near", "IP_VERSION": 4, "FLENT_VERSION": None,
        "BATCH_NAME": None, "BATCH_TIME": None, "BATCH_TITLE": None, "BATCH_UUID": None,
        "NOTE": f"simulated by sojourn {manifest['versions']['sojourn']}, {manifest['engine']}, "
        f"digest {manifest['digest']}",
        "T0": _EPOCH, "TIME": _EPOCH, "DATA_FILENAME": f"{manifest['name']}.flent.gz",
        "TEST_PARAMETERS": parameters,
        "SERIES_META": {label: {"UNITS": _unit(label), "MEAN_VALUE": _mean(values)}
                        for label, values in series.items()},
    }  # fmt: skip
    content = {
        "version": _VERSION, "metadata": metadata, "x_values": times, "results": series,
        "raw_values": raw,
    }  # fmt: skip
    text = json.dumps(content, allow_nan=False).encode()
    return gzip.compress(text, mtime=0), left_out


def _flows(result: Result) -> tuple[list[float], list[_Flow], list[str]]:
    columns = result.columns("flows")
    if not columns["t_ns"]:
        raise InputError(
            "the run has no samples of its flows, which a Flent file consists of; run it again "
            "with `--record flows`"
        )
    names = list(dict.fromkeys(columns["flow"]))
    instants = sorted(set(columns["t_ns"]))
    every = min(max(1, round(_STEP_NS / instants[0])), len(instants))
    steps = instants[every - 1 :: every]
    delivered = _by_flow(columns["flow"], columns["t_ns"], columns["delivered_bytes"])
    states = result.columns("flow_states")
    pings = _by_flow(*_only_rtt(states))
    groups = [
        group for group in result.manifest["scenario"]["flows"] for _ in range(group["count"])
    ]
    if len(names) != len(groups):
        raise InputError(
            f"the run has samples of {len(names)} flows and its scenario has {len(groups)}, "
            "perhaps because programs replaced some; only flows of a scenario can be exported"
        )
    flows: list[_Flow] = []
    left_out: list[str] = []
    parts = [instants[at : at + every] for at in range(0, len(steps) * every, every)]
    for name, group in zip(names, groups, strict=True):
        app = group["app"]
        if app["kind"] == "echo":
            seconds = pings.get(name, {})
            means = [_mean([seconds.get(t) for t in part]) for part in parts]
            flows.append(_Flow("ping", group.get("dscp", 0), [_scaled(m, 1e3) for m in means]))
        elif "tcp" in app:
            way = "upload" if group["path"][0] in _UPLINKS else "download"
            flows.append(_Flow(way, group.get("dscp", 0), _rates(delivered[name], steps)))
        elif app.get("voice") and (heard := _call_states(states, name)):
            if any(flow.call for flow in flows):
                left_out.append(f"{name}: Flent's tests have one call, the run's first")
                continue
            payload = required("B", app["packet"]).size - _UDP_HEADER_BYTES
            found = call(heard, delivered[name], parts, payload)
            flows.append(_Flow("call", group.get("dscp", 0), [], found))
        else:
            left_out.append(f"{name}: flows of `{app['kind']}` have no place in Flent's tests")
    return [t / 1e9 for t in steps], flows, left_out


def _only_rtt(states: Mapping[str, list[Any]]) -> tuple[list[Any], list[Any], list[Any]]:
    rows = zip(states["flow"], states["t_ns"], states["var"], states["value"], strict=True)
    kept = [(flow, t, value) for flow, t, var, value in rows if var == "rtt"]
    return [row[0] for row in kept], [row[1] for row in kept], [row[2] for row in kept]


def _call_states(states: Mapping[str, list[Any]], name: str) -> dict[str, dict[int, float]] | None:
    """Delay, jitter and losses over time, if the engine recorded them."""
    found: dict[str, dict[int, float]] = {"owd": {}, "jitter": {}, "missing": {}}
    rows = zip(states["flow"], states["t_ns"], states["var"], states["value"], strict=True)
    for flow, t, var, value in rows:
        if flow == name and var in found:
            found[var][t] = value
    return found if found["owd"] else None


def _by_flow(
    flows: Sequence[str], times: Sequence[int], values: Sequence[float]
) -> dict[str, dict[int, float]]:
    found: dict[str, dict[int, float]] = {}
    for flow, t, value in zip(flows, times, values, strict=True):
        found.setdefault(flow, {})[t] = value
    return found


def _rates(delivered: Mapping[int, float], instants: list[int]) -> Series:
    """The rate of arrivals since the last sample in Mbit/s; null until something has arrived."""
    rates: Series = []
    before, last = 0.0, 0
    for t in instants:
        total = delivered.get(t, before)
        rates.append(8e3 * (total - before) / (t - last) if total and t > last else None)
        before, last = total, t
    return rates


def _test(flows: list[_Flow], calls: bool) -> tuple[str, dict[str, str], dict[str, Series]]:
    """Flent's test that has such flows, its parameters and its series."""
    ways = {way: [f for f in flows if f.way == way] for way in ("download", "upload", "ping")}
    down, up, pings = ways["download"], ways["upload"], ways["ping"]
    if calls and not down and not pings and len(up) <= 1:
        return ("voip-1up", {}, {"TCP upload": up[0].values}) if up else ("voip", {}, {})
    if (down and up) or calls:
        return _both_ways(down, up, pings, calls)
    series = _pings(pings, [_ICMP, *(f"{_ICMP}{n + 2}" for n in range(len(pings)))])
    if not down and not up:
        if not pings:
            raise InputError("the run has no TCP flows and no pings, so no Flent file of it exists")
        return "ping", {}, series
    way, name, found = (
        ("download", "tcp_ndown", down) if down else ("upload", "tcp_nup", up)
    )  # fmt: skip
    labels = [f"::{n + 1}" for n in range(len(found))]
    parameters = {f"{way}_streams": str(len(found))}
    return name, parameters, series | _streams(way, found, labels)


def _both_ways(
    down: list[_Flow], up: list[_Flow], pings: list[_Flow], calls: bool
) -> tuple[str, dict[str, str], dict[str, Series]]:
    if not calls and all(sorted(f.dscp for f in flows) == sorted(_RRUL) for flows in (down, up)):
        name, labels = "rrul", [[f" {_RRUL[f.dscp]}" for f in flows] for flows in (down, up)]
    elif max(len(down), len(up)) <= _RRUL_BE_STREAMS:
        one = [" BE", *(f" BE{n}" for n in range(2, _RRUL_BE_STREAMS + 1))]
        name = "voip-rrul" if calls else "rrul_be"
        labels = [one[: len(flows)] for flows in (down, up)]
    else:
        raise InputError(
            f"Flent has no test with {len(down)} downloads and {len(up)} uploads"
            f"{' and a call' if calls else ''}: in both directions it has at most "
            f"{_RRUL_BE_STREAMS} each (rrul_be, with a call voip-rrul), or the four classes of "
            "rrul; run the directions by themselves"
        )
    series: dict[str, Series] = {}
    for way, flows, of_way in zip(("download", "upload"), (down, up), labels, strict=True):
        series |= _streams(way, flows, of_way) if flows else {}
    sums = [values for label, values in series.items() if label.endswith(" sum")]
    series["TCP totals"] = [_sum(row) for row in zip(*sums, strict=True)]
    return name, {}, series | _pings(pings, _ping_labels(name, pings))


def _ping_labels(name: str, pings: list[_Flow]) -> list[str]:
    """The first ping uses ICMP; further ones use UDP."""
    labels, used = [], set()
    for number, ping in enumerate(pings):
        label = _ICMP if number == 0 else f"UDP BE{number}"
        if number and name == "rrul":
            label = _RRUL_PINGS.get(ping.dscp, label)
        if label in used:
            raise InputError(
                f"Flent's test {name} has one ping `{label}`, and the run has two; give them "
                "different DSCPs, or leave one out"
            )
        used.add(label)
        labels.append(label)
    return labels


def _streams(way: str, flows: list[_Flow], labels: Sequence[str]) -> dict[str, Series]:
    series = {f"TCP {way}{label}": flow.values for flow, label in zip(flows, labels, strict=True)}
    rows = list(zip(*series.values(), strict=True))
    series[f"TCP {way} avg"] = [_scaled(_sum(row), 1 / len(row)) for row in rows]
    series[f"TCP {way} sum"] = [_sum(row) for row in rows]
    return series


def _pings(pings: list[_Flow], labels: Sequence[str]) -> dict[str, Series]:
    series = {f"Ping (ms) {label}": ping.values
              for ping, label in zip(pings, labels, strict=False)}  # fmt: skip
    if len(series) > 1:
        means = [_mean(row) for row in zip(*series.values(), strict=True)]
        series["Ping (ms) avg"] = means
    return series


def _raw(times: list[float], values: Series) -> list[dict[str, float]]:
    return [{"t": t, "val": value} for t, value in zip(times, values, strict=True)
            if value is not None]  # fmt: skip


def _unit(label: str) -> str:
    if label.startswith("VoIP"):
        return UNITS.get(label.rpartition("::")[2], "ms")
    return "ms" if label.startswith("Ping") else "Mbits/s"


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor

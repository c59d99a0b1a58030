"""Figures 1, 5 and 9: the topologies as configured."""

from __future__ import annotations

from functools import partial

from sojourn.papers.madpie.common import S1_RTTS, S2_RTTS, s1, s2, s3
from sojourn.reproduce.paper import Item, Pools, listed
from sojourn.scenario import Scenario


def _topology(name: str, scenario: Scenario) -> dict[str, float]:
    link = (scenario.links or {})["bottleneck"]
    assert isinstance(link.delay, str) and isinstance(link.buffer, str), "written so above"
    values = {
        f"{name}.bottleneck_rate_mbps": 10.0,
        f"{name}.bottleneck_delay_ms": float(link.delay.removesuffix("ms")),
        f"{name}.queue_limit_bytes": float(link.buffer.removesuffix("B")),
    }
    for group in scenario.flows:
        values[f"{name}.{group.name}.base_rtt_ms"] = float((group.rtt or "").removesuffix("ms"))
        values[f"{name}.{group.name}.count"] = float(group.count or 1)
        values[f"{name}.{group.name}.access_rate_mbps"] = 100.0
        assert group.access is not None, "written so above"
        for side in ("sender", "receiver"):
            delay = getattr(group.access, side)
            values[f"{name}.{group.name}.{side}_access_delay_ms"] = float(delay.removesuffix("ms"))
    return values


def _f1_measure(_pools: Pools) -> dict[str, float]:
    return {k: v for rtt in S1_RTTS for k, v in _topology(f"rtt{rtt}", s1("pie", rtt)).items()}


def _f5_measure(_pools: Pools) -> dict[str, float]:
    return {k: v for rtt in S2_RTTS for k, v in _topology(f"rtt{rtt}", s2("pie", rtt)).items()}


def _f9_measure(_pools: Pools) -> dict[str, float]:
    return _topology("s3", s3("pie"))


# fmt: off
S1 = Item("F1", "Topology of S1", "structure", measure=_f1_measure,
    tables=partial(listed, "S1 as configured"))
S2 = Item("F5", "Topology and classes of S2", "structure", measure=_f5_measure,
    tables=partial(listed, "S2 as configured"))
S3 = Item("F9", "Topology of S3", "structure", measure=_f9_measure,
    tables=partial(listed, "S3 as configured"))
# fmt: on

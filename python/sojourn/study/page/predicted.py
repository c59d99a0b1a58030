"""Predictions of control theory at the points of a study, for comparison with the runs.

The prediction is the phase margin of the fluid model (docs/how-to/stability.md): below 0 the loop
of senders and AQM is unstable. It exists if the model has the AQM and only long flows of one
congestion control and one RTT share a link of constant rate.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from sojourn import _core
from sojourn.describing.quantity import required
from sojourn.errors import InputError
from sojourn.study.points import PointScenario


def phase_margins_deg(points: Sequence[PointScenario], link: str) -> dict[int, float]:
    """The phase margin at every point that the fluid model describes.

    Args:
        points: points of a study.
        link: the link of the AQM.

    Returns:
        Degrees by index of the point; without points that have no model or no equilibrium.
    """
    groups: dict[tuple[str, str, float], list[tuple[int, Mapping[str, float]]]] = {}
    for each in points:
        found = _operating_point(json.loads(each.scenario.document_json()), link)
        if found is not None:
            kind, where = found
            groups.setdefault(kind, []).append((each.point.index, where))
    margins: dict[int, float] = {}
    for kind, members in groups.items():
        margins |= _margins(kind, members)
    return margins


def _margins(
    kind: tuple[str, str, float], members: Sequence[tuple[int, Mapping[str, float]]]
) -> dict[int, float]:
    from sojourn.stability import analyse

    aqm, cc, packet_bytes = kind
    columns: dict[str, Any] = {
        key: [where[key] for _, where in members] for key in ("rtt_s", "rate_bps", "flows")
    }
    try:
        found = analyse(aqm, **columns, cc=cc, packet_bytes=packet_bytes)
    except (InputError, _core.ScenarioError):
        return {}
    pairs = zip(members, found.phase_margin_deg.tolist(), strict=True)
    return {index: margin for (index, _), margin in pairs if math.isfinite(margin)}


def _operating_point(
    document: Mapping[str, Any], link: str
) -> tuple[tuple[str, str, float], dict[str, float]] | None:
    """AQM, congestion control and packet size, and the link's rate, RTT and number of flows."""
    rate, aqm = (document["links"][link].get(key) for key in ("rate", "queue"))
    through = [group for group in document["flows"] if link in group["path"]]
    kinds = {
        (group.get("cc"), group.get("rtt"), group.get("packet", "1500B")) for group in through
    }  # fmt: skip
    is_long = all(
        group["app"]["kind"] == "bulk" and not group["app"].keys() & {"bytes"} for group in through
    )
    if not isinstance(rate, str) or not isinstance(aqm, str) or len(kinds) != 1 or not is_long:
        return None
    ((cc, rtt, packet),) = kinds
    if not isinstance(cc, str) or rtt is None:
        return None
    return (aqm, cc, required("packet", packet).size), {
        "rtt_s": required("rtt", rtt).size,
        "rate_bps": required("rate", rate).size,
        "flows": float(sum(group.get("count", 1) for group in through)),
    }

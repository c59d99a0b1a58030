"""The columns that identify the run of a row; every saved table has them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from sojourn import _core
from sojourn.describing.queues import compared_link, queue_of

Labels = dict[str, str | int | None]


def labels(
    scenario: _core.Scenario, engine: str, link: str | None = None, aqm: str | None = None
) -> Labels:
    """The labels of a run, column by column.

    Args:
        scenario: the scenario, with its seed.
        engine: the engine's name.
        link: the link whose AQM is named; by default the only one, or ``bottleneck``.
        aqm: that AQM as the user wrote it; by default the scenario's.

    Returns:
        ``scenario``, ``scenario_digest``, ``engine``, ``aqm``, ``dialect``, ``seed``, and
        ``set.KEY`` for every key that overrode the scenario's file. Without such a link, AQM and
        dialect are None.
    """
    resolved = json.loads(scenario.resolved_json())
    link = link or compared_link(scenario.links)
    columns: Labels = {
        "scenario": scenario.name,
        "scenario_digest": digest(resolved, link),
        "engine": engine,
        "aqm": (aqm or scenario.queue(link)) if link else None,
        "dialect": queue_of(resolved, link)["dialect"] if link else None,
        "seed": scenario.seed,
    }
    return columns | {f"set.{key}": value.strip("\"'") for key, value in scenario.sets}


def digest(resolved: dict[str, Any], link: str | None) -> str:
    """A digest that the runs of one comparison share: 16 hexadecimal digits.

    Args:
        resolved: the resolved scenario.
        link: the link whose AQM is left out, as are the seed, the name and the warnings.
    """
    shared = {k: v for k, v in resolved.items() if k not in ("seed", "name", "warnings")}
    shared["links"] = [
        {k: v for k, v in each.items() if k not in ("queue", "limit") or each["name"] != link}
        for each in resolved["links"]
    ]
    text = json.dumps(shared, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]

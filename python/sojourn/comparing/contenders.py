"""The contenders of a comparison, each with engine, dialect, target and update interval."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sojourn.comparing.until import lines
from sojourn.describing.queues import contradictions, left_out, linux_of, queue_of

if TYPE_CHECKING:
    from sojourn.comparing.compared_runs import ComparedRuns

# Parameters that set how often a law looks at the queue, in the order in which they are shown.
_UPDATES = ("tupdate", "interval")


@dataclass(frozen=True)
class Contender:
    """One column of a comparison, with the settings of its AQM as they were run.

    Attributes:
        name: the column's name: an AQM, with its engine where engines are compared.
        engine: the name of the engine.
        kind: kind of AQM, such as ``fq(pie)``.
        dialect: the dialect that it follows.
        target: its delay target; may be empty.
        update: name and value of its update interval; may be empty.
        hz: timer frequency to which a kernel dialect rounds the interval; else empty.
        effective: values that it used in place of requested ones, one text each.
        linux: the release of Linux that it follows in the simulator; may be empty.
    """

    name: str
    engine: str = ""
    kind: str = ""
    dialect: str = ""
    target: str = ""
    update: tuple[str, str] = ("", "")
    hz: str = ""
    effective: tuple[str, ...] = ()
    linux: str = ""

    def text(self) -> str:
        """``rfc8033, target 15ms, tupdate 15ms``."""
        parts = [
            self.dialect,
            f"as Linux {self.linux}" if self.linux else "",
            f"target {self.target}" if self.target else "",
            " ".join(self.update) if self.update[0] else "",
            f"kernel timer {self.hz} Hz" if self.hz else "",
            "in use: " + ", ".join(self.effective) if self.effective else "",
        ]
        return ", ".join(filter(None, parts))


def contenders(comparison: ComparedRuns) -> list[Contender]:
    """Every column in the order of the table, from the resolved scenario of its first run."""
    return [_contender(comparison, name) for name in comparison.aqms]


def of_queue(name: str, engine: str, queue: dict[str, Any]) -> Contender:
    """The contender of a resolved queue."""
    settings = queue["settings"]
    update = next(((key, settings[key]) for key in _UPDATES if key in settings), ("", ""))
    hz = settings.get("hz", "off")
    target = settings.get("target", "")
    return Contender(
        name, engine, queue["kind"], queue["dialect"], target, update, "" if hz == "off" else hz
    )


def _contender(comparison: ComparedRuns, name: str) -> Contender:
    runs = comparison.of(name)
    manifest = runs[0].manifest if runs else {}
    if not manifest.get("scenario"):
        return Contender(name)
    queue = queue_of(manifest["scenario"], comparison.link)
    values = manifest.get("effective", [])
    found, linux = contradictions(values, comparison.link), linux_of(values, comparison.link)
    of = of_queue(name, manifest["engine"], queue)
    return replace(of, effective=tuple(found), linux=linux)


def head(comparison: ComparedRuns) -> list[str]:
    """The common settings (time, warm-up, seeds), and one line for each contender."""
    resolved = json.loads(comparison.scenario.resolved_json())
    return [
        _span(comparison, resolved),
        *(lines(comparison.until, len(comparison.seeds)) if comparison.until else []),
        *notes(comparison),
        *(line for line in map(_line, contenders(comparison)) if line),
    ]


def notes(comparison: ComparedRuns) -> list[str]:
    """What its numbers do not include or distinguish; see `left_out`."""
    resolved = json.loads(comparison.scenario.resolved_json())
    runs = (run for aqm in comparison.aqms for run in comparison.of(aqm))
    return left_out(resolved, comparison.link, {str(run.manifest.get("engine")) for run in runs})


def _span(comparison: ComparedRuns, resolved: dict[str, Any]) -> str:
    scenario, seeds = comparison.scenario, comparison.seeds
    duration, warmup = (resolved.get(key, "0s") for key in ("duration", "warmup"))
    which = f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds, {_range(seeds)}"
    counted = (
        "all of it counts (no warm-up, so that slow start is part of every number)"
        if warmup == "0s"
        else f"the first {warmup} (warm-up) do not count"
    )
    return f"{scenario.name}, link {comparison.link}: {duration}, {counted}; {which}."


def _range(seeds: list[int]) -> str:
    if seeds == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


def _line(contender: Contender) -> str:
    text = contender.text()
    return f"{contender.name}: {text}" if text else ""

"""A comparison read back from its folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sojourn import _core, files
from sojourn.comparing.compared_runs import ComparedRuns, run_folder
from sojourn.comparing.own_metrics import OwnMetric, bring_metrics
from sojourn.comparing.stopping import from_facts
from sojourn.errors import InputError
from sojourn.running.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

C = TypeVar("C", bound=ComparedRuns)


def reopen(cls: type[C], folder: Path, metrics: Sequence[str | OwnMetric]) -> C:
    """The comparison that was saved in a folder.

    Args:
        cls: the class to create.
        folder: a folder with ``comparison.json`` and ``runs``.
        metrics: custom metrics.

    Raises:
        InputError: the folder holds no comparison, or a run of it is missing or damaged.
    """
    facts = facts_of(folder)
    scenario = _core.Scenario.load(
        json.dumps(facts["document"]),
        format="json",
        origin=facts["origin"],
        folder=str(Path(facts["origin"]).parent),
    )
    seeds: list[int] = facts["seeds"]
    kept = {(run["aqm"], run["seed"]) for run in facts["runs"]}
    results: Mapping[str, list[Result | None]] = {
        aqm: [
            Result.open(folder / run_folder(aqm, seed)) if (aqm, seed) in kept else None
            for seed in seeds
        ]
        for aqm in facts["aqms"]
    }
    return cls(
        scenario, facts["link"], seeds, results, facts["failures"], facts["references"],
        bring_metrics(metrics), from_facts(facts["until"]),
    )  # fmt: skip


def facts_of(folder: Path) -> dict[str, Any]:
    """The content of ``comparison.json`` in a folder.

    Raises:
        InputError: the file is missing or damaged.
    """
    file = folder / files.COMPARISON
    try:
        facts = files.unsealed(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{folder}: has no {files.COMPARISON}; `sojourn compare --out DIR` writes one"
        ) from None
    except ValueError as error:
        raise InputError(f"{file}: is damaged, or of an earlier version; compare again") from error
    return facts

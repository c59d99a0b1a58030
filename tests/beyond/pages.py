"""Pages of docs/results that a script writes as a whole: an answer, how it was made, tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import sojourn
from sojourn import files
from sojourn.comparing.statistics import estimate
from sojourn.describing.formatting import decimals_for, show
from sojourn.describing.library import ScenarioLike

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def write(name: str, title: str, answer: str, *parts: str) -> None:
    """Write the page `name` with its answer on top."""
    about = f"Written by `make beyond PAGES={name}`; do not edit."
    text = "\n\n".join([f"# {title}", f"**{answer}**", about, *parts])
    files.write(RESULTS / f"{name}.md", f"{text}\n")


def runs(
    scenario: ScenarioLike, seeds: int, sets: Mapping[str, object] | None = None
) -> list[Mapping[str, float]]:
    """The summaries of a scenario's runs, one per seed from 1 on; two at a time."""

    def run(seed: int) -> Mapping[str, float]:
        return sojourn.run(scenario, seed=seed, sets=sets).summary

    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(run, range(1, seeds + 1)))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def plus_minus(values: Sequence[float], scale: float = 1.0) -> str:
    """The mean over seeds and half of its 95 % interval."""
    found = estimate(values)
    mean, half = scale * found.mean, scale * found.half_width
    decimals = decimals_for(half, mean)
    return f"{show(mean, decimals)} ± {show(half, decimals)}"

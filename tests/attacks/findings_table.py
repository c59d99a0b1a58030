"""The table of findings in docs/how-to/studies.md: its figures are those of the findings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "how-to" / "studies.md"


def findings() -> dict[str, dict[str, Any]]:
    """The facts of every finding, by name."""
    paths = sorted((DOCS / "results" / "attacks").glob("*.finding.json"))
    return {path.name.partition(".")[0]: json.loads(path.read_text()) for path in paths}


def rewritten(page: str) -> str:
    """The page with the judged figures of all findings in their rows."""
    return "\n".join(_lines(page, findings()))


def _lines(page: str, facts: dict[str, dict[str, Any]]) -> Iterator[str]:
    rows = {f"| [`{name}`](../results/attacks/{name}.toml) ": of for name, of in facts.items()}
    for line in page.split("\n"):
        of = next((facts for start, facts in rows.items() if line.startswith(start)), None)
        if of is None:
            yield line
            continue
        cells = line.split("|")
        attacked, *others = of["judged"].items()
        cells[3] = f" {_text(of, *attacked)} "
        cells[4] = f" {', '.join(_text(of, aqm, ends[:1]) for aqm, ends in others)} "
        yield "|".join(cells)


def _text(facts: dict[str, Any], aqm: str, ends: list[float]) -> str:
    """An AQM with its mean and, where given, the ends of its interval."""
    if facts["worst"] != "delay":
        mean, *interval = [f"{end:.2f}" for end in ends]
        unit = ""
    else:
        delays_s = [10.0**end for end in ends]
        is_long = delays_s[0] >= 1.0
        texts = [f"{each:.2f}" if is_long else f"{each * 1e3:.0f}" for each in delays_s]
        mean, *interval = texts
        unit = " s" if is_long else " ms"
    between = f" ({' to '.join(interval)})" if interval else ""
    return f"`{aqm}` {mean}{unit}{between}"

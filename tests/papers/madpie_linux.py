"""Writes the table of MADPIE against the kernel's PIE in docs/results/madpie-linux.md.

    python tests/papers/madpie_linux.py REPRODUCTION.json

The file is that of `sojourn reproduce madpie:F2,G,F8 --engine linux`; `make madpie-linux` makes
all of it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sojourn import files

PAGE = Path(__file__).parents[2] / "docs" / "results" / "madpie-linux.md"
BEGIN, END = "<!-- madpie on linux -->\n", "<!-- end of madpie on linux -->\n"
HEAD = """\
| experiment | base RTT | quantity | `sch_pie` | MADPIE |
|---|---|---|---|---|
"""
# Item, its measure, base RTTs in ms, and by quantity the end of its key.
ROWS = (
    ("F2", "10 bulk flows", (100, 500), {
        "queuing delay, median [ms]": "p50_ms",
        "queuing delay, 95 % [ms]": "p95_ms",
        "queuing delay, 99 % [ms]": "p99_ms",
        "utilisation [%]": "util_mean_pct",
    }),
    ("G", "calls in a traffic mix", (100, 300, 500), {
        "queuing delay, median [ms]": "qd.p50_ms",
        "queuing delay, 95 % [ms]": "qd.p95_ms",
    }),
    ("F8", "bulk flows in that mix", (100, 300, 500), {"goodput [Mbit/s]": "total.mean_mbps"}),
)  # fmt: skip


def main(path: str) -> None:
    """Write the table from a reproduction."""
    made = json.loads(Path(path).read_text(encoding="utf-8"))
    rows = []
    for item, what, rtts, quantities in ROWS:
        for rtt in rtts:
            for name, end in quantities.items():
                keys = (f"madpie.{item}.rtt{rtt}.{aqm}.{end}" for aqm in ("pie", "madpie"))
                cells = (what, f"{rtt} ms", name, *(_cell(made, key) for key in keys))
                rows.append(f"| {' | '.join(cells)} |\n")
    about = f"Engine {made['engine']}.\n\n"
    files.replace_between(PAGE, BEGIN, END, about + HEAD + "".join(rows))


def _cell(made: Mapping[str, Any], key: str) -> str:
    """The mean over seeds and half of its 95 % interval."""
    return f"{made['run_means'][key]:.3g} ± {made['half_widths'][key]:.2g}"


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Compares PI2's paper with the simulator and ns-3.

    python tests/papers/engines.py SIM.json NS3.json

Each is the reproduction.json of `sojourn reproduce pi2`, with `--engine ns3` for the second. The
table is in docs/results/pi2-ns3.md; `make pi2-ns3` makes all of it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sojourn import files

PAGE = Path(__file__).parents[2] / "docs" / "results" / "pi2-ns3.md"
BEGIN, END = "<!-- pi2 -->\n", "<!-- end of pi2 -->\n"
HEAD = """\
| claim | quantity | paper | sim | ns-3 | verdict on sim | on ns-3 |
|---|---|---|---|---|---|---|
"""
Part = Mapping[str, Any]


def main(sim: str, ns3: str) -> None:
    """Write the page from two reproductions."""
    ours, theirs = (json.loads(Path(path).read_text(encoding="utf-8")) for path in (sim, ns3))
    claims = {claim["id"]: claim for claim in theirs["claims"]}
    rows = []
    for claim in ours["claims"]:
        twin = claims[claim["id"]]
        name = f"{claim['id']}: {claim['what']}"
        for part, other in zip(claim["parts"], twin["parts"], strict=True):
            verdicts = f"{part['verdict']} | {other['verdict']}"
            cells = (name, part["label"], part["published"] or "", _value(part), _value(other))
            rows.append(f"| {' | '.join(cells)} | {verdicts} |\n")
            name = ""
    files.replace_between(PAGE, BEGIN, END, HEAD + "".join(rows))


def _value(part: Part) -> str:
    """The value of a number, or both sides of an order."""
    if part["measured"] is not None and not part["sides"]:
        return f"{part['measured']:.3g} {part['unit']}".strip()
    shown = (f"{side['value']:.3g} {side['unit']}".strip() for side in part["sides"])
    return ", ".join(shown)


if __name__ == "__main__":
    main(*sys.argv[1:])

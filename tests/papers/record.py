"""Record a reproduction of the five papers: the page of scores, the line of the README.

    python tests/papers/record.py out/reproduction/reproduction.json [LATER.json ...]

A later reproduction of some items replaces the first one's results, and the page says so. Writes
docs/results/papers.md, the number of claims that hold in README.md, and, in
tests/data/reason_values.txt, the measured values that reasons name. A reason that names a value
that was not measured is an error."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sojourn.engines import registry
from sojourn.reproduce import reasons, select
from sojourn.reproduce.show import named_side
from sojourn.reproduce.verdict import GOOD

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "results" / "papers.md"
VALUES = ROOT / "tests" / "data" / "reason_values.txt"
README = ROOT / "README.md"
SCORE = re.compile(r"\d+ of \d+ hold or match")

Claim = Mapping[str, Any]
GROUPS: dict[str, tuple[Callable[[Claim], bool], Sequence[str]]] = {
    "claims hold or match": (lambda claim: True, GOOD),
    "numbers match or are near": (lambda claim: claim["tag"] != "order", ("match", "near")),
    "orders hold": (lambda claim: claim["tag"] == "order", ("holds",)),
    "orders hold or are weak": (lambda claim: claim["tag"] == "order", ("holds", "weak")),
}


def main(*paths: str) -> None:
    """Write everything from one ``reproduction.json`` and later ones of some items."""
    found, *later = (json.loads(Path(path).read_text(encoding="utf-8")) for path in paths)
    for one in later:
        replace(found, one)
    VALUES.write_text(values_text(found["values"]), encoding="utf-8")
    PAGE.write_text(page(found), encoding="utf-8")
    good, _, covered = score(found["claims"], "claims hold or match")
    text, count = SCORE.subn(
        f"{good} of {covered} hold or match", README.read_text(encoding="utf-8")
    )
    if count != 1:
        raise SystemExit(f"{README}: one phrase like `200 of 284 hold or match` is expected")
    README.write_text(text, encoding="utf-8")


def replace(found: dict[str, Any], later: Mapping[str, Any]) -> None:
    """Replace or add claims, values and paragraphs of items that were reproduced later."""
    claims = {one["id"]: one for one in later["claims"]}
    found["claims"] = [claims.pop(one["id"], one) for one in found["claims"]]
    found["claims"] += claims.values()
    found["values"] |= later["values"]
    for paper, paragraphs in later["paragraphs"].items():
        found["paragraphs"][paper] |= paragraphs
    items = [f"{one['paper']}:{one['item']}" for one in later["items"]]
    found.setdefault("later", []).append(f"{', '.join(items)} (simulator {later['simulator']})")


def named() -> list[str]:
    """Every value that a reason names, on any engine, as ``paper.item.key``."""
    names: dict[str, None] = {}
    for engine in (registry.DEFAULT.engine, registry.find("linux")):
        for paper, _items in select.select([], engine):
            for claim in paper.claims:
                names |= dict.fromkeys(keys(paper.key, claim.where, claim.differs))
            for text in paper.paragraphs.values():
                names |= dict.fromkeys(keys(paper.key, "", text))
    return sorted(names)


def keys(paper: str, where: str, template: str) -> list[str]:
    """The values of one reason, whose claim is about the item `where`."""
    pairs = [name.rpartition("/") for name in reasons.names(template) if name != reasons.WORST]
    return [f"{paper}.{item or where}.{key}" for item, _, key in pairs]


def values_text(values: Mapping[str, float | None]) -> str:
    """The measured values that reasons name, one per line.

    Raises:
        SystemExit: one was not measured.
    """
    missing = [name for name in named() if values.get(name) is None]
    if missing:
        raise SystemExit("reasons name what was not measured: " + ", ".join(missing))
    return "".join(f"{name} {values[name]:.6g}\n" for name in named())


def score(claims: Iterable[Claim], group: str) -> tuple[int, int, int]:
    """Claims of a group that count by the rule and by the first rule, and all covered claims."""
    belongs, good = GROUPS[group]
    covered = [one for one in claims if one["verdict"] != "not covered" and belongs(one)]
    return (
        sum(one["verdict"] in good for one in covered),
        sum(one["first_verdict"] in good for one in covered),
        len(covered),
    )


def page(found: Mapping[str, Any]) -> str:
    """docs/results/papers.md."""
    claims = found["claims"]
    papers = list(dict.fromkeys(one["paper"] for one in claims))
    rows = [(name, [one for one in claims if one["paper"] == name]) for name in papers]
    lines = [
        "# Papers: what holds", "",
        "Generated from `sojourn reproduce --full` by `make reproduce-full`; do not edit. What the "
        "verdicts mean is in", "[reproduce.md](../how-to/reproduce.md).", "",
        f"Profile {found['profile']}, engine {found['engine']}, simulator {found['simulator']}."
        + "".join(f" Reproduced later: {items}." for items in found.get("later", ())), "",
        "Each cell: by the rule / by the first rule, of all that are covered. By the first rule "
        "shares, bounds and ranges were", "judged like other numbers.", "",
        "A number is that of all seeds pooled. Both sides of an order are means over the seeds, "
        "and so are the numbers in its", "reason, in paragraphs, and before a ±, which is half of "
        "the 95 % interval of that mean.", "",
        "| paper | " + " | ".join(GROUPS) + " |", "|---" * (len(GROUPS) + 1) + "|",
    ]  # fmt: skip
    for name, of_paper in [*rows, ("all", claims)]:
        cells = ["{} / {} of {}".format(*score(of_paper, group)) for group in GROUPS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines += ["", "Other readings, measured in addition to the one that is judged:", ""]
    for name, of_paper in rows:
        for key in of_paper[0]["variants"]:
            other = [dict(one, verdict=one["variants"][key]) for one in of_paper]
            scores = ", ".join(f"{group} {score(other, group)[0]}" for group in GROUPS)
            lines.append(f"- {name}, `{key}`: {scores}.")
    for name, of_paper in rows:
        bad = [one for one in of_paper if one["verdict"] not in (*GOOD, "not covered")]
        lines += ["", f"## {name}", "", f"Claims that do not hold or match: {len(bad)}.", ""]
        lines += [entry(one) for one in bad]
        for title, text in found["paragraphs"][name].items():
            lines += ["", f"“{title}”: {text}"]
    return "\n".join(lines) + "\n"


def entry(claim: Claim) -> str:
    """A claim that fails as an item of a list."""
    worst = next(part for part in claim["parts"] if part["verdict"] == claim["verdict"])
    sides = ", ".join(
        f"{named_side(one['name'])} {number(one['value'])} {one['unit']}".strip()
        for one in worst["sides"]
    )
    margin = f"margin {number(worst['measured'])} {worst['unit']}".strip()
    shown = (
        f"{number(worst['measured'])} / {worst['published']} {worst['unit']}".strip()
        if worst["published"]
        else f"{worst['label']}: {sides or margin}"
    )
    if len(claim["parts"]) > 1:
        good = sum(part["verdict"] in GOOD for part in claim["parts"])
        shown += f" ({good} of {len(claim['parts'])} parts hold or match)"
    because = f" {claim['differs'][:1].upper()}{claim['differs'][1:]}" if claim["differs"] else ""
    return f"- **{claim['id']}** ({claim['verdict']}) {claim['what']}. {shown}.{because}"


def number(value: float | None) -> str:
    """Three significant digits; all digits of integers."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


if __name__ == "__main__":
    main(*sys.argv[1:])

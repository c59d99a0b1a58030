"""The dossier: one self-contained HTML page per paper and an index; figures first."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import files
from sojourn.describing.finite import without_nan
from sojourn.markup import policy
from sojourn.report import facts_of_machine, inline_svg, page_style
from sojourn.reproduce import published, show, work
from sojourn.reproduce.export import scenario_text
from sojourn.reproduce.outcome import (
    MeasuredItem,
    MeasuredPaper,
    Reproduction,
    Say,
    quiet,
    to_json,
)
from sojourn.reproduce.verdict import GOOD, JudgedClaim
from sojourn.running.store import simulator

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

_HERE = Path(__file__).parent


def save(reproduction: Reproduction, folder: Path, say: Say = quiet) -> list[str]:
    """Write figures (PNG), a page per paper, an index, and last ``reproduction.json``.

    Args:
        reproduction: the measured papers.
        folder: the folder for the files.
        say: receives the name of the paper whose figures are drawn.

    Raises:
        OSError: the folder cannot be written, or the disk is full.
    """
    names = []
    for made in reproduction.papers:
        say(f"drawing the figures of {made.paper.key}")
        names += _save_paper(reproduction, made, folder)
    index = _template("index.html.j2").render(
        style=_style(), policy=policy(), reproduction=reproduction, papers=reproduction.papers,
        show=show, facts=_facts(reproduction),
    )  # fmt: skip
    files.write(folder / "index.html", index)
    text = json.dumps(without_nan(to_json(reproduction)), indent=1, ensure_ascii=False)
    files.write(folder / "reproduction.json", text + "\n")
    return [*names, "index.html", "reproduction.json"]


def _save_paper(reproduction: Reproduction, made: MeasuredPaper, folder: Path) -> list[str]:
    from sojourn.plots import style

    names, sections = [], []
    once = Once()

    def drawings(drawn: Mapping[str, Figure], suffix: str = "") -> dict[str, str]:
        """Writes the figures as PNG; returns them as SVG."""
        inline: dict[str, str] = {}
        for name, figure in drawn.items():
            names.append(f"{made.paper.key}/{name}{suffix}.png")
            files.write(folder / names[-1], style.png(figure))
            inline[name] = inline_svg(style.svg(figure), f"{made.paper.key}-{name}{suffix}")
        return inline

    # Figures first, otherwise in the paper's order.
    for each, drawn in sorted(_drawn(made, reproduction), key=lambda pair: not pair[1]):
        section = _section(made, each, drawings(drawn), once)
        section["asked"] = [
            _variant(variant.what, own, drawings(found, f"-{key}"))
            for key, variant in each.item.asked().items()
            for own, found in _drawn(replace(made, items=[each.as_variant(key)]), reproduction)
        ]
        sections.append(section)
    page = _template("paper.html.j2").render(
        style=_style(), policy=policy(), made=made, sections=sections, show=show,
        profile=reproduction.profile, engine=reproduction.engine, facts=_facts(reproduction),
    )  # fmt: skip
    names.append(f"{made.paper.key}.html")
    files.write(folder / names[-1], page)
    return names


class Once:
    """Texts of a page; a text that the page already has is replaced by a reference."""

    def __init__(self) -> None:
        self._where: dict[str, str] = {}

    def note(self, item: str, text: str) -> str:
        """A note without the sentences that an earlier item has."""
        sentences = re.split(r"(?<=[.;]) (?=[A-Z])", text) if text else []
        there = [self._where[one] for one in sentences if one in self._where]
        new = [one for one in sentences if one not in self._where]
        self._where |= dict.fromkeys(new, item)
        return " ".join([*new, *(f"See also {one}." for one in dict.fromkeys(there))])

    def reasons(self, found: Sequence[tuple[JudgedClaim, str]]) -> list[tuple[str, str]]:
        """Reasons with the claims that they explain; repeated reasons become references."""
        grouped: dict[str, list[JudgedClaim]] = {}
        for judged, text in found:
            grouped.setdefault(text or "No reason is known.", []).append(judged)
        rows = []
        for text, claims in grouped.items():
            names = ", ".join(f"{one.claim.id} ({one.verdict})" for one in claims)
            above = self._where.setdefault(text, claims[0].claim.id)
            rows.append((names, text if above == claims[0].claim.id else f"as for {above}."))
        return rows


def _drawn(
    made: MeasuredPaper, reproduction: Reproduction
) -> list[tuple[MeasuredItem, Mapping[str, Figure]]]:
    """Every item with its figures, published values marked in them."""
    pairs = []
    for each in made.items:
        figures = _figures(each, reproduction)
        for name, figure in figures.items():
            published.draw(figure, name, made.paper)
        pairs.append((each, figures))
    return pairs


def _figures(made: MeasuredItem, reproduction: Reproduction) -> Mapping[str, Figure]:
    if made.item.missing:
        return {}
    return made.item.figures(work.pool(made.plan, reproduction.store), made.values)


def _section(
    paper: MeasuredPaper, made: MeasuredItem, drawings: Mapping[str, str], once: Once
) -> dict[str, Any]:
    bad = [one for one in made.claims if one.verdict not in (*GOOD, "not covered")]
    tables = [] if made.item.missing else made.item.tables(made.values)
    return {
        "made": made,
        "drawings": drawings,
        "has_marks": any(mark.figure in drawings for mark in paper.paper.marks),
        "tables": [(table, show.table_rows(made, table)) for table in tables],
        "claims": show.claim_rows(made.claims),
        "seeds": show.seeds(made),
        "note": once.note(made.item.id, made.item.note),
        "parts": made.claims,
        "differs": once.reasons([(one, paper.reason(one)) for one in bad]),
        "measured": show.value_table(made),
        "scenarios": _scenarios(made.without_asked()),
    }


def _variant(what: str, made: MeasuredItem, drawings: Mapping[str, str]) -> dict[str, Any]:
    """An item under a variant that a reader asked for, next to what is published."""
    return {
        "what": what,
        "drawings": drawings,
        "tables": [
            (table, show.table_rows(made, table)) for table in made.item.tables(made.values)
        ],
        "claims": show.claim_rows(made.claims),
        "scenarios": {
            key: scenario_text(runs[0].scenario, Path()) for key, runs in made.plan.cases.items()
        },
    }


def _scenarios(made: MeasuredItem) -> dict[str, str]:
    """The scenario files of all cases, seed 1, each text once."""
    texts = {key: runs[0].scenario.source for key, runs in made.plan.cases.items()}
    distinct: dict[str, str] = {}
    for key, text in texts.items():
        distinct.setdefault(text, key)
    return {key: text for text, key in distinct.items()}


def _facts(reproduction: Reproduction) -> list[tuple[str, str]]:
    tally = reproduction.tally
    return [
        ("profile", reproduction.profile),
        ("engine", reproduction.engine),
        ("simulator", simulator()),
        ("runs", f"{tally.made + tally.cached:,}"),
        *facts_of_machine(),
    ]


def _style() -> Markup:
    return page_style((_HERE / "dossier.css").read_text(encoding="utf-8"))


def _template(name: str) -> Any:
    from sojourn.report import template

    return template(_HERE, name)

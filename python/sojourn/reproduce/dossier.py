"""The dossier: one self-contained HTML page per paper and an index; figures first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import files
from sojourn.report import PAGE_CSS, facts_of_machine, inline_svg, without_nan
from sojourn.reproduce import show, work
from sojourn.reproduce.outcome import MeasuredItem, MeasuredPaper, Reproduction, to_json
from sojourn.reproduce.verdict import GOOD
from sojourn.running.store import simulator

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HERE = Path(__file__).parent


def save(reproduction: Reproduction, folder: Path) -> list[str]:
    """Write figures (PNG), a page per paper, an index, and last ``reproduction.json``.

    Raises:
        OSError: the folder cannot be written, or the disk is full.
    """
    names = []
    for made in reproduction.papers:
        names += _save_paper(reproduction, made, folder)
    index = _template("index.html.j2").render(
        style=_style(), reproduction=reproduction, papers=reproduction.papers, show=show,
        facts=_facts(reproduction),
    )  # fmt: skip
    files.write(folder / "index.html", index)
    text = json.dumps(without_nan(to_json(reproduction)), indent=1, ensure_ascii=False)
    files.write(folder / "reproduction.json", text + "\n")
    return [*names, "index.html", "reproduction.json"]


def _save_paper(reproduction: Reproduction, made: MeasuredPaper, folder: Path) -> list[str]:
    from sojourn.plots import style

    names, sections = [], []
    for each in made.items:
        drawn = _figures(each, reproduction)
        for name, figure in drawn.items():
            names.append(f"{made.paper.key}/{name}.png")
            files.write(folder / names[-1], style.png(figure))
        drawings = {
            name: inline_svg(style.svg(figure), f"{made.paper.key}-{name}")
            for name, figure in drawn.items()
        }
        sections.append(_section(each, drawings))
    # Figures first, otherwise in the paper's order.
    sections.sort(key=lambda section: not section["drawings"])
    page = _template("paper.html.j2").render(
        style=_style(), made=made, sections=sections, show=show, profile=reproduction.profile,
        engine=reproduction.engine, facts=_facts(reproduction),
    )  # fmt: skip
    names.append(f"{made.paper.key}.html")
    files.write(folder / names[-1], page)
    return names


def _figures(made: MeasuredItem, reproduction: Reproduction) -> Mapping[str, Figure]:
    if made.item.missing:
        return {}
    return made.item.figures(work.pool(made.plan, reproduction.store), made.values)


def _section(made: MeasuredItem, drawings: Mapping[str, str]) -> dict[str, Any]:
    return {
        "made": made,
        "drawings": drawings,
        "tables": [] if made.item.missing else made.item.tables(made.values),
        "claims": show.claim_rows(made.claims),
        "seeds": show.seeds(made),
        "parts": made.claims,
        "differs": [j for j in made.claims if j.claim.differs and j.verdict not in GOOD],
        "measured": show.value_table(made),
        "scenarios": _scenarios(made),
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
        ("runs", f"{tally.made} made now, {tally.cached} from the store"),
        ("simulated now", f"{tally.simulated_s:,.0f} s, {tally.packets:,} packets"),
        *facts_of_machine(),
    ]


def _style() -> str:
    own = (_HERE / "dossier.css").read_text(encoding="utf-8")
    return PAGE_CSS.read_text(encoding="utf-8") + own


def _template(name: str) -> Any:
    from sojourn.report import template

    return template(_HERE, name)

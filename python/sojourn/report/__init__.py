"""The report of a comparison: one self-contained HTML file, figures, numbers as JSON."""

from __future__ import annotations

import functools
import json
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import _core, files
from sojourn.comparing import equivalence
from sojourn.comparing.compared_runs import ComparedRuns, run_folder
from sojourn.comparing.conclusions import method, sentences
from sojourn.comparing.contenders import contenders, head, notes
from sojourn.comparing.dominance import few_seeds, plane
from sojourn.comparing.fairness import all_warnings
from sojourn.comparing.metrics import every, headline_text
from sojourn.comparing.records import difference_record, estimate_record
from sojourn.comparing.shaping import family, omitted_figures
from sojourn.comparing.table import dominance_table, has_tests, legend, table_rows, zero_note
from sojourn.comparing.verdict import verdict
from sojourn.describing.finite import without_nan
from sojourn.engines import registry
from sojourn.markup import drawing_in_html, policy, style_in_html
from sojourn.report import interactive
from sojourn.report.charts import charts
from sojourn.report.inline import inline_svg
from sojourn.report.keys import keys

if TYPE_CHECKING:
    from markupsafe import Markup

    from sojourn.plots.background import Drawers

__all__ = [
    "facts_of_machine", "get_ready", "inline_svg", "page", "page_style", "save", "template",
    "to_json",
]  # fmt: skip

FORMAT = 1
_HERE = Path(__file__).parent
# The figures of the verdict come first; the others follow in their usual order.
_FIRST = "pareto"
_CAPTIONS = {
    "delay_cdf": "Packets of all seeds pooled; the band spans the seeds.",
    "delay_time": "Mean delay of the packets that left in each sample interval, first seed. Ticks "
    "at the lower edge: intervals with drops; at the upper edge: with marks.",
    "plane": "A dot per seed; with three or more, an ellipse covers one standard deviation.",
    "pareto": "Up and to the right is better. A light dot per seed, a dark one for their mean with "
    "its 95 % intervals, cut off at the edges of the figure. The dashed line joins the AQMs that "
    "no other beats in both.",
    "completion": "Transfers of all seeds pooled. A transfer that did not finish counts as longer "
    "than the time for which it ran. A triangle marks a lower bound.",
    "window_time": "A line per flow, first seed.",
    "rtt_time": "A line per flow, first seed.",
    "goodput_time": "A line per flow, first seed: means of a hundredth of the run.",
}
_CAPTIONS_OF_ONE_SEED = {
    "delay_cdf": "Packets of the only seed.",
    "plane": "A dot per AQM, from the only seed.",
    "pareto": "Up and to the right is better. A dot per AQM, from the only seed. The dashed line "
    "joins the AQMs that no other beats in both.",
    "completion": "Transfers of the only seed. A transfer that did not finish counts as longer "
    "than the time for which it ran. A triangle marks a lower bound.",
    "window_time": "A line per flow, first seed.",
    "rtt_time": "A line per flow, first seed.",
    "goodput_time": "A line per flow, first seed: means of a hundredth of the run.",
}
# The space between a number and a unit or what else belongs to it.
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=[%\w])")
_OF_ONE_LOOK = " Its intervals are those of a single look; the table has those of all looks."


def save(
    comparison: ComparedRuns,
    folder: Path,
    formats: Sequence[str] = ("svg", "png"),
    size: str = "page",
    drawing: Drawers | None = None,
) -> list[str]:
    """Write ``report.html``, figures and, last, ``comparison.json``; returns their names.

    Args:
        comparison: the comparison.
        folder: the folder.
        formats: formats of the figures; see `sojourn.plots.outputs.FORMATS`. The report has its own
            charts; without formats nothing is drawn in addition.
        size: ``page`` or ``column``, the width of the figures.
        drawing: the drawers for these formats and this size; by default they start now.

    Raises:
        InputError: the format or size does not exist.
        OSError: the folder cannot be written, or the disk is full.
    """
    from sojourn.plots.background import drawers

    if drawing is None and formats:
        with drawers(formats, size) as own:
            return save(comparison, folder, formats, size, own)
    files.remove(folder / files.COMPARISON)
    begun = drawing.begin(comparison) if drawing is not None else None
    # These parts are made while the figures are drawn.
    facts, text = to_json(comparison), page(comparison)
    figures = begun.figures() if begun is not None else {}
    for name in omitted_figures(comparison.shaped):
        figures.pop(name, None)
    contents: dict[str, str | bytes] = {
        f"figures/{name}.{form}": forms[size, form]
        for name, forms in figures.items()
        for form in formats
    }
    contents["report.html"] = text
    for name, content in contents.items():
        files.write(folder / name, content)
    names = [*contents, files.COMPARISON]
    files.write(folder / files.COMPARISON, files.sealed(facts | {"files": names}))
    return names


def get_ready() -> None:
    """Load the large libraries of `save` during the runs."""
    template(_HERE, "page.html.j2")


def page(
    comparison: ComparedRuns,
    drawings: Mapping[str, Mapping[str, str]] | None = None,
) -> str:
    """The report as one HTML page, without external addresses.

    It is complete without JavaScript; if `make web` has built the live page, scripts add plots to
    explore and a button that plays a run.

    Args:
        comparison: the comparison.
        drawings: charts as SVG, by kind and for ``wide`` and ``narrow`` screens; by default all
            for which values exist.
    """
    drawings = charts(comparison) if drawings is None else drawings
    looks = comparison.looks.counts
    captions = _CAPTIONS | (_CAPTIONS_OF_ONE_SEED if len(comparison.seeds) == 1 else {})
    order = sorted(drawings, key=lambda name: name != _FIRST)
    inlined = [
        {
            "name": name,
            "wide": drawing_in_html(drawings[name]["wide"]),
            "narrow": drawing_in_html(drawings[name]["narrow"]),
            "caption": captions[name] + (_OF_ONE_LOOK if name == _FIRST and looks else ""),
        }
        for name in order
    ]
    script = interactive.parts(comparison)
    whole = {
        **context_of(comparison),
        "style": page_style(),
        "policy": interactive.policy_of(script) if script else policy(),
        "keys": keys(comparison.aqms),
        "drawings": inlined,
        "interactive": script,
        "facts": _facts(comparison),
        "runs": _runs(comparison),
        "source": comparison.scenario.source,
        "sets": comparison.scenario.sets,
        "resolved": json.dumps(json.loads(comparison.scenario.resolved_json()), indent=1),
    }
    return str(template(_HERE, "page.html.j2").render(whole))


def page_style(more: str = "") -> Markup:
    """The style of every page, with additions for one page."""
    return style_in_html((_HERE / "page.css").read_text(encoding="utf-8") + more)


def fragment(comparison: ComparedRuns) -> str:
    """The table and the conclusions, for Jupyter."""
    return str(template(_HERE, "fragment.html.j2").render(context_of(comparison)))


def to_json(comparison: ComparedRuns) -> dict[str, Any]:
    """The comparison for machines: SI units, null for missing values."""
    data = {
        "format": FORMAT,
        "name": comparison.scenario.name,
        "link": comparison.link,
        "aqms": comparison.aqms,
        "seeds": comparison.seeds,
        "until": comparison.until and comparison.until.facts(),
        "versions": _versions(),
        "metrics": [estimate_record(row) for row in comparison.cells],
        "differences": [difference_record(row) for row in comparison.tests],
        "dominance": [asdict(pair) for pair in plane(comparison)],
        "zero_in_every_run": [metric.key for metric in comparison.zero_metrics],
        "verdict": verdict(comparison),
        "words": sentences(comparison),
        "method": " ".join(method(comparison)),
        "headline_metrics": headline_text(family(every()) if comparison.shaped else None),
        "margins": equivalence.text(),
        "runs": _runs(comparison),
        "failures": comparison.failures,
        "warnings": all_warnings(comparison),
        "head": head(comparison),
        "scenario": json.loads(comparison.scenario.resolved_json()),
        "document": json.loads(comparison.scenario.document_json()),
        "origin": comparison.scenario.origin,
        "references": comparison.references,
    }
    clean: dict[str, Any] = without_nan(data)
    return clean


def context_of(comparison: ComparedRuns) -> dict[str, Any]:
    """The content of the table and the conclusions, for templates."""
    return {
        "title": comparison.scenario.name,
        "link": comparison.link,
        "aqms": comparison.aqms,
        "baseline": comparison.baseline,
        "seeds": comparison.seeds,
        "rows": table_rows(comparison),
        "has_notes": has_tests(comparison) or bool(comparison.references),
        "legend": legend(comparison),
        "head": head(comparison),
        "left_out": notes(comparison),
        "contenders": contenders(comparison),
        "zero_note": zero_note(comparison),
        "dominance": dominance_table(comparison),
        "few_seeds": few_seeds(comparison),
        "verdict": verdict(comparison),
        "words": sentences(comparison),
        "how": method(comparison),
        "failures": comparison.failures,
        "warnings": all_warnings(comparison),
    }


def _versions() -> dict[str, str]:
    return {"sojourn": _core.__version__, "python": platform.python_version()}


def facts_of_machine() -> list[tuple[str, str]]:
    """The versions that ran, for a list of facts."""
    return [("versions", ", ".join(f"{name} {version}" for name, version in _versions().items()))]


def _facts(comparison: ComparedRuns) -> list[tuple[str, str]]:
    runs = [run for aqm in comparison.aqms for run in comparison.of(aqm)]
    return [
        ("scenario", comparison.scenario.origin or comparison.scenario.name),
        ("link", comparison.link),
        ("seeds", ", ".join(map(str, comparison.seeds))),
        ("simulated time per run", f"{comparison.scenario.duration_s:g} s"),
        ("runs", str(len(runs))),
        ("engine", "; ".join(dict.fromkeys(_engine(run.manifest) for run in runs))),
        *facts_of_machine(),
    ]


def _engine(manifest: Mapping[str, Any]) -> str:
    """The engine of a run, with kernel and place if it has them."""
    name = manifest["engine"]
    own = manifest.get(name, {})
    kernel = [f"kernel {own['kernel']}"] if "kernel" in own else []
    place = [own["where"]] if "where" in own else []
    return ", ".join([f"{name} ({registry.find(name).about})", *kernel, *place])


def _runs(comparison: ComparedRuns) -> list[dict[str, Any]]:
    return [
        {
            "aqm": aqm,
            "seed": seed,
            "digest": result.digest,
            "folder": str(run_folder(aqm, seed)),
        }
        for aqm in comparison.aqms
        for seed, result in zip(comparison.seeds, comparison.results[aqm], strict=True)
        if result is not None
    ]


@functools.cache
def template(folder: Path, name: str) -> Any:
    """A template of a page; texts are escaped, and undefined names are errors."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["unbroken"] = _unbroken
    return environment.get_template(name)


def _unbroken(sentence: str) -> str:
    """The sentence with each number and its unit on one line."""
    return _BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", sentence)

"""The report of a comparison: one self-contained HTML file, figures, numbers as JSON."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sojourn import _core, files
from sojourn.comparing.compared_runs import (
    ComparedRuns,
    difference_record,
    estimate_record,
    run_folder,
)
from sojourn.comparing.conclusions import method, sentences
from sojourn.comparing.contenders import contenders, head
from sojourn.comparing.dominance import few_seeds, plane
from sojourn.comparing.fairness import all_warnings
from sojourn.comparing.table import dominance_table, legend, table_rows, zero_note
from sojourn.describing.finite import without_nan
from sojourn.engines import registry
from sojourn.report import interactive
from sojourn.report.inline import inline_svg

__all__ = ["facts_of_machine", "inline_svg", "page", "save", "template", "to_json"]

FORMAT = 1
_HERE = Path(__file__).parent
# The style of every page.
PAGE_CSS = _HERE / "page.css"

_CAPTIONS = {
    "delay_cdf": "Packets of all seeds pooled; the band spans the seeds.",
    "delay_time": "Mean delay of the packets that left in each sample interval, first seed. Ticks "
    "below: intervals with drops; above: with marks.",
    "plane": "A dot per seed; the ellipse covers one standard deviation of the seeds.",
    "pareto": "A light dot per seed, a dark one for their mean with its 95 % intervals; the line "
    "joins the AQMs whose means no other beats in both; how sure that is, the table below says.",
    "completion": "Transfers of all seeds pooled; those that did not finish took longer than they "
    "were seen. A triangle is a bound: what is above it is not known.",
}


def save(
    comparison: ComparedRuns,
    folder: Path,
    formats: Sequence[str] = ("svg", "png"),
    size: str = "page",
) -> list[str]:
    """Write figures, ``report.html`` and, last, ``comparison.json``; returns their names.

    Args:
        comparison: what it is about.
        folder: where.
        formats: of the figures; see `sojourn.plots.style.FORMATS`.
        size: ``page`` or ``column``, the width of the figures; those of the report are a page wide.

    Raises:
        InputError: there is no such format or size.
        OSError: the folder cannot be written, or the disk is full.
    """
    from sojourn import plots
    from sojourn.plots import style

    files.remove(folder / files.COMPARISON)
    figures = plots.draw_all(comparison)
    drawings = {name: style.svg(figure) for name, figure in figures.items()}
    contents: dict[str, str | bytes] = {}
    with style.sized(size):
        # Those of the report are a page wide; an SVG of that size is drawn once for both.
        known = drawings if size == "page" else {}
        files_of = figures if size == "page" else plots.draw_all(comparison)
        for name, figure in files_of.items():
            for form in formats:
                contents[f"figures/{name}.{form}"] = (
                    known[name] if form == "svg" and name in known else style.saved(figure, form)
                )
    contents["report.html"] = page(comparison, drawings)
    for name, content in contents.items():
        files.write(folder / name, content)
    names = [*contents, files.COMPARISON]
    facts = to_json(comparison) | {"files": names}
    files.write(folder / files.COMPARISON, files.sealed(facts))
    return names


def page(comparison: ComparedRuns, drawings: Mapping[str, str]) -> str:
    """The report as one HTML page, without an address outside the page.

    It is whole without script; where `make web` has built the live page, script adds plots to
    explore and a button that plays a run.

    Args:
        comparison: what it is about.
        drawings: figures as SVG, by kind.
    """
    from sojourn.plots import style

    inlined = [
        {"name": name, "svg": inline_svg(svg, name), "caption": _CAPTIONS[name]}
        for name, svg in drawings.items()
    ]
    context = _context(comparison) | {
        "style": PAGE_CSS.read_text(encoding="utf-8"),
        "palette": style.PALETTE,
        "drawings": inlined,
        "interactive": interactive.parts(comparison),
        "facts": _facts(comparison),
        "runs": _runs(comparison),
        "source": comparison.scenario.source,
        "sets": comparison.scenario.sets,
        "resolved": json.dumps(json.loads(comparison.scenario.resolved_json()), indent=1),
    }
    return str(template(_HERE, "page.html.j2").render(context))


def fragment(comparison: ComparedRuns) -> str:
    """The table and the conclusions, for Jupyter."""
    return str(template(_HERE, "fragment.html.j2").render(_context(comparison)))


def to_json(comparison: ComparedRuns) -> dict[str, Any]:
    """The comparison for machines: SI units, null where there is no value."""
    data = {
        "format": FORMAT,
        "name": comparison.scenario.name,
        "link": comparison.link,
        "aqms": comparison.aqms,
        "seeds": comparison.seeds,
        "versions": _versions(),
        "metrics": [estimate_record(row) for row in comparison.cells],
        "differences": [difference_record(row) for row in comparison.tests],
        "dominance": [asdict(pair) for pair in plane(comparison)],
        "zero_in_every_run": [metric.key for metric in comparison.zero_metrics],
        "words": sentences(comparison),
        "method": method(comparison),
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


def _context(comparison: ComparedRuns) -> dict[str, Any]:
    return {
        "title": comparison.scenario.name,
        "link": comparison.link,
        "aqms": comparison.aqms,
        "baseline": comparison.baseline,
        "seeds": comparison.seeds,
        "rows": table_rows(comparison),
        "legend": legend(comparison),
        "head": head(comparison),
        "contenders": contenders(comparison),
        "zero_note": zero_note(comparison),
        "dominance": dominance_table(comparison),
        "few_seeds": few_seeds(comparison),
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
    """The engine of a run, with the kernel and the place where it has one."""
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


def template(folder: Path, name: str) -> Any:
    """A template for a page; its texts are escaped and every name in it must be given."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)

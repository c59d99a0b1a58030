"""The command ``compare``."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from sojourn.cli import console, once, options
from sojourn.comparing import kept
from sojourn.comparing.comparison import DEFAULT_SEEDS, Comparison
from sojourn.comparing.fairness import parse
from sojourn.comparing.planned import plan
from sojourn.comparing.until import MAX_SEEDS
from sojourn.describing.aqm_list import split_all
from sojourn.describing.library import load, parse_set
from sojourn.describing.queues import choose_link, refuse_replaced
from sojourn.endpoint import parse_libraries
from sojourn.engines import registry
from sojourn.errors import InputError
from sojourn.plots.outputs import check_format
from sojourn.reading import shown

if TYPE_CHECKING:
    from sojourn.plots.background import Drawers


@once.command(
    epilog="""\b
Examples:
  sojourn compare traffic-mix --aqm taildrop,codel,fq_codel,pie,pi2,madpie --out out
  sojourn compare traffic-mix --aqm pie,codel,fq_codel --until decided --race
  sojourn compare demo.toml --engine sim,linux --seeds 3
  sojourn compare demo.toml --engine linux --kernel 6.1,7.2,./linux
  sojourn compare demo.toml --aqm "pie,pie:target=5ms,tupdate=5ms,fq(pie@linux)" --seeds 20
  sojourn compare quic.toml --endpoint quic=./old.so,./new.so --seeds 10
"""
)
@options.scenario_argument
@options.aqm_option
@options.set_option
@click.option(
    "--seeds", type=click.IntRange(1), metavar="N",
    help="Seeds per AQM, counting up from the file's; the same for every AQM. "
    f"{DEFAULT_SEEDS} by default.",
)  # fmt: skip
@click.option(
    "--until", metavar="decided|SHARE",
    help="Instead of --seeds: add seeds until every headline difference has a verdict (decided), "
    "or an interval of this half-width, such as 5%. Tests hold for all looks together.",
)  # fmt: skip
@click.option(
    "--max-seeds", type=click.IntRange(2), metavar="N",
    help=f"With --until: no AQM gets more seeds; {MAX_SEEDS} by default.",
)  # fmt: skip
@click.option(
    "--race", is_flag=True,
    help="With --until: an AQM that another one beats, or that is decided, gets no more seeds.",
)  # fmt: skip
@click.option(
    "--jobs", type=click.IntRange(1), metavar="N",
    help="Runs at a time; one per core by default. Results do not depend on it.",
)  # fmt: skip
@click.option(
    "--engine", default=registry.NAMES[0], metavar="ENGINE[,ENGINE]", show_default=True,
    help="Engines; with several, every AQM runs on each.",
)  # fmt: skip
@options.engine_options
@click.option(
    "--endpoint", "endpoints", multiple=True, metavar="TRANSPORT=LIBRARY[,LIBRARY...]",
    help="Library for flows with this transport, such as quic=quinn; with several, such as "
    "quic=quinn:cc=cubic,quinn:cc=bbr, every AQM runs with each. May be repeated.",
)  # fmt: skip
@options.link_option
@click.option(
    "--fair", metavar="NAME=VALUE[,...]",
    help="Parameters for every AQM that has them, such as target=20ms or dialect=linux.",
)  # fmt: skip
@click.option(
    "--metric", "metrics", multiple=True, metavar="FILE:NAME",
    help="A custom metric, such as mine.py:jitter_p99 (see sojourn.metric). May be repeated.",
)  # fmt: skip
@click.option(
    "--figures", is_flag=True, help="Draw the figures of the report as files too, in DIR/figures."
)
@click.option(
    "--format", "formats", metavar="FORMAT[,FORMAT]",
    help="Formats of these files: svg, png, pdf, pgf (needs LaTeX); svg,png by default. Implies "
    "--figures.",
)  # fmt: skip
@click.option(
    "--size", type=click.Choice(("page", "column")),
    help="Their width: a paper's page, the default, or its column.",
)  # fmt: skip
@options.store_option
@options.memory_option
@options.out_option(
    "Save report.html, comparison.json, and every run as soon as it is complete, in DIR. "
    f"{options.REPLACED}"
)
@options.json_option
def compare(
    file: str,
    aqms: tuple[str, ...],
    endpoints: tuple[str, ...],
    sets: tuple[str, ...],
    seeds: int | None,
    until: str | None,
    max_seeds: int | None,
    race: bool,
    jobs: int | None,
    engine: str,
    link: str | None,
    fair: str | None,
    metrics: tuple[str, ...],
    figures: bool,
    formats: str | None,
    size: Literal["page", "column"] | None,
    fresh: bool,
    memory: str | None,
    out: Path | None,
    as_json: bool,
    **engine_options: Any,
) -> int:
    """Compare AQMs on one link, engines, or transport libraries, under the same seeds.

    FILE is a scenario file or the name of a shipped scenario (`sojourn list scenarios`).
    """
    scenario = load(file, [parse_set(text) for text in sets])
    libraries = parse_libraries(endpoints)
    listed = split_all(aqms)
    engines = registry.select_variants(engine, engine_options)
    several = any(len(each) > 1 for each in (libraries or {}).values())
    if not listed and len(engines) < 2 and not several:
        raise click.UsageError("Missing '--aqm': AQMs to compare, such as taildrop,codel.")
    chosen = choose_link(scenario, link)
    if listed:
        refuse_replaced(scenario, chosen)
    forms = _forms(out, figures, formats, size)
    options.writing_to(out)
    store = options.store(fresh)
    planned = plan(
        scenario, listed, seeds, link=link, fair=dict(parse(fair)) if fair else None, jobs=jobs,
        engine=engines, metrics=metrics, memory=memory, until=until, max_seeds=max_seeds, race=race,
        endpoints=libraries,
    )  # fmt: skip
    console.warn(planned.warnings)
    width = size or "page"
    name = planned.name(store, forms, width) if out is not None else None
    if out is None or (name is not None and kept.is_whole(out, name, store)):
        if out is not None:
            console.say(f"{out} holds this comparison already; its files stay")
        comparison = planned.run(jobs=jobs, progress=console.meter(), store=store)
    else:
        options.announce(out)
        with _drawers(forms, width) as drawing:
            comparison = planned.run(
                jobs=jobs, out=out, progress=console.meter(), store=store, drawing=drawing
            )
            written = comparison.save(out, formats=forms, size=width, drawing=drawing)
        if name is not None and not comparison.failures:
            kept.remember(out, written, name, store)
    if out is not None:
        console.say(f"report: {shown(out / 'report.html')}")
    return finish(comparison, planned.warnings, as_json)


def finish(comparison: Comparison, said: Sequence[str], as_json: bool) -> int:
    """Show the problems of a comparison, then its values; returns the exit code.

    Args:
        comparison: the comparison.
        said: warnings that have been shown.
        as_json: whether to print JSON.
    """
    console.warn([text for text in comparison.warnings if text not in said])
    for failure in comparison.failures:
        console.say(f"sojourn: a run failed: {failure}")
    for reason in comparison.invalid:
        console.say(f"sojourn: not a valid experiment: {reason}")
    _show(comparison, as_json)
    return 1 if comparison.failures or comparison.invalid else 0


def _forms(out: Path | None, figures: bool, formats: str | None, size: str | None) -> list[str]:
    """The formats of the figures in files; none without `--figures`."""
    if formats is None and not figures:
        if size is not None:
            raise InputError(f"--size {size}: is that of figures in files; add --figures")
        return []
    if out is None:
        option = "--figures" if formats is None else f"--format {formats}"
        raise InputError(f"{option}: writes figures into the folder of --out; add --out DIR")
    forms = (formats or "svg,png").split(",")
    for form in forms:
        check_format(form)
    return forms


@contextmanager
def _drawers(formats: list[str], size: str) -> Iterator[Drawers | None]:
    """Start processes that draw, and load the report's modules here during the runs."""
    # Not a daemon: Python ends such threads by unwinding, which aborts inside a library in C++
    # (CPython 3.11 Python/ceval_gil.h, take_gil).
    threading.Thread(target=_get_ready).start()
    if not formats:
        yield None
        return
    from sojourn.plots.background import drawers

    with drawers(formats, size) as drawing:
        yield drawing


def _get_ready() -> None:
    from sojourn.report import get_ready

    get_ready()


def _show(comparison: Comparison, as_json: bool) -> None:
    if as_json:
        from sojourn.report import to_json

        print(json.dumps(to_json(comparison), indent=1, ensure_ascii=False))
    else:
        from sojourn.cli.tables import print_comparison

        print_comparison(comparison, console.stdout_console())

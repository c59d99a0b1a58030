"""The command ``reproduce``: figures and tables of papers, measured against published."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from sojourn.cli import console, once, options
from sojourn.cli.sweeps import where_options, workers_of
from sojourn.describing.formatting import counted
from sojourn.engines import registry
from sojourn.errors import InputError, Interrupted

if TYPE_CHECKING:
    from sojourn.reproduce import Reproduction
    from sojourn.reproduce.outcome import MeasuredPaper
    from sojourn.reproduce.paper import Table

_DEFAULT_OUT = Path("reproduction")
_INTERRUPTED = 130
_STYLES = (
    dict.fromkeys(("match", "holds"), "green")
    | dict.fromkeys(("near", "weak"), "yellow")
    | dict.fromkeys(("differs", "fails", "no value"), "bold red")
    | {"not covered": "dim"}
)


def _complete(
    _context: click.Context, _parameter: click.Parameter, start: str
) -> list[CompletionItem]:
    from sojourn.reproduce.select import known

    names = [
        name
        for paper in known().values()
        for name in (paper.key, *(f"{paper.key}:{item.id}" for item in paper.items))
    ]
    return [CompletionItem(name) for name in names if name.startswith(start)]


@once.command(
    epilog="""\b
Examples:
  sojourn reproduce --quick
  sojourn reproduce codel-act:T1 madpie:F4 --seeds 5
  sojourn reproduce --full --out dossier
  sojourn reproduce kids pie:F10 --engine linux
  sojourn reproduce madpie:F4 --aqm "mine.py:MyLaw" --cases "*.madpie"
  sojourn reproduce pi2:F9 --set links.bottleneck.rate=20mbit --export cases
"""
)
@click.argument(
    "names", nargs=-1, metavar="[PAPER[:ITEM,...] | FOLDER [ITEM]]...", shell_complete=_complete
)
@click.option(
    "--quick/--full", "quick", default=True,
    help="Few seeds and shorter sweeps (the default), or the papers' own numbers of runs.",
)  # fmt: skip
@click.option(
    "--seeds", type=click.IntRange(1), metavar="N",
    help="Seeds per case; by default as many as the profile has for each item.",
)  # fmt: skip
@options.set_option
@click.option(
    "--aqm", "aqms", multiple=True, metavar="AQM[,AQM...]", shell_complete=options.complete_aqm,
    help="AQMs, as for compare, in place of the paper's; each is a variant, shown next to the "
    "published values and not scored.",
)  # fmt: skip
@options.link_option
@click.option(
    "--cases", default="*", metavar="GLOB", show_default=True,
    help="The cases that --set and --aqm change, such as '*.pie'.",
)  # fmt: skip
@click.option(
    "--export", "exported", type=options.FilePath(path_type=Path), metavar="DIR",
    help="Write the cases as scenario files in DIR, and run nothing.",
)  # fmt: skip
@where_options
@options.engine_option(", for what was measured on a testbed.")
@options.engine_options
@options.out_option(
    "Write figures, a page per paper and an index in DIR: `reproduction` by default, nothing with "
    "--json unless it is given."
)
@options.json_option
def reproduce(
    names: tuple[str, ...],
    quick: bool,
    seeds: int | None,
    sets: tuple[str, ...],
    aqms: tuple[str, ...],
    link: str | None,
    cases: str,
    exported: Path | None,
    jobs: int | None,
    cluster: str | None,
    cluster_options: tuple[str, ...],
    dashboard: bool,
    engine: str,
    out: Path | None,
    as_json: bool,
    **engine_options: Any,
) -> int:
    """Reproduce figures and tables of papers and judge their claims.

    PAPER is codel-act, kids, madpie, pi2 or pie; ITEM is a figure or table such as F4 or T1;
    FOLDER, such as ./mypaper, is begun with `sojourn new paper`.
    Without names everything is reproduced. Runs are kept in the user's store, so that only
    missing ones are simulated. With --cluster the workers of `sojourn study` make them; they must
    see that store.
    """
    from sojourn.describing.aqm_list import split_all
    from sojourn.describing.library import parse_set
    from sojourn.reproduce.outcome import reproduce as make
    from sojourn.reproduce.select import select
    from sojourn.running.store import Store

    selected = registry.select_one(engine, engine_options)
    select(names, selected.engine)
    change: dict[str, Any] = {
        "sets": [parse_set(text) for text in sets], "aqms": split_all(aqms), "link": link,
        "cases": cases, "profile": "quick" if quick else "full", "engine": selected,
    }  # fmt: skip
    if exported is not None:
        if out is not None or as_json or seeds is not None:
            raise InputError("--export: runs nothing; leave out --out, --json and --seeds")
        return _export(names, exported, change)
    if out is None and not as_json:
        out = _DEFAULT_OUT
    options.writing_to(out)
    workers = workers_of(jobs, cluster, cluster_options, dashboard) if cluster else None
    try:
        found = make(
            names, seeds=seeds, jobs=jobs, executor=workers,
            store=Store(report=lambda text: console.warn([text])), progress=console.meter(),
            say=console.say, **change,
        )  # fmt: skip
    except Interrupted as error:
        # Thousands of labels would not be readable.
        console.say(f"sojourn: {error}; they are kept; the same command resumes from there")
        return _INTERRUPTED
    console.say(
        f"{counted(found.tally.made, 'run')} made, {found.tally.cached:,} from the store, "
        f"{counted(found.tally.packets, 'packet')} simulated"
    )
    if out is not None:
        from sojourn.reproduce import dossier

        dossier.save(found, out, console.say)
        console.say(f"dossier: {out / 'index.html'}")
    _show(found, as_json)
    return 0


def _export(names: tuple[str, ...], folder: Path, change: dict[str, Any]) -> int:
    from sojourn.reproduce.export import export

    for file in export(names, folder, **change):
        print(file)
    return 0


def _show(found: Reproduction, as_json: bool) -> None:
    if as_json:
        from sojourn.reproduce import to_json

        console.show_json(to_json(found))
        return
    from sojourn.reproduce import show

    screen = console.stdout_console()
    for made in found.papers:
        screen.print(f"\n{made.paper.title}", style="bold")
        screen.print(f"engine {found.engine}, profile {found.profile}", style="dim")
        _show_items(screen, made)
        for key, what in made.asked().items():
            screen.print(f"\nvariant, not scored: {what}", style="bold")
            _show_items(screen, made.as_variant(key))
        parts = [f"{one.good} of {one.of} {one.label}" for one in show.scores([made]) if one.of]
        screen.print("; ".join([*parts, show.counts(made)]))


def _show_items(screen: Any, made: MeasuredPaper) -> None:
    from sojourn.reproduce import show

    for each in made.items:
        if each.item.missing:
            screen.print(f"{each.item.id}: not covered: {each.item.missing}", style="dim")
            continue
        for table in each.item.tables(each.values):
            _print_table(screen, table, show.table_rows(each, table))
    _print_claims(screen, [row for each in made.items for row in show.claim_rows(each.claims)])


def _print_table(screen: Any, table: Table, rows: list[list[str]]) -> None:
    from rich.table import Table as Grid

    grid = Grid(title=table.title, title_justify="left", box=None, pad_edge=False)
    for i, name in enumerate(table.header):
        grid.add_column(name, justify="left" if i == 0 else "right")
    for row in rows:
        grid.add_row(*row)
    screen.print(grid)


def _print_claims(screen: Any, rows: list[list[str]]) -> None:
    from rich.table import Table as Grid
    from rich.text import Text

    from sojourn.reproduce.show import CLAIM_HEADER

    if not rows:
        return
    grid = Grid(box=None, pad_edge=False)
    for i, name in enumerate(CLAIM_HEADER):
        grid.add_column(name, justify="right" if i in (3, 4, 5) else "left", no_wrap=i != 2)
    for row in rows:
        verdicts = [Text(word, style=_STYLES[word]) for word in row[-2:]]
        grid.add_row(*(Text(cell) for cell in row[:-2]), *verdicts)
    screen.print(grid)

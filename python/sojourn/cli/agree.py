"""The command ``agree``: how far two engines agree."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from sojourn import _core, files
from sojourn.cli import console, once, options
from sojourn.describing.library import load
from sojourn.engines import registry


@once.command(
    epilog="""\b
Examples:
  sojourn agree demo.toml --seeds 5 --out out
  sojourn agree --grid --page agreement.md
  sojourn agree --grid wide --seeds 10 --page agreement-wide.md
  sojourn agree --grid newer --kernel 7.2 --page agreement-newer.md
  sojourn agree --engine sim,ns3 --grid --page agreement-ns3.md
"""
)
@click.argument("files_", type=options.NAME, metavar="[FILE]...", nargs=-1)
@click.option(
    "--grid", type=click.Choice(["usual", "wide", "newer"]), is_flag=False, flag_value="usual",
    help="A shipped grid of scenarios as well: the usual one for these engines, or, alone, the "
    "wide one over rates, round trips, numbers of flows, TCPs and traffic, or the one of DualPI2 "
    "and segmentation offload, which needs a newer kernel.",
)  # fmt: skip
@click.option(
    "--engine", default="sim,linux", metavar="ENGINE,ENGINE", show_default=True,
    help="The two engines; the second is the reference.",
)  # fmt: skip
@click.option(
    "--seeds", type=click.IntRange(1), default=3, metavar="N", show_default=True,
    help="Seeds per scenario, counting up from the file's.",
)  # fmt: skip
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Runs at a time.")
@options.engine_options
@options.store_option
@click.option(
    "--page", type=options.FilePath(path_type=Path), metavar="PATH",
    help="Write the table there.",
)  # fmt: skip
@options.out_option(
    "Save agreement.md, agreement.json and, of files and of the usual grid, a QQ plot per scenario "
    "in DIR."
)
def agree(
    files_: tuple[str, ...],
    grid: str | None,
    engine: str,
    seeds: int,
    jobs: int | None,
    page: Path | None,
    out: Path | None,
    fresh: bool,
    **engine_options: Any,
) -> int:
    """Run scenarios on two engines and say, metric by metric, whether they agree.

    FILEs are scenario files or names of shipped scenarios. Flows of the grids have the TCP profile
    of the kernel that --kernel names.
    """
    from sojourn.agreement import grid as shipped
    from sojourn.agreement import page as usual_page
    from sojourn.agreement import runs as usual_runs
    from sojourn.agreement import wide, wide_page, wide_runs

    designs = {design.name: design for design in wide.DESIGNS}
    tcp = _core.linux_tcp(str(engine_options.get("kernel") or ""))
    if grid in designs and files_:
        raise click.UsageError(f"--grid {grid} runs alone; leave the files out")
    names = engine.split(",")
    scenarios = [*map(load, files_), *(shipped.scenarios(names, tcp) if grid == "usual" else [])]
    if not (scenarios or grid):
        raise click.UsageError("name a scenario file, or --grid")
    options.writing_to(out)
    selected = registry.select(names, engine_options)
    how: dict[str, Any] = {
        "seeds": seeds, "jobs": jobs, "progress": console.meter(), "store": options.store(fresh),
    }  # fmt: skip
    if grid in designs:
        found = wide_runs.agree_on_grid(selected, design=designs[grid], tcp=tcp, **how)
        return _show(found, wide_page, page, out)
    return _show(usual_runs.agree(scenarios, selected, **how), usual_page, page, out)


def _show(found: Any, pages: ModuleType, page: Path | None, out: Path | None) -> int:
    """Print an agreement, and save it if requested.

    Args:
        found: an agreement.
        pages: the module that makes its page.
        page: the file of the page.
        out: the folder for everything that is saved.
    """
    text = pages.as_markdown(found)
    sys.stdout.write(text)
    if page is not None:
        files.write(page, text)
    if out is not None:
        pages.save(found, out)
    return 1 if found.invalid else 0

"""The commands for custom laws and transport libraries: new (a paper too), build, check."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli import console, once, options

if TYPE_CHECKING:
    from sojourn.authoring.cells import Finding
    from sojourn.authoring.check import Checked


@once.command(
    epilog="""\b
Examples:
  sojourn new aqm mine --python
  sojourn new aqm mine --rust
  sojourn new endpoint mystack --c
  sojourn new paper mypaper
"""
)
@click.argument("kind", type=click.Choice(("aqm", "endpoint", "paper")))
@click.argument("name")
@click.option("--python", is_flag=True, help="A class in Python.")
@click.option("--rust", is_flag=True, help="A crate, built to a library.")
@click.option("--c", is_flag=True, help="A file in C, built to a library.")
@click.option("--out", type=options.FilePath(path_type=Path), metavar="DIR",
              help="The folder; NAME by default.")  # fmt: skip
@click.option(
    "--source",
    metavar="DIR",
    type=options.FilePath(path_type=Path, exists=True, file_okay=False),
    help="With --rust: a checkout of Sojourn, where this package is not used from one.",
)
def new(kind: str, name: str, out: Path | None, source: Path | None, **languages: bool) -> int:
    """Start a law, a transport library, or a paper for `sojourn reproduce`.

    A folder with its files: a law and a library (endpoint) have code and a README, a paper its
    cases, items and claims, and a scenario.
    """
    from sojourn.authoring.new import new as new_law
    from sojourn.authoring.new import new_endpoint, new_paper

    chosen = [language for language, is_chosen in languages.items() if is_chosen]
    if kind == "paper":
        if chosen or source is not None:
            raise click.UsageError("A paper has no language and no --source.")
        for file in new_paper(name, out):
            print(file)
        return 0
    if len(chosen) != 1:
        raise click.UsageError("Give one language: --python, --rust or --c.")
    if source is not None and chosen != ["rust"]:
        raise click.UsageError("--source goes with --rust.")
    write = new_endpoint if kind == "endpoint" else new_law
    for file in write(name, chosen[0], out, source):  # type: ignore[arg-type]
        print(file)
    return 0


@once.command(
    epilog="""\b
Examples:
  sojourn build mine
  sojourn build codel.c
"""
)
@click.argument("source", type=options.FilePath(path_type=Path))
def build(source: Path) -> int:
    """Build a law or transport library in Rust, C or C++.

    It is a file for --aqm or --endpoint. CFLAGS and LDLIBS are given to the compiler of C.
    """
    from sojourn.authoring.build import build as compile_law

    print(compile_law(source))
    return 0


@once.command(
    epilog="""\b
Examples:
  sojourn check mine.py:MyLaw --out check
  sojourn check mine/libmine.so:target=5ms
  sojourn check codel --quick
  sojourn check mystack/libmystack.so
  sojourn check tcp --scripts linux/tools/testing/selftests/net/packetdrill
"""
)
@click.argument("law", type=options.NAME)
@click.option("--quick", is_flag=True, help="A tenth of the operations and no standard scenarios.")
@click.option("--operations", type=click.IntRange(1), metavar="N", default=1_000_000,
              show_default=True, help="Random operations in each long test.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(1), metavar="N",
              help="Runs at a time; one per core by default.")  # fmt: skip
@click.option("--scripts", type=options.FilePath(path_type=Path), metavar="DIR",
              help="With tcp: the packetdrill scripts below DIR.")  # fmt: skip
@click.option("--only", metavar="GLOB", help="With --scripts: names of scripts, as in *sack*.")
@options.out_option("Save check.json in DIR, and for a law check.html.")
@options.json_option
def check(
    law: str,
    quick: bool,
    operations: int,
    jobs: int | None,
    scripts: Path | None,
    only: str | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Check a law or a transport library: the contract, and how it behaves.

    LAW is a name, mine.py:MyLaw or a library, with parameters as for --aqm, and is compared with
    known AQMs; or a transport library as for --endpoint; or tcp, to run packetdrill's scripts
    against the TCP endpoint.
    """
    if law == "tcp" or scripts is not None or only is not None:
        from sojourn.cli.scripts import check_tcp

        return check_tcp(law, scripts, only, as_json)
    from sojourn.authoring import check_endpoint

    if check_endpoint.is_endpoint(law):
        if operations != 1_000_000 or jobs is not None:
            raise click.UsageError("--operations and --jobs are for laws.")
        return _check_endpoint(law, quick, out, as_json)
    from sojourn.authoring.check import check as examine
    from sojourn.authoring.check_page import save, to_json

    checked = examine(law, quick=quick, operations=operations, jobs=jobs, progress=console.meter())
    if out is not None:
        save(checked, out)
        console.say(f"page: {out / 'check.html'}")
    if as_json:
        console.show_json(to_json(checked))
    else:
        _print(checked)
    return 0 if checked.is_kept else 1


def _check_endpoint(endpoint: str, quick: bool, out: Path | None, as_json: bool) -> int:
    from sojourn.authoring import check_endpoint

    checked = check_endpoint.check(endpoint, quick=quick)
    if out is not None:
        check_endpoint.save(checked, out)
    if as_json:
        console.show_json(checked.to_json())
    else:
        _print_findings(checked.findings)
    return 0 if checked.is_kept else 1


def _print_findings(findings: Sequence[Finding]) -> None:
    marks = {True: "holds", False: "BROKEN", None: "-"}
    for finding in findings:
        print(f"{marks[finding.held]:<7} {finding.promise}")
        print(f"{'':<7}   {finding.detail}")


def _print(checked: Checked) -> None:
    _print_findings(checked.findings)
    for sentence in checked.sentences:
        print(sentence)

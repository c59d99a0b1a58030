"""The command ``ns3``: the runner of the engine ``ns3``, and the queue discs for ns-3 scripts."""

from __future__ import annotations

from pathlib import Path

import click

from sojourn import platforms
from sojourn.cli import console, once, options
from sojourn.engines.ns3 import runner

_source = click.option(
    "--source", metavar="DIR", type=options.FilePath(path_type=Path, exists=True, file_okay=False),
    help="A checkout of Sojourn of the same version; needed where the package is an installed one, "
    "which does not contain the sources.",
)  # fmt: skip


@once.group()
def ns3() -> None:
    """Build the engine ns3, and our queue discs for ns-3."""


@ns3.command(
    epilog="""\b
Examples:
  sojourn ns3 build
  sojourn ns3 build --source ~/src/sojourn
"""
)
@_source
def build(source: Path | None) -> int:
    """Compile it against ns-3 in about two minutes; nothing needs root.

    ns-3 is taken from NS3_PREFIX, from the installed wheel (`pip install sojourn[ns3]`), or from
    the cache, into which its wheel is downloaded otherwise. The result is kept there, by the digest
    of its sources.
    """
    platforms.require_linux("ns3 build")
    found = runner.find()
    if found is not None and source is None:
        print(f"{found}, is there already")
        return 0
    print(runner.build(lambda what: console.say(f"ns3 build: {what}"), source))
    return 0


@ns3.command(
    epilog="""\b
Examples:
  sojourn ns3 install ~/.local
"""
)
@click.argument("prefix", type=options.FilePath(path_type=Path, file_okay=False))
@_source
def install(prefix: Path, source: Path | None) -> int:
    """Compile the queue discs and install them below PREFIX for scripts of ns-3.

    A script's CMakeLists.txt then says find_package(sojourn) and links sojourn::sojourn. ns-3 is
    found as for `build`.
    """
    to = runner.install(prefix, lambda what: console.say(f"ns3 install: {what}"), source)
    print(f"{to}: find_package(sojourn) finds it with -DCMAKE_PREFIX_PATH={to}")
    return 0


@ns3.command()
def where() -> int:
    """Show which runner has been built."""
    print(runner.require())
    return 0

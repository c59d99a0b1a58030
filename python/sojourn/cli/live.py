"""The command ``live``: the laboratory in the browser."""

from __future__ import annotations

import contextlib
import webbrowser
from pathlib import Path

import click

from sojourn import ending, files
from sojourn.cli import console, once
from sojourn.cli.options import NAME, FilePath, complete_aqm, complete_scenario
from sojourn.describing import aqm_list, library
from sojourn.endpoint import transports
from sojourn.errors import InputError
from sojourn.live import page
from sojourn.live.server import LOOPBACK, server

_BOTH = "taildrop,codel"


@once.command(
    epilog="""\b
Examples:
  sojourn live
  sojourn live traffic-mix --aqm codel,pie
  sojourn live mine.toml --no-open
  sojourn live traffic-mix --save lab.html
"""
)
@click.argument("file", type=NAME, required=False, shell_complete=complete_scenario)
@click.option(
    "--aqm", metavar="A,B", shell_complete=complete_aqm,
    help=f"With FILE: the AQMs of both sides at the beginning.  [default: {_BOTH}]",
)  # fmt: skip
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N",
    help="The port; any free one by default.",
)  # fmt: skip
@click.option(
    "--save", type=FilePath(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write the page into one file, which opens from disk with FILE and the AQMs, in place of "
    "serving it.",
)  # fmt: skip
@click.option(
    "--open/--no-open", "opens", default=True, help="Open a browser, or print the address."
)
def live(file: str | None, aqm: str | None, port: int, save: Path | None, opens: bool) -> int:
    """Open the laboratory in the browser: two AQMs on one line, live.

    The page simulates in the browser itself. Its files come from a server that only this machine
    can reach, until Ctrl-C.
    """
    if save is not None and port:
        raise InputError(f"--port {port}: is that of the server, and --save serves nothing")
    at = _at(file, aqm)
    folder = page.folder()
    if save is not None:
        files.write(save, page.one_file(at.removeprefix("#")))
        print(f"{save.resolve().as_uri()}{at}")
        return 0
    try:
        serving = server(folder, port)
    except OSError as error:
        raise InputError(f"--port {port}: {error.strerror}; leave --port out") from error
    with ending.orderly(), serving, contextlib.suppress(KeyboardInterrupt):
        address = f"http://{LOOPBACK}:{serving.server_port}/{at}"
        print(address, flush=True)
        console.say("sojourn: Ctrl-C ends it")
        if opens:
            webbrowser.open(address)
        serving.serve_forever()
    return 0


def _at(file: str | None, aqm: str | None) -> str:
    """The fragment of the address that holds the initial state of the page.

    Raises:
        InputError: the AQMs are not two, the file is missing, or the page cannot hold it.
        ScenarioError: the scenario or an AQM is not legal.
    """
    if file is None:
        if aqm is not None:
            raise InputError(
                f"--aqm {aqm}: needs a scenario, such as `sojourn live traffic-mix --aqm {aqm}`"
            )
        return ""
    if file.endswith(".json"):
        raise InputError(f"{file}: the page reads scenarios in TOML; write this one as such")
    scenario = library.load(file)
    if named := transports(scenario):
        raise InputError(
            f"{file}: flows have transport `{named[0]}`, and the page has no transport libraries; "
            f"use sojourn run --endpoint {named[0]}=LIBRARY"
        )
    aqms = aqm_list.split(_BOTH if aqm is None else aqm)
    if len(aqms) != 2:
        raise InputError(f"--aqm {aqm}: names {len(aqms)} AQMs; name two, one for each side")
    return f"#{page.fragment(scenario.source, aqms, scenario.seed)}"

"""The commands by name.

A command is imported when it is called, so `sojourn --help` and short runs start at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

import click

from sojourn import platforms
from sojourn.errors import InputError

# NumPy, SciPy, Arrow and matplotlib with Python: below 0.9 GB some commands failed to load them.
_ADDRESS_SPACE_BYTES = 1e9


class Entry(NamedTuple):
    """The module of a command, and its entry in the list of commands."""

    module: str
    function: str
    """The command's name in that module."""
    summary: str
    """The first sentence of the command's help."""
    computes: bool = False
    """Whether the command needs the libraries that draw and compute."""


COMMANDS = {
    "advise": Entry(
        "advise", "advise",
        "Say what to set up on a line, with the delay before and after, and the cost.",
    ),
    "agree": Entry(
        "agree", "agree",
        "Run scenarios on two engines and say, metric by metric, whether they agree.",
        computes=True,
    ),
    "attack": Entry(
        "attack", "attack",
        "Search, within stated bounds, for a scenario in which an AQM does badly; simplify it.",
        computes=True,
    ),
    "build": Entry("own", "build", "Build a law or transport library in Rust, C or C++."),
    "check": Entry(
        "own", "check",
        "Check a law or a transport library: the contract, and how it behaves.",
        computes=True,
    ),
    "compare": Entry(
        "compare", "compare",
        "Compare AQMs on one link, engines, or transport libraries, under the same seeds.",
        computes=True,
    ),
    "completion": Entry(
        "ask", "completion",
        "Write the completion script of a shell to stdout.",
    ),
    "diff": Entry(
        "diff", "diff",
        "Show the first packet that two AQMs treat differently on the same arrivals.",
        computes=True,
    ),
    "doctor": Entry(
        "ask", "doctor",
        "Say what this machine offers, what is missing, and how to install it.",
    ),
    "exec": Entry(
        "programs", "exec_programs",
        "Run unmodified programs on the guest kernel, in virtual time, behind an AQM.",
    ),
    "explain": Entry(
        "ask", "explain",
        "Explain an AQM, a congestion control, a TCP, a parameter, a metric or a scenario's key.",
    ),
    "export": Entry(
        "exporting", "export",
        "Write a saved result, or a scenario's link, in the format of another tool.",
    ),
    "import": Entry(
        "importing", "import_file",
        "Make a scenario of a measurement file, such as one of iperf3, irtt, ping or Flent.",
    ),
    "kernel": Entry("kernel", "kernel", "The guest kernel that the engine linux runs."),
    "list": Entry(
        "ask", "show_list",
        "List what there is: AQMs, congestion controls, TCPs, metrics, shipped scenarios, figures.",
    ),
    "live": Entry(
        "live", "live",
        "Open the laboratory in the browser: two AQMs on one line, live.",
    ),
    "new": Entry(
        "own", "new",
        "Start a law, a transport library, or a paper for `sojourn reproduce`.",
    ),
    "ns3": Entry("ns3", "ns3", "Build the engine ns3, and our queue discs for ns-3."),
    "reproduce": Entry(
        "reproduce", "reproduce",
        "Reproduce figures and tables of papers and judge their claims.",
        computes=True,
    ),
    "router": Entry(
        "router", "router",
        "Put one of our AQMs between two network namespaces, in real time.",
    ),
    "run": Entry("run", "run", "Run a scenario once."),
    "stability": Entry(
        "stability", "stability",
        "Say whether an AQM is stable on a link, with what margin, and choose its gains.",
        computes=True,
    ),
    "study": Entry(
        "study", "study",
        "Run a sweep of many scenarios, store every run once, and resume after any interruption.",
        computes=True,
    ),
    "tc": Entry("tc", "tc", "Read, check and write set-ups of tc (iproute2) and OpenWrt's SQM."),
    "test": Entry(
        "testing", "test",
        "Decide the expectations of scenarios: run seeds until each has passed or failed.",
        computes=True,
    ),
    "tune": Entry(
        "tune", "tune",
        "Search the parameters of an AQM for a goal, and judge them on held-out scenarios.",
        computes=True,
    ),
    "validate": Entry(
        "ask", "validate",
        "Check a scenario without running it, and show what its AQMs make of their parameters.",
    ),
}  # fmt: skip


def _check_address_space(name: str) -> None:
    """Refuse a command whose libraries would abort or hang for lack of address space.

    Raises:
        InputError: `ulimit -v` allows too little.
    """
    allowed = platforms.address_space_bytes()
    if allowed is not None and allowed < _ADDRESS_SPACE_BYTES:
        raise InputError(
            f"{name}: the libraries that draw and compute need 1 GB of address space, and "
            f"`ulimit -v` allows {allowed / 1e6:.0f} MB: allow more, such as `ulimit -v 2000000`"
        )


class Commands(click.Group):
    """The group of all commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands in alphabetical order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command with a name; None if it is unknown."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        if entry.computes:
            _check_address_space(cmd_name)
        command = getattr(import_module(f"sojourn.cli.{entry.module}"), entry.function)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list without importing the commands."""
        room = formatter.width - 6 - max(map(len, COMMANDS))
        summaries = {
            name: click.Command(name, help=entry.summary).get_short_help_str(room)
            for name, entry in COMMANDS.items()
        }
        with formatter.section("Commands"):
            formatter.write_dl(list(summaries.items()))

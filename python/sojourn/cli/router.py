"""The command ``router``: our AQMs under the packets of any program."""

from __future__ import annotations

import shlex
import shutil
import sys
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

import click

from sojourn import files
from sojourn.cli import console, once, options
from sojourn.describing.formatting import counted, scale_of
from sojourn.describing.metrics import shown_in
from sojourn.errors import RunFailed, Unavailable
from sojourn.running import router as live
from sojourn.running.series import SummaryRow

# The codes of timeout(1) and the shells, which commands seldom return themselves.
_NOT_VALID, _TIME_OVER, _FAILED, _NOT_EXECUTABLE, _NOT_FOUND = 123, 124, 125, 126, 127
_INTERRUPTED = 130
_SAY_EVERY = 10


def _json_file(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    if value is not None and value.startswith("-") and value != "-":
        raise click.BadParameter(f"takes a file, or - for stdout, not {value}.")
    return value


@once.command(
    epilog="""\b
Examples:
  sojourn router --aqm pie@linux:target=15ms --rate 100mbit --delay 20ms \\
      --far-run "iperf3 -s" -- iperf3 -c 100.64.0.2
  sojourn router --aqm fq_codel --up 5mbit --down 50mbit --far host --json router.json -- \
curl -O http://100.64.0.2:8000/file
  sojourn router --near lab1 --far lab2 --rate 1gbit --duration 60s --out out/live
  sojourn router home.toml --link up --far-run "iperf3 -s" -- iperf3 -c 100.64.0.2

\b
The near end is 100.64.0.1 and fd00:6440::1, the far end 100.64.0.2 and fd00:6440::2; commands have
them as $SOJOURN_NEAR, $SOJOURN_FAR, $SOJOURN_NEAR_IPV6 and $SOJOURN_FAR_IPV6.

\b
Exit codes: that of COMMAND (128 + N after signal N). If it is 0: 123 the run is not valid, as
after a stall of the machine. 124 --duration was over before COMMAND; 125 the router could not
start or failed; 126 COMMAND cannot be executed; 127 it is not found; 130 Ctrl-C; 2 bad options.
"""
)
@click.argument("command", metavar="[FILE] [COMMAND]...", nargs=-1, type=click.UNPROCESSED)
@click.option("--link", metavar="NAME", help="The link of FILE from near to far.")
@click.option("--reverse-link", metavar="NAME", help="The link of FILE from far to near.")
@options.set_option
@click.option("--aqm", metavar="AQM", shell_complete=options.complete_aqm,
              help="AQM of every way with a rate; taildrop by default.")  # fmt: skip
@click.option("--rate", metavar="RATE",
              help="Rate of both directions, such as 100mbit.")  # fmt: skip
@click.option("--up", metavar="RATE", help="Rate from near to far, in place of --rate.")
@click.option("--down", "--reverse-rate", "down", metavar="RATE",
              help="Rate from far to near, in place of --rate.")  # fmt: skip
@click.option("--delay", metavar="TIME", help="Delay, such as 20ms, of each way.")
@click.option("--limit", metavar="LIMIT", help="Limit of the queue, such as 500p or 125kB.")
@click.option("--framing", metavar="SIZE", help="Bytes that the link adds, such as 38B.")
@click.option("--reverse-aqm", metavar="AQM", shell_complete=options.complete_aqm,
              help="The same for the way from far to near alone.")  # fmt: skip
@click.option("--reverse-delay", metavar="TIME")
@click.option("--reverse-limit", metavar="LIMIT")
@click.option("--reverse-framing", metavar="SIZE")
@click.option("--near", metavar="SPACE",
              help="Where COMMAND is: new (default), host, or a name of `ip netns`.")  # fmt: skip
@click.option("--far", metavar="SPACE", help="Where the other end is, in the same form.")
@click.option("--far-run", metavar="COMMAND", default="",
              help="Run this at the far end first; split into words, no shell.")  # fmt: skip
@click.option("--duration", metavar="TIME", help="End after this time.")
@click.option("--spin", metavar="TIME",
              help="Stay awake this long before a packet is due; keeps a core busy.")  # fmt: skip
@click.option("--realtime", is_flag=True, help="Run at a real-time priority; needs root.")
@click.option("--stall", metavar="TIME", help="Lateness that makes a run invalid; 5ms by default.")
@click.option("--mtu", metavar="SIZE", help="Largest IP packet; 1500B by default.")
@click.option("--seed", type=options.SEED,
              help="Seed of all random numbers; that of FILE by default, or 1.")  # fmt: skip
@click.option("--record", type=click.Choice(("packets", "signals")), multiple=True,
              help="Record every packet, or every drop and mark; repeatable.")  # fmt: skip
@click.option("--live", "live_page", is_flag=True,
              help="Open a page in the browser that shows the reports while it runs.")  # fmt: skip
@click.option("--live-port", type=click.IntRange(0, 65535), metavar="N",
              help="Serve that page at this port without opening a browser.")  # fmt: skip
@options.out_option("Save the result tables in DIR.")
@click.option("--json", "json_to", type=options.NAME, metavar="FILE", callback=_json_file,
              help="Write the final report as JSON to FILE; - is stdout.")  # fmt: skip
def router(**given: Any) -> int:
    """Put one of our AQMs between two network namespaces, in real time.

    The links of FILE, a scenario (.toml or .json), replace rates, delays and limits. COMMAND runs
    at the near end, its arguments as they are; the router ends with it, and its stdout is left to
    it. Without one it runs for --duration, or until Ctrl-C. Root is not needed if users may create
    namespaces.
    """
    given["file"], given["command"] = _split_file(given["command"])
    wanted = _options(given)
    if (code := _not_startable(wanted.command)) is not None:
        return code
    try:
        ended = _route(wanted, given)
    except (RunFailed, Unavailable) as error:
        console.say(f"sojourn: the router failed: {error}")
        return _FAILED
    _report(ended, given)
    return _code(ended, bool(wanted.command))


def _split_file(words: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    """The scenario file, by its ending, and the command."""
    if words and words[0].endswith((".toml", ".json")):
        return words[0], words[1:]
    return None, words


def _not_startable(command: Sequence[str]) -> int | None:
    """The code that a shell returns for a command that cannot be started; None if it can."""
    if not command or shutil.which(command[0]) is not None:
        return None
    is_there = "/" in command[0] and Path(command[0]).exists()
    why = "cannot be executed" if is_there else "no such program"
    console.say(f"sojourn: error: {command[0]}: {why}")
    return _NOT_EXECUTABLE if is_there else _NOT_FOUND


def _code(ended: dict[str, Any], has_command: bool) -> int:
    """The exit code; that of a failed command precedes the router's."""
    if ended["interrupted"]:
        return _INTERRUPTED
    if ended["command"]:
        return int(ended["command"])
    if ended["invalid"]:
        return _NOT_VALID
    return _TIME_OVER if has_command and ended["command"] is None else 0


def _route(wanted: live.Options, given: dict[str, Any]) -> dict[str, Any]:
    with ExitStack() as stack:
        is_live = sys.stderr.isatty() and not wanted.command
        show = stack.enter_context(_Screen(is_live)).show
        publish = _page(stack, given["live_page"], given["live_port"])

        def listener(report: dict[str, Any]) -> None:
            show(report)
            publish(report)

        return live.route(wanted, out=given["out"], realtime=given["realtime"], listener=listener)


def _report(ended: dict[str, Any], given: dict[str, Any]) -> None:
    """Write the final report; a command, if there is one, owns stdout."""
    if given["json_to"] == "-":
        console.show_json(ended)
    else:
        has_command = bool(given["command"] or given["far_run"])
        _show(ended, given["out"], sys.stderr if has_command else sys.stdout)
    if given["json_to"] not in (None, "-"):
        files.write(Path(given["json_to"]), console.as_json(ended) + "\n")
    for warning in ended["warnings"]:
        console.say(f"sojourn: warning: {warning}")
    for reason in ended["invalid"]:
        console.say(f"sojourn: not a valid experiment: {reason}")
    if ended["command"]:
        console.say(f"sojourn: the command ended with exit code {ended['command']}")


def _page(stack: ExitStack, opens: bool, port: int | None) -> Callable[[dict[str, Any]], None]:
    """The destination of reports besides the screen: a page in the browser, or none."""
    if not opens and port is None:
        return lambda _report: None
    from sojourn.live import page
    from sojourn.live.reports import ReportServer

    serving = stack.enter_context(ReportServer(page.folder(), port or 0))
    console.say(f"sojourn: {serving.address}")
    if port is None:
        webbrowser.open(serving.address)
    return serving.publish


def _options(given: dict[str, Any]) -> live.Options:
    shared = ("aqm", "delay", "limit", "framing")
    ways = {key: given[key] for name in shared for key in (name, f"reverse_{name}")}
    forward, reverse = live.both_ways(given["rate"], given["up"], given["down"], **ways)
    same = ("near", "far", "duration", "spin", "stall", "mtu", "seed", "link", "reverse_link")
    scenario = None
    if given["file"] is not None:
        from sojourn.describing.library import load, parse_set

        scenario = load(given["file"], [parse_set(text) for text in given["sets"]])
    elif given["sets"]:
        raise click.BadParameter("is for a scenario; give its file first", param_hint="--set")
    return live.Options(
        forward, reverse, scenario, command=given["command"],
        far_command=_split(given["far_run"]), packets="packets" in given["record"],
        signals="signals" in given["record"],
        **{key: given[key] for key in same},
    )  # fmt: skip


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise click.BadParameter(f"{error}: {text}", param_hint="--far-run") from None


class _Screen:
    """The router's reports while it runs: a table on a terminal, else occasional lines."""

    def __init__(self, is_live: bool) -> None:
        self._reports = 0
        self._live: Any = None
        if is_live:
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(file=sys.stderr), transient=True)

    def __enter__(self) -> _Screen:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _value: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if self._live is not None:
            self._live.stop()

    def show(self, report: dict[str, Any]) -> None:
        """Show a report of the router."""
        if "begun" in report:
            _show_ends(report["begun"])
            return
        self._reports += 1
        if self._live is not None:
            self._live.update(_counters(report))
        elif self._reports % _SAY_EVERY == 0:
            paths = "; ".join(_line(path) for path in report["paths"])
            console.say(f"{report['t_s']:.0f} s: {paths}")


def _show_ends(begun: dict[str, Any]) -> None:
    near, far = (
        ", ".join(filter(None, (end["address"], end["ipv6_address"]))) for end in begun["ends"]
    )
    lacks = f"; no IPv6: {begun['no_ipv6']}" if begun["no_ipv6"] else ""
    console.say(f"router: near {near}; far {far}; MTU {begun['ends'][0]['mtu']} B{lacks}")
    for remark in begun["remarks"]:
        console.say(f"router: {remark}")


def _line(path: dict[str, Any]) -> str:
    text = f"{path['name']} {path['throughput_bps'] / 1e6:.2f} Mbit/s"
    queue = path.get("queue")
    if queue:
        mean = queue["delay_mean_s"]
        waited = "-" if mean is None else f"{mean * 1e3:.2f} ms"
        text += f", delay {waited}, dropped {queue['dropped']}, marked {queue['marked']}"
    return text


def _counters(report: dict[str, Any]) -> Any:
    from rich import box
    from rich.table import Table

    title = f"{report['t_s']:.1f} s"
    if report["late_max_s"] is not None:
        title += f", latest packet {report['late_max_s'] * 1e3:.2f} ms late"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    heads = ("path", "Mbit/s", "delay ms", "max ms", "waiting", "dropped", "marked")
    for i, head in enumerate(heads):
        table.add_column(head, justify="left" if i == 0 else "right")
    for path in report["paths"]:
        queue = path.get("queue") or {}
        cells = [
            _ms(queue.get("delay_mean_s")), _ms(queue.get("delay_max_s")),
            *(str(queue.get(key, "-")) for key in ("backlog_packets", "dropped", "marked")),
        ]  # fmt: skip
        table.add_row(path["name"], f"{path['throughput_bps'] / 1e6:.2f}", *cells)
    return table


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:.2f}"


def _show(ended: dict[str, Any], out: Path | None, stream: TextIO) -> None:
    from rich import box
    from rich.table import Table

    rows: list[SummaryRow] = ended["summary"]
    values = {(scope, name, metric): value for scope, name, metric, value, _unit in rows}
    names = [name for name in ("forward", "reverse") if ("queue", name, "throughput") in values]
    to = console.table_console(stream)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for name in names:
        table.add_column(name, justify="right")
    for row in shown_in("router"):
        scale = scale_of(row)
        found = [values.get(("queue", name, row.name)) for name in names]
        if any(value is not None for value in found):
            cells = ["-" if value is None else f"{value * scale.factor:.4g}" for value in found]
            table.add_row(f"{row.name}, {scale.unit}", *cells)
    if names:
        to.print(table)
    for path, passed in zip(("forward", "reverse"), ended["facts"]["passed"], strict=True):
        to.print(
            f"{path}: {counted(passed['packets'], 'packet')}, {passed['bytes']:,} B passed",
            markup=False,
        )
    late = [values.get(("run", "", f"late_{q}")) for q in ("p50", "p99", "max")]
    pairs = zip(("p50", "p99", "max"), late, strict=True)
    shown = ", ".join(f"{q} {value * 1e3:.3f} ms" for q, value in pairs if value is not None)
    to.print(f"{ended['wall_s']:.1f} s; packets left later than due: {shown}", markup=False)
    if out is not None:
        console.say(f"results: {out}")

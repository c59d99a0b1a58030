"""The router in real time: our AQMs between two network namespaces of this machine.

Packets of any program pass through it. The router is a separate process, in a group that ends with
this process.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from sojourn import _core, ending, files, platforms
from sojourn.engines.child import SUPERVISOR
from sojourn.engines.linux import host
from sojourn.engines.linux.guest import paths
from sojourn.errors import InputError, RunFailed
from sojourn.loading.bring import bring_one

_HERE = Path(host.__file__).parent
_NAMED = Path("/run/netns")
# A FIFO priority below those of the kernel's own threads; commands do not inherit it.
_REAL_TIME = ("chrt", "--fifo", "--reset-on-fork", "10")


@dataclass(frozen=True)
class Direction:
    """The settings of one direction through the router, as text with units.

    Attributes:
        aqm: the AQM, such as ``pie@linux:target=15ms`` or ``mine.py:MyLaw``; ``taildrop`` by
            default.
        rate: its rate, such as ``100mbit``; without one there is no queue.
        delay: propagation delay of every packet, after the queue.
        limit: queue limit, such as ``500p``; that of the AQM by default.
        framing: bytes that the link adds to every packet.
    """

    aqm: str | None = None
    rate: str | None = None
    delay: str | None = None
    limit: str | None = None
    framing: str | None = None


@dataclass(frozen=True)
class Options:
    """The options of a run of the router.

    Attributes:
        forward: the direction from the near to the far end; with a scenario, its `aqm` alone.
        reverse: the direction from the far to the near end, likewise.
        scenario: the scenario whose links the router has.
        link: its link from near to far; not needed where the flows leave no choice.
        reverse_link: its link from far to near; by default the one that flows of `link` take in
            the other direction.
        near: place of the near end: ``new``, ``host``, the name of a namespace or its file.
        far: the same for the far end.
        duration: duration; by default until the command at the near end has ended, or unlimited.
        spin: how long the router polls before a packet is due; more precise, but keeps a core busy.
        stall: a packet that leaves this long after it was due makes the run invalid; default
            ``5ms``.
        mtu: the largest IP packet; ``1500B`` by default.
        command: the program at the near end with its arguments.
        far_command: the same for the far end.
        packets: whether every packet is recorded.
        signals: whether every drop and mark is recorded, with the AQM's state before it.
        seed: seed of all random numbers; that of the scenario by default, or 1.
    """

    forward: Direction = field(default_factory=Direction)
    reverse: Direction = field(default_factory=Direction)
    scenario: _core.Scenario | None = None
    link: str | None = None
    reverse_link: str | None = None
    near: str | None = None
    far: str | None = None
    duration: str | None = None
    spin: str | None = None
    stall: str | None = None
    mtu: str | None = None
    command: Sequence[str] = ()
    far_command: Sequence[str] = ()
    packets: bool = False
    signals: bool = False
    seed: int | None = None


_WAY_KEYS = ("aqm", "rate", "delay", "limit", "framing")


def both_ways(
    rate: str | None = None, up: str | None = None, down: str | None = None,
    **given: str | None,
) -> tuple[Direction, Direction]:  # fmt: skip
    """The directions from near to far and back: equal, unless the latter has its own settings.

    Args:
        rate: rate of both directions.
        up: rate from near to far, in place of `rate`.
        down: rate from far to near, in place of `rate`.
        given: the other values of `Direction` for both directions, and ``reverse_aqm`` and so on
            for the reverse direction alone. AQM, limit and framing need a rate.
    """
    forward = {key: given.get(key) for key in _WAY_KEYS}
    reverse = {key: given.get(f"reverse_{key}") for key in _WAY_KEYS}
    forward["rate"], reverse["rate"] = up or rate, down or rate
    reverse["delay"] = reverse["delay"] or forward["delay"]
    for key in ("aqm", "limit", "framing"):
        if reverse["rate"] is not None:
            reverse[key] = reverse[key] or forward[key]
            # Without a rate, the forward direction has no queue for the AQM.
            forward[key] = forward[key] if forward["rate"] is not None else None
    return Direction(**forward), Direction(**reverse)


Listener = Callable[[dict[str, Any]], None]


def route(
    options: Options,
    *,
    out: Path | None = None,
    realtime: bool = False,
    listener: Listener = lambda _line: None,
) -> dict[str, Any]:
    """Route packets until the time is over, the near command has ended, or Ctrl-C.

    Args:
        options: the options.
        out: folder for the result tables and the manifest.
        realtime: whether the router runs at a real-time priority (`chrt`), which needs root.
        listener: receives the router's reports, two per second.

    Returns:
        The final report: ``summary`` rows, ``facts``, ``invalid``, ``warnings`` (sentences),
        ``command`` (how that ended).

    Raises:
        ScenarioError: an option is invalid.
        InputError: this machine does not allow this user what the options need.
        RunFailed: the router ended before it should.
    """
    plan = planned(options)
    with (
        files.writing_to(out),
        started(plan, out, _priority() if realtime else ()) as (reports, control),
        ending.orderly(),
    ):
        ended = _listen(reports, control, listener)
    return with_warnings(options, ended)


def planned(options: Options) -> str:
    """The plan that follows from the options, as JSON.

    Raises:
        ScenarioError: an option is invalid.
        InputError: this machine does not allow this user a router.
    """
    platforms.require_linux("sojourn router")
    settings, laws = _settings(options)
    plan = _core.router_plan(json.dumps(settings), laws, options.scenario)
    host.require()
    return plan


def with_warnings(options: Options, ended: dict[str, Any]) -> dict[str, Any]:
    """The final report with warnings about the run, and the scenario's ``remarks``."""
    facts = ended["facts"]
    said = warnings(options, [p["bytes"] for p in facts["passed"]], facts["plan"]["paths"])
    return {**ended, "warnings": said, "remarks": facts["plan"].get("remarks", [])}


def warnings(
    options: Options, passed_bytes: Sequence[int], paths: Sequence[dict[str, Any]] = ()
) -> list[str]:
    """Warnings about a run: most bytes took the direction without a rate, hence without a queue.

    Args:
        options: options of the run.
        passed_bytes: bytes that passed, forward and reverse.
        paths: paths of the plan, forward and reverse, for a scenario.
    """
    if options.scenario is None:
        has_queue = [way.rate is not None for way in (options.forward, options.reverse)]
        wants_queue = any(way.aqm is not None for way in (options.forward, options.reverse))
        remedies = ("--rate", "--reverse-rate")
    else:
        has_queue, wants_queue = [path["link"] is not None for path in paths], True
        remedies = ("--link", "--reverse-link")
    if not (wants_queue or any(has_queue)):
        return []
    total = sum(passed_bytes)
    towards = ("from near to far", "from far to near")
    return [
        f"{passed:,} of {total:,} B went {where}, where no rate is set, so that no AQM acted on "
        f"them; give {remedy}"
        for where, queue, passed, remedy in zip(
            towards, has_queue, passed_bytes, remedies, strict=True
        )
        if not queue and 2 * passed > total
    ]


@contextmanager
def started(
    plan: str, out: Path | None = None, prefix: tuple[str, ...] = ()
) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """A router in a group of processes that ends with this block.

    Args:
        plan: the result of `planned`.
        out: folder for the results.
        prefix: words in front of the router's command.

    Returns:
        Its reports, a line of JSON each, and a pipe whose closing requests the final one.
    """
    report_out, report_in = os.pipe()
    control_out, control_in = os.pipe()
    plan_file = _memory_file(plan)
    command = [
        *prefix, sys.executable, "-I", "-S", str(_HERE / "route.py"), str(_core.__file__),
        str(plan_file), str(report_in), str(control_out),
        "" if out is None else str(out.absolute()), paths(),
    ]  # fmt: skip
    supervisor = [sys.executable, "-I", "-S", str(SUPERVISOR), "", "", *command]
    with os.fdopen(report_out, "rb") as reports, os.fdopen(control_in, "wb") as control:
        try:
            group = subprocess.Popen(
                supervisor, stdin=subprocess.PIPE, pass_fds=(plan_file, report_in, control_out),
                start_new_session=True,
            )  # fmt: skip
        finally:
            for passed in (plan_file, report_in, control_out):
                os.close(passed)
        with group:
            try:
                yield reports, control
            finally:
                platforms.end_group(group)


def _memory_file(text: str) -> int:
    """The descriptor of a file in memory: a recording does not fit into an argument."""
    file = os.memfd_create("plan")
    os.write(file, text.encode())
    os.lseek(file, 0, os.SEEK_SET)
    return file


def _settings(options: Options) -> tuple[dict[str, Any], list[_core.CustomLaw]]:
    """The options as data, and the custom laws that their AQMs name."""
    settings = asdict(replace(options, scenario=None))
    del settings["scenario"]
    if settings["seed"] is None:
        settings["seed"] = 1 if options.scenario is None else options.scenario.seed
    laws: list[_core.CustomLaw] = []
    for name in ("forward", "reverse"):
        given = {key: text for key, text in settings[name].items() if text is not None}
        if "aqm" in given:
            given["aqm"], law = bring_one(given["aqm"])
            laws += [law] if law else []
        settings[name] = given
    settings["near"], settings["far"] = _space(options.near), _space(options.far)
    return settings, laws


def _space(text: str | None) -> str | None:
    """Replace a name that `ip netns` knows by its file."""
    if text in (None, "new", "host") or "/" in str(text):
        return text
    return str(_NAMED / str(text))


def _priority() -> tuple[str, ...]:
    program = shutil.which(_REAL_TIME[0])
    if program is None:
        raise InputError("--realtime: chrt: not installed; apt-get install util-linux")
    if os.geteuid() != 0:
        raise InputError("--realtime: only root may have such a priority; leave it out")
    return (program, *_REAL_TIME[1:])


def _listen(reports: BinaryIO, control: BinaryIO, listener: Listener) -> dict[str, Any]:
    """Pass on the router's reports until the final one, which Ctrl-C requests."""
    interrupted = False
    while True:
        try:
            report = next_report(reports)
            if "end" in report:
                return {**report["end"], "interrupted": interrupted}
            listener(report)
        except KeyboardInterrupt:
            if interrupted:
                raise
            interrupted = True
            control.close()


def next_report(reports: BinaryIO) -> dict[str, Any]:
    """The next report line of a router.

    Raises:
        RunFailed: the line reports a failure, or the router has ended without one.
    """
    line = reports.readline()
    if not line:
        raise RunFailed("the router ended before it should; its messages are above")
    report: dict[str, Any] = json.loads(line)
    if "failure" in report:
        raise RunFailed(report["failure"])
    return report

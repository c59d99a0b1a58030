"""The router around a block of Python: ``with sojourn.router(rate="10mbit") as link:``."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from sojourn import files
from sojourn.describing.library import ScenarioLike, Sets, load
from sojourn.errors import RunFailed, named
from sojourn.running.router import (
    Options,
    both_ways,
    next_report,
    planned,
    started,
    with_warnings,
)

# Keeps a network namespace alive; writes its process ID to a file, renamed once complete.
_HOLD = 'echo $$ > "$0.new" && mv "$0.new" "$0" && exec sleep infinity'
_LOOK_EVERY_S, _PATIENCE_S = 0.005, 10.0
_OPTIONS = (
    "near", "far", "spin", "stall", "mtu", "packets", "signals", "seed", "link", "reverse_link",
)  # fmt: skip


@dataclass(frozen=True)
class LinkEnd:
    """One end of a link.

    Attributes:
        address: address of its interface.
        ipv6_address: the same for IPv6; None if this machine has none, or the MTU is below 1280 B.
        pid: a process in its network namespace.
        programs: programs that were started there.
    """

    address: str
    ipv6_address: str | None
    pid: int
    programs: list[subprocess.Popen[Any]] = field(default_factory=list)

    def popen(self, command: Sequence[str], **more: Any) -> subprocess.Popen[Any]:
        """Start a program at this end; it ends with the link.

        Args:
            command: the program and its arguments.
            more: see `subprocess.Popen`.
        """
        user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
        enter = ["nsenter", *user, "--net", f"--target={self.pid}", "--"]
        self.programs.append(subprocess.Popen([*enter, *command], **more))
        return self.programs[-1]

    def run(
        self, command: Sequence[str], *, check: bool = True, timeout: float | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program there to its end, and return it with what it wrote.

        Args:
            command: the program and its arguments.
            check: whether another exit code than 0 raises `subprocess.CalledProcessError`.
            timeout: seconds after which the program is ended and `subprocess.TimeoutExpired`
                raised.
        """
        pipe = subprocess.PIPE
        with self.popen(command, stdout=pipe, stderr=pipe, text=True) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except BaseException:
                process.kill()
                raise
        done = subprocess.CompletedProcess(list(command), process.returncode, out, err)
        if check:
            done.check_returncode()
        return done


class RouterLink:
    """A router that runs while a block does.

    Attributes:
        near: the end whose packets go up.
        far: the other end.
        ended: the final report, after the block: ``summary`` rows, ``facts``, ``warnings``,
            ``remarks`` (what a scenario's links became) and ``invalid``, why it is not a valid
            experiment.
    """

    near: LinkEnd
    far: LinkEnd
    ended: dict[str, Any]

    def __init__(self, options: Options, out: Path | None = None) -> None:
        self._options, self._out = options, out
        self._resources = ExitStack()
        self._failure: RunFailed | None = None

    def __enter__(self) -> RouterLink:
        """Start the router; both interfaces are up afterwards.

        Raises:
            ScenarioError: an option is invalid.
            InputError: this machine, or this user, does not allow a router.
            RunFailed: it did not start.
        """
        with ExitStack() as stack:
            folder = stack.enter_context(files.scratch())
            holders = [folder / name for name in ("near", "far")]
            hold = [("sh", "-c", _HOLD, str(path)) for path in holders]
            plan = planned(Options(**{**vars(self._options), "command": hold[0],
                                      "far_command": hold[1]}))  # fmt: skip
            stack.enter_context(files.writing_to(self._out))
            reports, self._control = stack.enter_context(started(plan, self._out))
            ends = next_report(reports)["begun"]["ends"]
            self._reader = threading.Thread(target=self._read, args=(reports,), daemon=True)
            self._reader.start()
            pids = [self._pid(path) for path in holders]
            self.near, self.far = (
                LinkEnd(end["address"], end["ipv6_address"], pid)
                for end, pid in zip(ends, pids, strict=True)
            )
            self._resources = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _value: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:  # fmt: skip
        """End the router.

        Raises:
            RunFailed: the router failed while the block ran.
        """
        with self._resources:
            self._control.close()
            self._reader.join()
            for program in (*self.near.programs, *self.far.programs):
                program.kill()
                program.wait()
        if kind is None and self._failure is not None:
            raise self._failure

    def value(self, metric: str, way: str = "forward") -> float:
        """A number of the final report, such as ``delay_p95``, forward or reverse.

        Raises:
            KeyError: the report lacks it, as for a way without a rate.
        """
        for _scope, name, found, value, _unit in self.ended["summary"]:
            if (name, found) == (way, metric):
                return float(value)
        raise KeyError(f"{way}: has no {metric}; a way without a rate has no queue")

    def _read(self, reports: BinaryIO) -> None:
        """Read the router's reports until the final one, so that it never waits for a reader."""
        try:
            while "end" not in (report := next_report(reports)):
                pass
            self.ended = with_warnings(self._options, report["end"])
        except RunFailed as error:
            self._failure = error

    def _pid(self, path: Path) -> int:
        deadline = time.monotonic() + _PATIENCE_S
        while not path.exists():
            if self._failure is not None:
                raise self._failure
            if time.monotonic() > deadline:
                raise RunFailed("the router started no process at an end")
            time.sleep(_LOOK_EVERY_S)
        return int(path.read_text())


def router(
    *,
    scenario: ScenarioLike | None = None,
    sets: Sets | None = None,
    rate: str | None = None,
    up: str | None = None,
    down: str | None = None,
    out: str | Path | None = None,
    **given: Any,
) -> RouterLink:
    """A router in real time between two network namespaces, while a block runs.

    ::

        with sojourn.router(rate="10mbit", delay="20ms", aqm="fq_codel") as link:
            server = link.far.popen(["iperf3", "-s"])
            link.near.run(["iperf3", "-c", link.far.address])
        link.value("delay_p95")                 # seconds; link.ended has all of it

    Args:
        scenario: a scenario whose links it has, in place of rates, delays and limits.
        sets: dotted keys with values that override the scenario.
        rate: rate of both directions; without a rate packets are only delayed.
        up: rate from near to far, in place of `rate`.
        down: rate from far to near, in place of `rate`.
        out: folder for the result tables.
        **given: ``aqm``, ``delay``, ``limit`` and ``framing`` of both directions; the same with
            ``reverse_`` for the reverse direction alone; ``link``, ``reverse_link``, ``near``,
            ``far``, ``spin``, ``stall``, ``mtu``, ``packets``, ``signals`` and ``seed`` as for
            `sojourn.running.router.Options`.

    Raises:
        TypeError: an argument is unknown, or `sets` without a scenario.
        ScenarioError: the scenario is not legal.
    """
    shared = ("aqm", "delay", "limit", "framing")
    ways = {*shared, *(f"reverse_{key}" for key in shared)}
    if unknown := given.keys() - ways - {*_OPTIONS}:
        raise TypeError(f"router: unknown argument `{min(unknown)}`")
    forward, reverse = both_ways(
        rate, up, down, **{key: text for key, text in given.items() if key in ways}
    )
    if scenario is None and sets:
        raise TypeError("router: `sets` is for a scenario; give one")
    loaded = None if scenario is None else load(scenario, sets)
    options = {key: value for key, value in given.items() if key in _OPTIONS}
    wanted = Options(forward, reverse, loaded, **options)
    return RouterLink(wanted, None if out is None else named(out, "out", is_required=False))

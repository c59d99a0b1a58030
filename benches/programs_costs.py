"""What a packet and a system call of programs in a guest cost, next to the hosts of a plain run.

    python benches/programs_costs.py [TURNS]

curl fetches a file from Python's http.server through fq_codel at several rates; the hosts of engine
linux and the simulator send the same bytes. CPU times are those of whole runs, less that of a run
that sends nothing; a call's time is that of a program that makes many. Each turn measures every
row; values are medians over the turns. Writes the table of docs/evidence/programs.md.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import sojourn
from sojourn import _core, files
from sojourn.engines.linux import kernel

PAGE = Path(__file__).parents[1] / "docs" / "evidence" / "programs.md"
MARKS = ("<!-- costs: begin -->\n", "<!-- costs: end -->\n")
TURNS = 3
RATES_MBIT = (10, 50, 100)
SECONDS = 4
CALLS = 300_000
NOTHING, NOTHING_LINUX = "programs without data", "engine linux without data"
PYTHON = "/usr/bin/python3"
LINE = """
name = "line"
duration = "20s"
warmup = "0s"
[engine.linux]
bottleneck = "{bottleneck}"
[links.down]
rate = "{rate}mbit"
queue = "fq_codel@linux"
[links.up]
rate = "5mbit"
queue = "taildrop"
[[flows]]
name = "programs"
path = ["down"]
reverse = ["up"]
rtt = "50ms"
cc = "cubic"
app = {{ kind = "bulk", bytes = "{size}B" }}
"""


class Cost(NamedTuple):
    """The CPU time of one run, and its packets."""

    cpu_s: float
    packets: float


def main(arguments: list[str]) -> None:
    """Measure in turns, and write the table."""
    turns = int(arguments[0]) if arguments else TURNS
    runs = _runs()
    found: dict[str, list[Cost]] = {name: [] for name in runs}
    for _ in range(turns):
        for name, run in runs.items():
            found[name].append(_timed(run))
            print(name, found[name][-1], flush=True)
    costs = {name: Cost(*map(statistics.median, zip(*each, strict=True)))
             for name, each in found.items()}  # fmt: skip
    files.replace_between(PAGE, *MARKS, _table(costs, turns))


def _runs() -> dict[str, Callable[[], sojourn.Result]]:
    runs: dict[str, Callable[[], sojourn.Result]] = {
        NOTHING: partial(_fetch, 10, 0, "sojourn"),
        NOTHING_LINUX: partial(_plain, 10, 1, "linux"),
    }
    for rate in RATES_MBIT:
        size = rate * SECONDS * 125_000
        runs[f"curl, Python's http.server, {rate} Mbit/s"] = partial(_fetch, rate, size, "sojourn")
    runs[f"the same with the kernel's fq_codel, {rate} Mbit/s"] = partial(
        _fetch, rate, size, "kernel"
    )
    runs[f"TCP of engine `linux`, {rate} Mbit/s"] = partial(_plain, rate, size, "linux")
    runs[f"TCP of the simulator, {rate} Mbit/s"] = partial(_plain, rate, size, "sim")
    runs["a system call"] = partial(
        _command, f"dd if=/dev/zero of=/dev/null bs=1 count={CALLS // 2} status=none"
    )
    runs["a clock reading"] = partial(
        _command,
        f"{PYTHON} -c 'from time import monotonic\nfor _ in range({CALLS}): monotonic()'",
    )
    return runs


def _line(rate: int, size: int, bottleneck: str = "sojourn") -> _core.Scenario:
    return _core.Scenario.load(LINE.format(rate=rate, size=size, bottleneck=bottleneck))


def _fetch(rate: int, size: int, bottleneck: str) -> sojourn.Result:
    commands = {
        "server": f"truncate -s {size} big; exec {PYTHON} -m http.server 8000",
        "client": "curl -sO http://server:8000/big",
    }
    return sojourn.run_programs(_line(rate, 1, bottleneck), commands)


def _command(text: str) -> sojourn.Result:
    return sojourn.run_programs(_line(10, 1), {"client": text})


def _plain(rate: int, size: int, engine: str) -> sojourn.Result:
    return sojourn.run(_line(rate, size), engine=engine, store=None)


def _timed(run: Callable[[], sojourn.Result]) -> Cost:
    before_s = _cpu_s()
    result = run()
    if result.invalid:
        raise SystemExit(result.invalid)
    return Cost(_cpu_s() - before_s, result.summary["run/packets"])


def _cpu_s() -> float:
    """CPU seconds of this process and of its children."""
    each = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in each)


def _table(costs: dict[str, Cost], turns: int) -> str:
    lines = [
        f"Linux {getattr(kernel.find(), 'version', 'unknown')}, {os.cpu_count()} CPUs, medians of "
        f"{turns} turns.",
        "",
        "| | packets | CPU time per simulated second, s | CPU time per packet, µs |",
        "|---|---:|---:|---:|",
    ]
    nothing_s, nothing_linux_s = costs.pop(NOTHING).cpu_s, costs.pop(NOTHING_LINUX).cpu_s
    calls = {name: costs.pop(name) for name in list(costs) if name.startswith("a ")}
    for name, (cpu_s, packets) in costs.items():
        base_s = 0.0 if "simulator" in name else nothing_linux_s if "engine" in name else nothing_s
        more_s = cpu_s - base_s
        lines.append(
            f"| {name} | {packets:,.0f} | {more_s / SECONDS:.3g} | {1e6 * more_s / packets:.3g} |"
        )
    each = ", ".join(
        f"{name} {1e6 * (cost.cpu_s - nothing_s) / CALLS:.3g} µs" for name, cost in calls.items()
    )
    return "\n".join([*lines, "", f"CPU time of {each}; of a guest's start {nothing_s:.2g} s.", ""])


if __name__ == "__main__":
    main(sys.argv[1:])

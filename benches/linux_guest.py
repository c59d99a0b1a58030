"""The time that seccomp saves in a guest; our module's cost against the kernel's disciplines.

    python benches/linux_guest.py [KERNEL]

KERNEL is a release or a path, by default 7.2. Both sides of a row run alternately, so other load on
the machine affects both; the ratio is the median over the turns, with the smallest and the largest.
Writes the tables between comments of docs/how-to/linux.md and docs/evidence/kernel-module.md.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from sojourn import _core, files
from sojourn.agreement import grid
from sojourn.engines import child
from sojourn.engines.linux import guest, kernel
from sojourn.engines.linux.kernel import module

DOCS = Path(__file__).parents[1] / "docs"
TURNS = 3
CELLS = (
    "pfifo 4 x cubic 10 ms", "codel 4 x cubic 10 ms", "fq_codel 16 x cubic 10 ms",
    "pie 4 x cubic 10 ms", "ared 4 x cubic 10 ms",
)  # fmt: skip
QUEUES = ("codel@linux", "fq_codel@linux", "pie@linux:hz=1000", "dualpi2@linux")
TEXT = """
name = "together"
duration = "10s"
warmup = "1s"
[record]
states = false
[engine.linux]
where = "guest"
bottleneck = "{bottleneck}"
[links.bottleneck]
rate = "50mbit"
delay = "10ms"
queue = "{queue}"
[[flows]]
count = 4
path = ["bottleneck"]
rtt = "40ms"
cc = "cubic"
app = {{ kind = "bulk" }}
"""
Timed = tuple[float, str]


def main(arguments: list[str]) -> None:
    """Measure both, and write both tables."""
    which = kernel.given(Path(arguments[0] if arguments else "7.2"))
    _write("how-to/linux.md", "seccomp", which, ["scenario of the grid", "ptrace", "seccomp"], [
        (name, *_in_turn(lambda on, name=name: _run(which, _cell(name), on)))
        for name in CELLS
    ])  # fmt: skip
    _write("evidence/kernel-module.md", "speed", which, ["AQM", "the kernel's own", "ours"], [
        (f"`{queue}`", *_in_turn(lambda ours, queue=queue: _run(which, _load(queue, ours), True)))
        for queue in QUEUES
    ])  # fmt: skip


def _cell(name: str) -> _core.Scenario:
    return next(each for each in grid.scenarios(["sim", "linux"]) if each.name == name)


def _load(queue: str, ours: bool) -> _core.Scenario:
    bottleneck = module.BOTTLENECK if ours else "kernel"
    return _core.Scenario.load(TEXT.format(bottleneck=bottleneck, queue=queue))


def _run(which: kernel.Kernel, scenario: _core.Scenario, seccomp: bool) -> Timed:
    """Wall seconds of a run, and the digest of its packets."""
    plan = _core.linux_plan(scenario)
    with child.scratch() as folder:
        if json.loads(plan)["module"]:
            shutil.copy(module.require(which.path.parent), folder.shared / module.NAME)
        began = time.monotonic()
        guest.run(which, folder, plan, scenario.seed, _core.Cancel(), seccomp=seccomp)
        took_s = time.monotonic() - began
        run = _core.linux_collect(scenario, plan, str(folder.shared), "{}", True, took_s)
    if run.invalid:
        raise SystemExit(f"{scenario.name}: {run.invalid}")
    return took_s, run.digest


def _in_turn(side: Callable[[bool], Timed]) -> tuple[list[Timed], list[Timed]]:
    """Both sides alternately, several times."""
    pairs = [(side(False), side(True)) for _ in range(TURNS)]
    return [one for one, _ in pairs], [other for _, other in pairs]


def _write(
    page: str, what: str, which: kernel.Kernel, names: Sequence[str],
    rows: Sequence[tuple[str, list[Timed], list[Timed]]],
) -> None:  # fmt: skip
    """Write a table; the times are medians, the ratio is the second side's speed-up."""
    lines = [
        f"Linux {which.version}, {TURNS} turns.", "",
        f"| {names[0]} | {names[1]}, s | {names[2]}, s | first / second | same packets |",
        "|---|---:|---:|---:|---|",
    ]  # fmt: skip
    for name, one, other in rows:
        ratios = sorted(a[0] / b[0] for a, b in zip(one, other, strict=True))
        times = [statistics.median(side[0] for side in sides) for sides in (one, other)]
        same = "yes" if len({side[1] for side in one + other}) == 1 else "no"
        lines.append(
            f"| {name} | {times[0]:.2f} | {times[1]:.2f} | {statistics.median(ratios):.2f} "
            f"({ratios[0]:.2f} to {ratios[-1]:.2f}) | {same} |"
        )
    begin, end = f"<!-- guest {what}: begin -->\n", f"<!-- guest {what}: end -->\n"
    table = "\n".join(lines) + "\n"
    files.replace_between(DOCS / page, begin, end, table)
    print(table)


if __name__ == "__main__":
    main(sys.argv[1:])

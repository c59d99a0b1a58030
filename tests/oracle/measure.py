"""The kernel's disciplines against ours in one kernel, for docs/evidence/kernel-module.md.

    python tests/oracle/measure.py [--show | --update] [--kernel=RELEASE] [AQM...]

Each case runs twice in the guest, from the same seed: once with the kernel's discipline below the
shaper, once with `sch_sojourn` and the same AQM. The kernel's random numbers restart with each
second, so both draw the same. Every arrival at the router is compared: arrival time, departure or
drop time, and ECN field. With `--show` nothing is written, and the packets around the first
difference are printed. With `--update` only the rows of these AQMs are replaced. Each kernel has a
separate table. If interrupted, it writes the results so far. Needs `sojourn kernel build` and
`module`."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product, zip_longest
from pathlib import Path
from typing import Any

from sojourn import _core, files
from sojourn.engines import child
from sojourn.engines.linux import guest, kernel
from sojourn.engines.linux.kernel import archives, module

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence" / "kernel-module.md"
# Comments around the table of a release.
BEGIN, END = "<!-- oracle {}: begin -->\n", "<!-- oracle {}: end -->\n"
FLOWS, RATES = (1, 2, 4, 16), (10, 50)
AQMS = (
    "taildrop:limit=100p", "taildrop:limit=125kB", "codel@linux", "codel@linux:ecn=true",
    "fq_codel@linux", "fq_codel@linux:ecn=true", "pie@linux:hz=1000",
    "pie@linux:hz=1000,ecn=true", "fq_pie@linux:hz=1000",
    "red@linux", "choke", "sfq", "sfb",
)  # fmt: skip
# Additional AQMs of a release: CAKE with its table of roots (fact linux-30), and DualPI2; flows
# have ECN if the text says so.
OF_RELEASE = {
    "6.1": ("cake",),
    "7.2": (
        "cake:inverse_roots=linux-6.12", "dualpi2@linux", "dualpi2@linux+ecn", "dualpi2@linux+l4s",
    ),
}  # fmt: skip
# TCP with ECN; in addition datagrams with ECT(1), in packets of two sizes.
ECN, L4S = "+ecn", "+l4s"
HEAD = "| AQM | flows | rate | packets | drops | marks | kernel and ours |"
RULE = "|" + "---|" * 7
# Seconds of a run by its rate: about the same number of packets at each.
SECONDS = {10: 6, 50: 2}
# Number of packets shown from the first difference on.
SHOWN = 6
# The captures do not show why a packet was dropped; this is the discipline's usual signal.
NOT_COMPARED = ("cause", "mark_cause")
TEXT = """
name = "oracle"
duration = "{seconds}s"
warmup = "1s"
[record]
packets = true
[engine.linux]
where = "guest"
bottleneck = "{bottleneck}"
[links.bottleneck]
rate = "{rate}mbit"
delay = "10ms"
queue = "{queue}"
[[flows]]
count = {flows}
path = ["bottleneck"]
rtt = "40ms"
tcp = "linux"
cc = "reno"
ecn = {ecn}
app = {{ kind = "bulk" }}
"""
LOW_LATENCY = """
[[flows]]
count = 2
path = ["bottleneck"]
rtt = "40ms"
ecn = "ect1"
app = {{ kind = "cbr", rate = "{rate}mbit", packet = "{packet}B" }}
"""


@dataclass(frozen=True)
class Case:
    """One AQM at one link."""

    queue: str
    flows: int
    rate: int
    release: str = archives.DEFAULT_RELEASE

    def cells(self) -> str:
        """The beginning of the table's row."""
        return f"| `{self.queue}` | {self.flows} | {self.rate} Mbit/s"

    def scenario(self, bottleneck: str) -> _core.Scenario:
        """The scenario of one side."""
        ecn = "true" if "ecn=true" in self.queue or self.queue.endswith((ECN, L4S)) else "false"
        more = "".join(
            LOW_LATENCY.format(rate=self.rate * 0.2, packet=packet)
            for packet in (1500, 200) if self.queue.endswith(L4S)
        )  # fmt: skip
        return _core.Scenario.load(
            TEXT.format(
                seconds=SECONDS[self.rate],
                bottleneck=bottleneck,
                rate=self.rate,
                queue=self.queue.partition("+")[0],
                flows=self.flows,
                ecn=ecn,
            )
            + more
        )


@dataclass(frozen=True)
class Side:
    """The result of one run."""

    packets: list[tuple[Any, ...]]
    drops: int
    marks: int

    @staticmethod
    def of(case: Case, bottleneck: str) -> Side:
        """Run it."""
        run = _run(case, bottleneck)
        if run.invalid:
            raise SystemExit(f"{case} {bottleneck}: {run.invalid}")
        rows = _rows(run)
        drops = sum(row["fate"] == "dropped" for row in rows)
        seen = [
            tuple(value for name, value in row.items() if name not in NOT_COMPARED) for row in rows
        ]
        return Side(seen, drops, sum(row["marked"] for row in rows))


def _run(case: Case, bottleneck: str) -> _core.Run:
    found, scenario = kernel.given(Path(case.release)), case.scenario(bottleneck)
    plan = _core.linux_plan(scenario)
    with child.scratch() as folder:
        if bottleneck == module.BOTTLENECK:
            shutil.copy(module.require(found.path.parent), folder.shared / module.NAME)
        guest.run(found, folder, plan, scenario.seed, _core.Cancel())
        facts = json.dumps({"kernel": found.version})
        return _core.linux_collect(scenario, plan, str(folder.shared), facts, True, 0.0)


def _rows(run: _core.Run) -> list[dict[str, Any]]:
    import pyarrow as pa

    return pa.table(run.table("packets")).to_pylist()


@dataclass(frozen=True)
class Outcome:
    """Both runs of a case."""

    case: Case
    kernel: Side
    ours: Side

    @property
    def first(self) -> int | None:
        """The first packet that differs, if any."""
        pairs = zip_longest(self.kernel.packets, self.ours.packets)
        return next((index for index, (a, b) in enumerate(pairs) if a != b), None)

    def row(self) -> str:
        """The row of the table."""
        first = self.first
        verdict = "equal" if first is None else f"differ from packet {first + 1} on"
        cells = [
            *(f"{a} / {b}" if a != b else str(a) for a, b in (
                (len(self.kernel.packets), len(self.ours.packets)),
                (self.kernel.drops, self.ours.drops), (self.kernel.marks, self.ours.marks))),
            verdict,
        ]  # fmt: skip
        return f"{self.case.cells()} | {' | '.join(cells)} |"

    def show(self, count: int) -> None:
        """Print the row, and a few packets of both sides from the first difference on."""
        print(self.row(), flush=True)
        if self.first is not None and count:
            for name, side in (("kernel", self.kernel), ("ours", self.ours)):
                for row in side.packets[max(0, self.first - 2) : self.first + count]:
                    print(f"  {name:7}", *row)


def outcome(case: Case) -> Outcome:
    """Run both sides."""
    return Outcome(case, Side.of(case, "kernel"), Side.of(case, module.BOTTLENECK))


def cases(queues: Iterable[str] = (), release: str = archives.DEFAULT_RELEASE) -> list[Case]:
    """All cases of these AQMs, or of all that a kernel has."""
    named = tuple(queues) or (*AQMS, *OF_RELEASE[release])
    return [Case(*each, release) for each in product(named, FLOWS, RATES)]


def main(arguments: list[str]) -> None:
    """Run the cases; write the page, or show."""
    show = "--show" in arguments
    option = "--kernel="
    named = [word.removeprefix(option) for word in arguments if word.startswith(option)]
    release = named[-1] if named else archives.DEFAULT_RELEASE
    queues = [word for word in arguments if not word.startswith("--")]
    found = []
    for each in _outcomes(cases(queues, release)):
        found.append(each)
        each.show(SHOWN if show else 0)
    if not show:
        _write(found, release, keeps="--update" in arguments)


def _outcomes(grid: Sequence[Case]) -> Iterator[Outcome]:
    """The outcomes in order, until an interrupt."""
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        try:
            yield from pool.map(outcome, grid)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)


def sentence(version: str, run: int, equal: int, release: str) -> str:
    """The summary of the table."""
    text = f"Linux {version}: {equal} of {run} cases equal, packet for packet."
    absent = len(cases(release=release)) - run
    return text if absent == 0 else f"{text} {absent} of the grid were not run."


def _write(found: list[Outcome], release: str, *, keeps: bool) -> None:
    """Replace the table of the page, or its rows; the text around it is written by hand."""
    begin, end = BEGIN.format(release), END.format(release)
    table = PAGE.read_text(encoding="utf-8").partition(begin)[2].partition(end)[0]
    rows = {_case_of(row): row for row in table.splitlines() if row.startswith("| `")}
    rows = (rows if keeps else {}) | {_case_of(each.row()): each.row() for each in found}
    grid = cases(release=release)
    ordered = [row for case in grid if (row := rows.get(_case_of(case.cells()))) is not None]
    equal = sum(row.endswith("| equal |") for row in ordered)
    version = kernel.given(Path(release)).version
    lines = [
        sentence(version, len(ordered), equal, release), "", HEAD, RULE, *ordered,
    ]  # fmt: skip
    files.replace_between(PAGE, begin, end, "\n".join(lines) + "\n")


def _case_of(row: str) -> tuple[str, ...]:
    """AQM, flows and rate of a row."""
    return tuple(row.split(" | ")[:3])


if __name__ == "__main__":
    main(sys.argv[1:])

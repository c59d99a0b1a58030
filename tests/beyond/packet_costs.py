"""What CoDel and PIE cost: state, time stamps, multiplications and instructions.

    cargo build --release --package sojourn-aqm --example law_cost
    python tests/beyond/packet_costs.py target/release/examples/law_cost

Callgrind counts how often each instruction of a law runs, inside the two functions of the example
that call it; objdump shows which of them multiply or divide. The same loop around a law that does
nothing is subtracted. Needs valgrind and objdump.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pages

PACKETS = 50_000
LOADS = ("light", "reno")
NOTHING = "taildrop"
KINDS = {
    "instructions": re.compile(""),
    "multiplications": re.compile(r"v?mul[sp][sd]$|vfn?m(add|sub)|i?mul[bwlq]?$|mulx"),
    "divisions": re.compile(r"v?div[sp][sd]$|i?div[bwlq]?$"),
    "roots": re.compile(r"v?sqrt[sp][sd]$"),
}
Kinds = dict[str, int]
# An instruction of objdump: its address and mnemonic.
LISTED = re.compile(r"^\s*([0-9a-f]+):\s+(?:lock |rep\w* |bnd |data16 |notrack )*([a-z0-9]+)")


@dataclass(frozen=True)
class Law:
    """A law, and the figures that its source gives for it."""

    aqm: str
    name: str
    variables: int
    state_bytes: int
    stamp_bytes: int
    clock: str


LAWS = (
    # first_above_time, drop_next, count, lastcount, dropping.
    Law("codel", "CoDel, RFC 8289", 5, 25, 8, "2"),
    # include/net/codel.h, struct codel_vars.
    Law("codel@linux", "CoDel, Linux", 7, 24, 4, "2"),
    Law("codel@act", "CoDel-ACT", 5, 25, 8, "2"),
    # p, its sum since the last drop, delay, old delay, burst allowance, next update.
    Law("pie", "PIE, RFC 8033, sojourn times", 6, 48, 8, "2"),
    # The same with the average rate, and start and bytes of its measurement.
    Law("pie:delay=rate", "PIE, RFC 8033, departure rate", 9, 72, 0, "1 per 16 kB"),
    # p, delay, old delay, burst allowance, average rate, start and bytes of its measurement, next
    # update.
    Law("pie@paper2013", "PIE, Pan et al. 2013", 8, 64, 0, "1 per 10 kB"),
    # include/net/pie.h, struct pie_vars, and the timer.
    Law("pie@linux", "PIE, Linux", 10, 72, 8, "2"),
)


class Program:
    """The example program, and the kinds of its instructions."""

    def __init__(self, path: str) -> None:
        self.path = path
        listing = subprocess.run(
            ["objdump", "--disassemble", "--no-show-raw-insn", path],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        found = (LISTED.match(line) for line in listing.splitlines())
        self.mnemonics = {int(each[1], 16): each[2] for each in found if each}

    def count(self, aqm: str, load: str, inside: str) -> tuple[Kinds, Said]:
        """Instructions by kind inside a function of the example, and what it printed."""
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "callgrind"
            command = [
                "valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no",
                "--compress-strings=no", "--collect-atstart=no",
                f"--toggle-collect=*law_cost::{inside}*", f"--callgrind-out-file={out}",
                self.path, aqm, load, f"{PACKETS}",
            ]  # fmt: skip
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            executed = self._executed(out.read_text())
        kinds = dict.fromkeys(KINDS, 0)
        for address, times in executed.items():
            for name, pattern in KINDS.items():
                kinds[name] += times if pattern.match(self.mnemonics.get(address, "")) else 0
        unknown = sum(n for address, n in executed.items() if address not in self.mnemonics)
        if unknown:
            raise ValueError(f"{aqm}: {unknown} instructions outside of {self.path}")
        return kinds, Said(*map(int, done.stdout.split()))

    @staticmethod
    def _executed(profile: str) -> Counter[int]:
        """The number of executions of each instruction, by address."""
        executed: Counter[int] = Counter()
        is_call = False
        for line in profile.splitlines():
            if line.startswith("0x") and not is_call:
                address, _line, times = line.split()
                executed[int(address, 16)] += int(times)
            is_call = line.startswith("calls=")
        return executed


@dataclass(frozen=True)
class Said:
    """The numbers that the example printed: calls of its functions, and signals."""

    arrive: int
    depart: int
    update: int
    signals: int


@dataclass(frozen=True)
class Cost:
    """Per packet and per update: instructions by kind; and the share of packets signalled."""

    packet: dict[str, float]
    update: dict[str, float]
    signals: float


METHOD = f"""\
Pan et al. 2013 §I call CoDel expensive in hardware for two reasons: it needs a time stamp per
packet, and drops after enqueueing. The first table is read off the texts and sources; widths are
those of our laws, of Linux the kernel's (`include/net/codel.h` and `pie.h`). The generator of
random numbers, which every PIE needs, can serve all queues and is left out.

The second table is measured. [An example](../../crates/aqm/examples/law_cost.rs) runs one law
alone for {PACKETS:,} packet times of a link of 10 Mbit/s: `light` offers it 90 % of its rate
evenly, `reno` the window of eight Reno flows. Callgrind counts how often each instruction of the
law runs, `objdump` says which multiply, divide or take a square root; what a law that does nothing
costs is subtracted. A draw of a random number counts with its packet, reading a clock does not."""


def main(path: str) -> None:
    """Write the page."""
    program = Program(path)
    found = {(law, load): _cost(program, law.aqm, load) for law in LAWS for load in LOADS}
    state_head = ["AQM", "variables", "bytes per queue", "time stamp per packet [B]",
                  "readings of a clock per packet"]  # fmt: skip
    states = [
        [law.name, f"{law.variables}", f"{law.state_bytes}", f"{law.stamp_bytes}", law.clock]
        for law in LAWS
    ]
    head = ["AQM", "load", "signalled [%]", *(f"{kind} per packet" for kind in KINDS),
            *(f"{kind} per update" for kind in KINDS)]  # fmt: skip
    rows = [
        [law.name, load, f"{100 * cost.signals:.2g}", *_shown(cost.packet), *_shown(cost.update)]
        for (law, load), cost in found.items()
    ]
    parts = [
        METHOD,
        "## State and time stamps",
        pages.table(state_head, states),
        "## Work",
        pages.table(head, rows),
    ]
    pages.write("pie-codel-cost", "What PIE and CoDel cost", _answer(found), *parts)


def _cost(program: Program, aqm: str, load: str) -> Cost:
    packet = dict.fromkeys(KINDS, 0.0)
    for inside in ("arrive", "depart"):
        law, said = program.count(aqm, load, inside)
        nothing, none = program.count(NOTHING, LOADS[0], inside)
        calls, of_none = getattr(said, inside), getattr(none, inside)
        for kind in KINDS:
            packet[kind] += (law[kind] - nothing[kind] * calls / of_none) / said.arrive
    update = {}
    if said.update:
        of_updates, _ = program.count(aqm, load, "update")
        update = {kind: of_updates[kind] / said.update for kind in KINDS}
    return Cost(packet, update, said.signals / said.arrive)


def _shown(numbers: dict[str, float]) -> list[str]:
    return [f"{numbers[kind]:.3g}" if numbers else "-" for kind in KINDS]


def _answer(found: Mapping[tuple[Law, str], Cost]) -> str:
    """The paper's own PIE against RFC 8289's CoDel, under load."""
    by = {law.aqm: law for law in LAWS}
    pie, codel = by["pie@paper2013"], by["codel"]
    its, other = (found[law, "reno"].packet for law in (pie, codel))
    hard = other["divisions"] + other["roots"]
    return (
        "In hardware PIE saves the time stamp and pays in state and work: as published it needs "
        f"{pie.stamp_bytes} bytes per packet against CoDel's {codel.stamp_bytes}, but "
        f"{pie.state_bytes} bytes per queue against {codel.state_bytes} and "
        f"{its['instructions']:.0f} instructions per packet against {other['instructions']:.0f}; "
        f"it multiplies {its['multiplications']:.1f} times and divides {its['divisions']:.3g} "
        f"times per packet, while CoDel divides or takes a square root {hard:.2f} times."
    )


if __name__ == "__main__":
    main(sys.argv[1])

"""Compares our TCP with ns-2.35 and ns-3.44 packet by packet: writes docs/evidence/tcp-witness.md.

    python tests/witness/traces.py

Needs Debian's package ns2, and ns-3 as record.py does; two minutes. The arrivals that agreed with
ns-2 are kept in crates/sim/testdata/witness/traces.txt; crates/sim/tests/witness.rs tests that the
simulator still produces them.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import record
import timeouts

import sojourn

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DATA = ROOT / "crates" / "sim" / "testdata" / "witness"
PAGE = ROOT / "docs" / "evidence" / "tcp-witness.md"
SECONDS = 20
# Times of ns-2 are written to a microsecond; with SACK its acknowledgements are 7 us longer.
APART_S = 0.002
# Agent, receiver, limited transmit.
STACKS = {
    "newreno": ("TCP/Newreno", "TCPSink", 1),
    "sack": ("TCP/Sack1", "TCPSink/Sack1", 1),
    "reno": ("TCP/Reno", "TCPSink", 0),
    "tahoe": ("TCP", "TCPSink", 0),
}
# Timestamps and tick: ns-2's defaults, and those with which ns-2 estimates RTTs as our profiles do.
TIMERS = {"as it is": ("false", "0.01"), "with timestamps": ("true", "0.0001")}
QUEUES = {"taildrop": "taildrop:limit=199p", "pie": "pie:limit=200kB"}
# ns-3 has the stack of a profile, except for the differences that the page names.
NS3_STACKS = {"pi2-ns3": "ns3-plain", "sack": "ns3-sack"}
NS3_RECOVERIES = {
    "as it is": (),
    "without two errors": ("--recovery=TcpClassicRecovery", "--cc=HoldsThreshold"),
}
# The wheel's packets: IP, TCP with timestamps, PPP.
NS3_HEADER_BYTES = 54


@dataclass(frozen=True)
class Arrival:
    """A packet at the bottleneck's queue; ns-2 numbers data from 1, the SYN is 0."""

    at_s: float
    flow: int
    number: int
    dropped: bool

    def is_like(self, other: Arrival) -> bool:
        same = (self.flow, self.number, self.dropped) == (other.flow, other.number, other.dropped)
        return same and abs(self.at_s - other.at_s) < APART_S

    def __str__(self) -> str:
        fate = ", dropped" if self.dropped else ""
        return f"{self.at_s:.4f} s: flow {self.flow}, packet {self.number}{fate}"


def main() -> int:
    """Compare, and write page and record."""
    rows, kept = [], []
    for (queue, text), flows, stack in product(QUEUES.items(), (5, 1), STACKS):
        ours = _ours(text, stack, flows)
        for timers in TIMERS:
            theirs = _ns2(queue, stack, timers, ours, flows)
            same, row = _compared(ours, theirs)
            rows.append(f"| {queue} | {flows} | `{stack}` | {timers} {row}")
        if flows == 5:
            kept.append(f"{queue} {stack} {same} {_digest(theirs[:same])}")
    page = (HERE / "traces.template").read_text(encoding="utf-8")
    page = page.replace("{rows}", "\n".join(rows)).replace("{ns3_rows}", "\n".join(_ns3_rows()))
    page = page.replace("{timeouts}", "\n".join(_timeouts()))
    PAGE.write_text(page.replace("{seeds}", "\n".join(_seeds())), encoding="utf-8")
    about = (
        "# Arrivals at the queue that are the same in ns-2.35 with timestamps, and the FNV-1a\n"
        "# digest of ns-2's lines `flow number dropped`. Written by tests/witness/traces.py.\n"
        "# queue stack arrivals digest\n"
    )
    (DATA / "traces.txt").write_text(about + "\n".join(kept) + "\n", encoding="utf-8")
    return 0


def _compared(ours: list[Arrival], theirs: list[Arrival]) -> tuple[int, str]:
    """The number of equal arrivals, and the other cells of a row."""
    pairs = list(zip(ours, theirs, strict=False))
    same = next((i for i, (x, y) in enumerate(pairs) if not x.is_like(y)), len(pairs))
    drops = sum(arrival.dropped for arrival in ours[:same])
    others = [str(side[same]) if same < len(side) else "none" for side in (ours, theirs)]
    return same, (
        f"| {same} | {drops} | {others[0]} | {others[1]} "
        f"| {sum(a.dropped for a in ours)} of {len(ours)} "
        f"| {sum(a.dropped for a in theirs)} of {len(theirs)} |"
    )


def _timeouts() -> list[str]:
    """The first different timeout of one flow under PIE, computed and observed."""
    rows = []
    # Reno's first timeout has doubled the time until its second.
    for stack, doubled in (("reno", 2), ("tahoe", 1)):
        packets = _packets(QUEUES["pie"], stack, 1, 40)
        ours = _arrivals(packets)
        theirs = _ns2("pie", stack, "with timestamps", ours, 1)
        same = _compared(ours, theirs)[0]
        once_s, every_s, last_s = timeouts.estimated(packets, ours[same].at_s)
        # Both have sent the previous packet at the last new acknowledgement.
        sent_s = ours[same - 1].at_s - last_s
        waited = [side[same].at_s - side[same - 1].at_s + sent_s for side in (ours, theirs)]
        waited = [wait - timeouts.TO_QUEUE_S for wait in waited]
        cells = (doubled * once_s, waited[0], doubled * every_s, waited[1])
        rows.append(f"| `{stack}` | {' | '.join(f'{1000 * cell:.1f} ms' for cell in cells)} |")
    return rows


def _ns3_rows() -> list[str]:
    program, rows = record.compiled(), []
    for flows, stack, recovery in product((5, 1), NS3_STACKS, NS3_RECOVERIES):
        ours = _ours(QUEUES["pie"], stack, flows, NS3_HEADER_BYTES)
        row = _compared(ours, _ns3(program, stack, recovery, ours, flows))[1]
        rows.append(f"| {flows} | `{stack}` | {recovery} {row}")
    return rows


def _seeds() -> list[str]:
    """Utilisations of dumbbell.txt: ns-3 with SACK as it is, and without two errors."""
    lines = (DATA / "dumbbell.txt").read_text(encoding="utf-8").splitlines()
    cells = [line.split() for line in lines if not line.startswith("#")]
    rows = []
    for queue, flows in product(record.QUEUES, record.FLOWS):
        row = f"| {queue} | {flows} "
        for stack in ("ns3-sack", "ns3-rfc"):
            found = [float(c[7]) for c in cells if c[:3] == [queue, str(flows), stack]]
            mean = sum(found) / len(found)
            row += f"| {mean:.3f} ({min(found):.3f} to {max(found):.3f}) "
        rows.append(row + "|")
    return rows


def _ours(queue: str, stack: str, flows: int, header_bytes: int = 40) -> list[Arrival]:
    return _arrivals(_packets(queue, stack, flows, header_bytes))


def _packets(queue: str, stack: str, flows: int, header_bytes: int) -> list[dict[str, Any]]:
    sets = {"links.there.queue": queue, "duration": f"{SECONDS}s"}
    sets |= {f"flows[{flow}].tcp": stack for flow in range(5)}
    sets |= {f"flows[{flow}].header": f"{header_bytes}B" for flow in range(5)}
    # Flows that start after the end are left out.
    sets |= {f"flows[{flow}].start": f"{SECONDS + 1}s" for flow in range(flows, 5)}
    return sojourn.run(str(DATA / "trace.toml"), sets=sets, store=None).packets.to_pylist()


def _arrivals(rows: list[dict[str, Any]]) -> list[Arrival]:
    arrived = sorted((r for r in rows if r["queue"] == "there"), key=lambda r: r["arrived_ns"])
    return [
        Arrival(
            r["arrived_ns"] / 1e9, int(r["flow"]), r["seq"] + (r["bytes"] == 1000),
            r["fate"] == "dropped",
        )
        for r in arrived
    ]  # fmt: skip


def _ns2(queue: str, stack: str, timers: str, ours: list[Arrival], flows: int) -> list[Arrival]:
    """ns-2 has no PIE; instead its queue drops the arrivals with the same indices as ours."""
    with tempfile.TemporaryDirectory() as folder:
        trace, drops = Path(folder) / "trace", Path(folder) / "drops"
        agent, sink, limited_transmit = STACKS[stack]
        forced = {i for i, arrival in enumerate(ours) if arrival.dropped}
        arguments = [
            str(flows), "200" if queue == "taildrop" else "1000000", str(SECONDS), agent, sink,
            str(limited_transmit), *TIMERS[timers], str(trace),
        ]  # fmt: skip
        if queue != "taildrop":
            drops.write_text(" ".join(map(str, sorted(forced))), encoding="ascii")
            arguments.append(str(drops))
        subprocess.run(["ns", str(HERE / "trace.tcl"), *arguments], check=True)
        lines = [line.split() for line in trace.read_text(encoding="ascii").splitlines()]
    if queue == "taildrop":
        forced = set()
        dropped = {line[11] for line in lines if line[0] == "d"}
    else:
        dropped = set()
    arrived = [line for line in lines if line[0] == "+"]
    return [
        Arrival(float(f[1]), int(f[7]), int(f[10]), i in forced or f[11] in dropped)
        for i, f in enumerate(arrived)
    ]


def _ns3(
    program: Path, stack: str, recovery: str, ours: list[Arrival], flows: int
) -> list[Arrival]:
    """Drops the arrivals with the same indices as ours."""
    with tempfile.TemporaryDirectory() as folder:
        trace, drops = Path(folder) / "trace", Path(folder) / "drops"
        places = (str(i) for i, arrival in enumerate(ours) if arrival.dropped)
        drops.write_text(" ".join(places), encoding="ascii")
        command = [
            str(program), f"--duration={SECONDS}", "--window=16000000", f"--flows={flows}",
            f"--trace={trace}", f"--drops={drops}",
            *record.NS3_STACKS[NS3_STACKS[stack]], *NS3_RECOVERIES[recovery],
        ]  # fmt: skip
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        lines = [line.split() for line in trace.read_text(encoding="ascii").splitlines()]
    return [Arrival(int(at) / 1e9, int(flow), int(n), d == "1") for at, flow, n, d in lines]


def _digest(arrivals: list[Arrival]) -> str:
    digest = 0xCBF29CE484222325
    for arrival in arrivals:
        for byte in f"{arrival.flow} {arrival.number} {int(arrival.dropped)}\n".encode():
            digest = (digest ^ byte) * 0x100000001B3 % 2**64
    return f"{digest:016x}"


if __name__ == "__main__":
    sys.exit(main())

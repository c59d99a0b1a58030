"""Compares our TCP with ns-2.35 packet by packet: writes docs/tcp-witness.md.

    python tests/witness/traces.py

Needs Debian's package ns2; some seconds. What agreed is kept in
crates/sim/testdata/witness/traces.txt, to which crates/sim/tests/witness.rs holds the simulator.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import sojourn

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DATA = ROOT / "crates" / "sim" / "testdata" / "witness"
PAGE = ROOT / "docs" / "tcp-witness.md"
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
# Timestamps and tick: as ns-2 has them, and as our profiles estimate round trips.
TIMERS = {"as it is": ("false", "0.01"), "with timestamps": ("true", "0.0001")}
QUEUES = {"taildrop": "taildrop:limit=199p", "pie": "pie:limit=200kB"}


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
    for queue, text in QUEUES.items():
        for stack in STACKS:
            ours = _ours(text, stack)
            for timers in TIMERS:
                theirs = _theirs(queue, stack, timers, ours)
                pairs = zip(ours, theirs, strict=False)
                same = next(i for i, (x, y) in enumerate(pairs) if not x.is_like(y))
                drops = sum(arrival.dropped for arrival in ours[:same])
                rows.append(
                    f"| {queue} | `{stack}` | {timers} | {same} | {drops} | {ours[same]} "
                    f"| {theirs[same]} | {sum(a.dropped for a in ours)} of {len(ours)} "
                    f"| {sum(a.dropped for a in theirs)} of {len(theirs)} |"
                )
            kept.append(f"{queue} {stack} {same} {_digest(theirs[:same])}")
    head = (HERE / "traces.template").read_text(encoding="utf-8")
    PAGE.write_text(head.replace("{rows}", "\n".join(rows)), encoding="utf-8")
    about = (
        "# Arrivals at the queue that are the same in ns-2.35 with timestamps, and the FNV-1a\n"
        "# digest of ns-2's lines `flow number dropped`. Written by tests/witness/traces.py.\n"
        "# queue stack arrivals digest\n"
    )
    (DATA / "traces.txt").write_text(about + "\n".join(kept) + "\n", encoding="utf-8")
    return 0


def _ours(queue: str, stack: str) -> list[Arrival]:
    sets = {"links.there.queue": queue, "duration": f"{SECONDS}s"}
    sets |= {f"flows[{flow}].tcp": stack for flow in range(5)}
    rows = sojourn.run(str(DATA / "trace.toml"), sets=sets, store=None).packets.to_pylist()
    arrived = sorted((r for r in rows if r["queue"] == "there"), key=lambda r: r["arrived_ns"])
    return [
        Arrival(
            r["arrived_ns"] / 1e9, int(r["flow"]), r["seq"] + (r["bytes"] > 40),
            r["fate"] == "dropped",
        )
        for r in arrived
    ]  # fmt: skip


def _theirs(queue: str, stack: str, timers: str, ours: list[Arrival]) -> list[Arrival]:
    """Under PIE ns-2, which has none, drops the arrivals of the same places as ours."""
    with tempfile.TemporaryDirectory() as folder:
        trace, drops = Path(folder) / "trace", Path(folder) / "drops"
        agent, sink, limited_transmit = STACKS[stack]
        forced = {i for i, arrival in enumerate(ours) if arrival.dropped}
        arguments = [
            "200" if queue == "taildrop" else "1000000", str(SECONDS), agent, sink,
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


def _digest(arrivals: list[Arrival]) -> str:
    digest = 0xCBF29CE484222325
    for arrival in arrivals:
        for byte in f"{arrival.flow} {arrival.number} {int(arrival.dropped)}\n".encode():
            digest = (digest ^ byte) * 0x100000001B3 % 2**64
    return f"{digest:016x}"


if __name__ == "__main__":
    sys.exit(main())

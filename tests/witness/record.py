"""Records the results of ns-2.35 and ns-3.44 with bulk TCP flows, for crates/sim/tests/witness.rs.

    python tests/witness/record.py

ns-2 is Debian's package ns2; ns-3 is the wheel that ns3/build.sh unpacks, or NS3_PREFIX. Both run
the dumbbells next to this file, with ten seeds. Lines are cached in out/witness by their inputs, so
an interrupted recording continues and a changed dumbbell runs again. It takes about twenty minutes
of one core in total."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Sequence
from itertools import product
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
KEPT = ROOT / "out" / "witness"
RECORD = ROOT / "crates" / "sim" / "testdata" / "witness" / "dumbbell.txt"
NS3 = Path(
    os.environ.get("NS3_PREFIX", Path.home() / ".cache" / "sojourn" / "ns3-3.44.post0" / "ns3")
)
MODULES = ("applications", "core", "internet", "network", "point-to-point", "traffic-control")
FLOWS, SECONDS = (1, 5, 50), 60
SEEDS = range(1, 11)
NS2_STACKS = {
    # Agent, receiver, limited transmit (RFC 3042), which Tahoe and Reno as published lack.
    "newreno": ("TCP/Newreno", "TCPSink", 1),
    "reno": ("TCP/Reno", "TCPSink", 0),
    "sack": ("TCP/Sack1", "TCPSink/Sack1", 1),
    "tahoe": ("TCP", "TCPSink", 0),
}
PRR = "--recovery=TcpPrrRecovery"
WITH_SACK = ("--sack=1", "--initial=2", "--minRto=200ms")
NS3_STACKS = {
    "ns3-plain": ("--sack=0", "--initial=1", "--minRto=1s", PRR),
    "ns3-sack": (*WITH_SACK, PRR),
    # Without two errors of 3.44 (facts tcp-14 and tcp-15).
    "ns3-rfc": (*WITH_SACK, "--recovery=TcpClassicRecovery", "--cc=HoldsThreshold"),
}
QUEUES = {"pie": "Pie", "codel": "CoDel"}
HEAD = """\
# What ns-2.35 and ns-3.44 make of bulk TCP flows over a dumbbell: 10 Mbit/s, 200 kB of buffer, a
# round trip of 100 ms, access lines of 100 Mbit/s, packets of 1000 bytes, starts uniform in the
# first second, 60 s. Written by tests/witness/record.py, which has the commands;
# crates/sim/tests/witness.rs compares.
#
# queue flows stack simulator seed drops packets utilisation goodput_mbps
"""


def main() -> None:
    """Run what is not cached, and write the record."""
    KEPT.mkdir(parents=True, exist_ok=True)
    lines = [
        _line("taildrop", flows, stack, "ns-2", seed, _ns2(flows, stack, seed))
        for stack, flows, seed in product(NS2_STACKS, FLOWS, SEEDS)
    ]
    program = compiled()
    lines += [
        _line(queue, flows, stack, "ns-3", seed, _ns3(program, queue, flows, stack, seed))
        for queue, stack, flows, seed in product(QUEUES, NS3_STACKS, FLOWS, SEEDS)
    ]
    RECORD.write_text(HEAD + "".join(lines), encoding="utf-8")


def _ns2(flows: int, stack: str, seed: int) -> str:
    script = HERE / "dumbbell.tcl"
    arguments = (flows, 200, SECONDS, *NS2_STACKS[stack], seed)
    command = ["ns", str(script), *map(str, arguments)]
    return _kept(f"ns2-{stack}-{flows}-{seed}", command, script)


def _ns3(program: Path, queue: str, flows: int, stack: str, seed: int) -> str:
    command = [
        str(program), f"--duration={SECONDS}", "--window=16000000", f"--flows={flows}",
        f"--queue={QUEUES[queue]}", f"--seed={seed}", *NS3_STACKS[stack],
    ]  # fmt: skip
    return _kept(f"ns3-{stack}-{queue}-{flows}-{seed}", command, HERE / "dumbbell.cc")


def _kept(name: str, command: list[str], source: Path) -> str:
    """The output of a command, cached by its arguments and the text of its program."""
    kept = KEPT / f"{name}-{_digest(*command[1:], _text(source))}.txt"
    if not kept.exists():
        made = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        kept.write_text(made, encoding="utf-8")
    return kept.read_text(encoding="utf-8")


def _text(source: Path) -> str:
    """The files of a program, including those shared with the engine's runner."""
    shared = ROOT / "ns3" / "runner" / "holds.h" if source.suffix == ".cc" else None
    return "".join(path.read_text(encoding="utf-8") for path in (source, shared) if path)


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


def compiled(name: str = "dumbbell", modules: Sequence[str] = ()) -> Path:
    """A program next to this file and ns-3, recompiled when its source or ns-3 changes.

    Args:
        name: name of the program.
        modules: modules of ns-3, in addition to those of every program.
    """
    source, libraries = HERE / f"{name}.cc", NS3 / "lib64"
    KEPT.mkdir(parents=True, exist_ok=True)
    program = KEPT / f"{name}-{_digest(_text(source), str(NS3))}"
    found = [next(libraries.glob(f"libns3*-{module}.so")) for module in (*MODULES, *modules)]
    if not program.exists():
        subprocess.run(
            ["c++", "-std=c++20", "-O1", "-DNS3_LOG_ENABLE", "-DNS3_ASSERT_ENABLE",
             f"-I{NS3 / 'include'}", str(source), "-o", str(program),
             *map(str, found), f"-Wl,-rpath,{libraries}", "-Wl,--allow-shlib-undefined"],
            check=True,
        )  # fmt: skip
    return program


def _line(queue: str, flows: int, stack: str, simulator: str, seed: int, output: str) -> str:
    numbers = re.search(r"drops (\d+) of (\d+) utilisation ([\d.]+)\s+goodput ([\d.]+)", output)
    if numbers is None:
        raise RuntimeError(f"{simulator} {stack}: no numbers in {output!r}")
    drops, packets, utilisation, goodput = numbers.groups()
    return (
        f"{queue} {flows} {stack} {simulator} {seed} {drops} {packets}"
        f" {float(utilisation):.4f} {float(goodput):.3f}\n"
    )


if __name__ == "__main__":
    main()

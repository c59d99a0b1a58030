"""Other simulators on the reference cases, each run alternately with this one.

    python benches/peers.py [NAME=PROGRAM ...]

ns-2 is run where ``ns`` is installed (Debian: ``apt install ns2``), ns-3 where ``sojourn ns3
build`` has built the engine's runner. Any other simulator is given as a program: called with a case
(R1 to R5), simulated milliseconds and ``taildrop``, it prints ``packets N`` and ``drops N`` of the
bottleneck. A missing simulator is named, without a figure.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy

from sojourn import _core
from sojourn.engines.ns3 import runner

BENCHES = Path(__file__).parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", BENCHES.parent / "target"))
OURS = TARGET / "release" / "sojourn-benches"
ROUNDS = 3
# Start-up varies by tenths of a second; two runs must differ by more.
LEAST_S = 1.5
# One packet of the runner's packets.bin: fate 0 is sent, 1 dropped; direction 0 is forward
# (ns3/runner/recorder.h).
RECORD = numpy.dtype([("other", "V28"), ("fate", "u1"), ("causes", "V2"), ("direction", "u1")])
Keys = Mapping[str, str]


@dataclass(frozen=True)
class Work:
    """Counts of a run: packets through the bottleneck, drops there, CPU seconds in user mode."""

    packets: int
    drops: int
    cpu_s: float

    def beyond(self, other: Work) -> Work:
        """The difference of two runs, which cancels their start-up."""
        return Work(
            self.packets - other.packets, self.drops - other.drops, self.cpu_s - other.cpu_s
        )

    def speed(self) -> float:
        """Thousand packets per CPU second."""
        return self.packets / self.cpu_s / 1e3

    def loss(self) -> float:
        """Share of the packets that the bottleneck dropped."""
        return self.drops / (self.packets + self.drops)


@dataclass(frozen=True)
class Peer:
    """A simulator: its name, a case's AQM there and in ours, how it runs a case."""

    name: str
    aqm: Callable[[str], str]
    run: Callable[[str, Keys, int], Work]
    # Keys that it does not support, which our runs then omit as well.
    without: Callable[[Keys], Keys] = lambda keys: {}


def _cpu(command: list[str]) -> tuple[str, float]:
    """Output and user CPU seconds of a program that must succeed."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        output = running.stdout.read()
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {running.returncode}")
    return output, usage.ru_utime


def _printed(command: list[str]) -> Work:
    """A run that prints its counts."""
    output, cpu_s = _cpu(command)
    counts = dict(re.findall(r"^(packets|drops) ([\d.e+]+)$", output, re.MULTILINE))
    if counts.keys() != {"packets", "drops"}:
        raise SystemExit(f"{' '.join(command)} did not print packets and drops: {output!r}")
    return Work(int(float(counts["packets"])), int(float(counts["drops"])), cpu_s)


def _ours(case: str, milliseconds: int, aqm: str, sets: Keys) -> Work:
    more = [f"{key}={value}" for key, value in sets.items()]
    return _printed([str(OURS), "reference", case, str(milliseconds), aqm, *more])


def _number(text: str) -> str:
    return re.match(r"\d+", text)[0]  # type: ignore[index]


def _packets(keys: Keys) -> int:
    """The bottleneck's buffer in packets."""
    buffer = keys["links.bottleneck.buffer"]
    if buffer.endswith("p"):
        return int(_number(buffer))
    scale = 1_000_000 if buffer.endswith("MB") else 1_000
    return int(_number(buffer)) * scale // int(_number(keys["flows.bulk.packet"]))


def _ns2(case: str, keys: Keys, milliseconds: int) -> Work:
    numbers = [
        _number(keys["flows.bulk.count"]),
        _number(keys["links.bottleneck.rate"]),
        _number(keys["flows.bulk.packet"]),
        _number(keys["flows.bulk.rtt"]),
        str(_packets(keys)),
        str(milliseconds / 1e3),
    ]
    return _printed(["ns", str(BENCHES / "peers" / "dumbbell.tcl"), *numbers])


def _ns3_aqm(aqm: str) -> str:
    return f"{aqm}@ns3"


def _without_access_rates(keys: Keys) -> Keys:
    """The engine ns3 has no rate of access links."""
    access = keys["flows.bulk.access"].partition(", sender_rate")[0] + " }"
    return {"flows.bulk.access": access}


def _ns3(case: str, keys: Keys, milliseconds: int) -> Work:
    text = (BENCHES / "src" / "dumbbell-reno.toml").read_text(encoding="utf-8")
    text += '\n[engine.ns3]\nbottleneck = "ns3"\n\n[record]\nstates = false\n'
    aqm = _ns3_aqm(keys["links.bottleneck.queue"])
    sets = {**keys, "links.bottleneck.queue": aqm, "duration": f"{milliseconds}ms"}
    scenario = _core.Scenario.load(text, origin="bench", sets=list(sets.items()))
    program = runner.require().path
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "run.txt"
        plan.write_text(_core.ns3_plan(scenario)[1], encoding="utf-8")
        _, cpu_s = _cpu([str(program), str(plan), folder])
        records = numpy.fromfile(Path(folder) / "packets.bin", dtype=RECORD)
    fates = records["fate"][records["direction"] == 0]
    return Work(int((fates == 0).sum()), int((fates == 1).sum()), cpu_s)


def _program(path: str) -> Callable[[str, Keys, int], Work]:
    return lambda case, keys, milliseconds: _printed([path, case, str(milliseconds), "taildrop"])


def _peers(others: list[str]) -> tuple[list[Peer], list[str]]:
    """The installed simulators, and one sentence for each missing one."""

    def tail_drop(aqm: str) -> str:
        return "taildrop"

    found, missing = [], []
    if shutil.which("ns"):
        found.append(Peer("ns-2", tail_drop, _ns2))
    else:
        missing.append("ns-2 is not installed (`apt install ns2`).")
    if runner.find() is not None:
        found.append(
            Peer(f"ns-3 {runner.VERSION.split('.post')[0]}", _ns3_aqm, _ns3, _without_access_rates)
        )
    else:
        missing.append("ns-3's runner is not built (`sojourn ns3 build --source .`).")
    for other in others:
        name, _, program = other.partition("=")
        if not program:
            raise SystemExit(f"{other}: write NAME=PROGRAM")
        found.append(Peer(name, tail_drop, _program(program)))
    return found, missing


def _cases() -> dict[str, dict[str, str]]:
    """The cases with a goal: their keys, and `between`."""
    listed = subprocess.run([OURS, "reference", "list"], check=True, capture_output=True, text=True)
    cases: dict[str, dict[str, str]] = {}
    for line in listed.stdout.splitlines():
        case, key, value = line.split(" ", 2)
        cases.setdefault(case, {})[key] = value
    return cases


def _between(keys: Keys, run: Callable[[int], Work], times: int) -> Work:
    """A long run minus a short one, each `times` as long as the case says."""
    short, long = (int(value) * times for value in keys["between"].split())
    return run(long).beyond(run(short))


def _times(keys: Keys, run: Callable[[int], Work]) -> int:
    """How many times longer the runs must be."""
    times = 1
    while _between(keys, run, times).cpu_s < LEAST_S:
        times *= 2
    return times


def _row(peer: Peer, case: str, keys: dict[str, str]) -> str:
    """Rounds of the peer and ours in turns."""
    sets = {key: value for key, value in keys.items() if key != "between"}
    changed = peer.without(sets)
    sets |= changed
    aqm = peer.aqm(keys["links.bottleneck.queue"])
    sides = (
        lambda milliseconds: peer.run(case, sets, milliseconds),
        lambda milliseconds: _ours(case, milliseconds, aqm, changed),
    )
    times = [_times(keys, run) for run in sides]
    rounds = [
        [_between(keys, *side) for side in zip(sides, times, strict=True)] for _ in range(ROUNDS)
    ]
    theirs, ours = zip(*rounds, strict=True)
    ratios = [mine.speed() / other.speed() for other, mine in rounds]
    mine, other = (statistics.median(work.speed() for work in side) for side in (ours, theirs))
    return (
        f"| {case} | {peer.name} | `{aqm}` | {other:.0f} | {mine:.0f} | "
        f"{statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f}) | "
        f"{theirs[0].loss():.2%} | {ours[0].loss():.2%} |"
    )


def main() -> None:
    """Print the table."""
    peers, missing = _peers(sys.argv[1:])
    print("### Other simulators on the reference cases\n")
    print(
        f"Thousand packets through the bottleneck per CPU second, on one core, start-up left out; "
        f"medians of {ROUNDS} rounds in which both run in turns. ns-2.35 has neither CoDel nor "
        f"PIE, so it is compared under tail drop; ns-3 runs its own queue disc, without rates of "
        f"access links. The last two columns say how alike the work is: more losses are more "
        f"work.\n"
    )
    if peers:
        print("| case | simulator | queue | its speed | ours | ratio | its drops | ours |")
        print("|---|---|---|---:|---:|---:|---:|---:|")
    for peer in peers:
        for case, keys in _cases().items():
            print(_row(peer, case, keys), flush=True)
    print(*missing, "", sep="\n")


if __name__ == "__main__":
    main()

"""The cost of a law in Python, for docs/how-to/own-aqm.md.

    python benches/python_law.py seconds         on an idle machine
    python benches/python_law.py instructions    by valgrind: the same on a busy machine

Run with a release build of the core: one flow at 100 Mbit/s under CoDel and PIE, built in and in
Python (examples/aqms). Both make the same decisions, so their difference is the cost of the calls.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import sojourn

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "aqms"
SCENARIO = """
name = "python-law"
duration = "{seconds}s"
record = {{ states = false }}
[links.bottleneck]
rate = "100mbit"
delay = "10ms"
buffer = "1bdp"
[[flows]]
name = "bulk"
path = ["bottleneck"]
rtt = "40ms"
cc = "reno"
app = {{ kind = "bulk" }}
"""
RUNS, SECONDS = 5, 10
# A cost is the difference of two runs, so start-up cancels.
SHORT_S, LONG_S = 1, 4
# Hooks per packet: CoDel is called at departures, PIE also at arrivals.
LAWS = (("codel", "codel.py:CoDel", 1), ("pie", "pie.py:Pie", 2))


def made(aqm: str, seconds: int) -> sojourn.Result:
    """A run of the scenario."""
    scenario = sojourn.Scenario.load(SCENARIO.format(seconds=seconds))
    return sojourn.run(scenario, aqms=aqm, store=None)


def arrived(result: sojourn.Result) -> float:
    """The number of arrivals at the queue."""
    return float(result.summary["queue/bottleneck/arrived"])


def best(aqm: str) -> tuple[float, sojourn.Result]:
    """Give the shortest of the runs' times in seconds, and the last result."""
    times = []
    for _ in range(RUNS):
        began = time.process_time()
        result = made(aqm, SECONDS)
        times.append(time.process_time() - began)
    return min(times), result


def seconds() -> None:
    """Print the time of a hook."""
    for name, own, per_packet in LAWS:
        fast, known = best(name)
        slow, result = best(f"{EXAMPLES}/{own}")
        assert result.digest == known.digest, "they make the same decisions"
        hooks = arrived(result) * per_packet
        each_us = (slow - fast) / hooks * 1e6
        print(f"{name}: {each_us:.2f} us per hook, {hooks:.0f} hooks, {fast:.3f} s built in, "
              f"{slow:.3f} s in Python, {slow / fast:.1f} times as long")  # fmt: skip


def counted(aqm: str, seconds: int) -> int:
    """The instructions of a process that executes one run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "valgrind", "--tool=cachegrind", "--cache-sim=no",
            f"--cachegrind-out-file={folder}/out", sys.executable, __file__,
            "run", aqm, str(seconds),
        ]  # fmt: skip
        # Otherwise hashes of strings, and hence the order of sets, would be random.
        env = os.environ | {"PYTHONHASHSEED": "0"}
        done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    assert found, done.stderr
    return int(found[1].replace(",", ""))


def instructions() -> None:
    """Print the instructions of a hook and of a packet."""
    for name, own, per_packet in LAWS:
        packets = arrived(made(name, LONG_S)) - arrived(made(name, SHORT_S))
        cost = {
            aqm: (counted(aqm, LONG_S) - counted(aqm, SHORT_S)) / packets
            for aqm in (name, f"{EXAMPLES}/{own}")
        }
        fast, slow = cost.values()
        print(f"{name}: {(slow - fast) / per_packet:.0f} instructions per hook, "
              f"a packet {fast:.0f} built in, {slow:.0f} in Python, "
              f"{slow / fast:.1f} times as many")  # fmt: skip


def main() -> None:
    """Run the requested measurement."""
    match sys.argv[1:]:
        case ["seconds"]:
            seconds()
        case ["instructions"]:
            instructions()
        case ["run", aqm, length]:
            made(aqm, int(length))
        case _:
            raise SystemExit("usage: python benches/python_law.py seconds|instructions")


if __name__ == "__main__":
    main()

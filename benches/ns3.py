"""The cost of our queue discs in ns-3 compared with its own, and of the engine ns3.

    python benches/ns3.py instructions      by valgrind: the same on a busy machine
    python benches/ns3.py seconds           on an idle machine

Writes the tables between comments of docs/how-to/ns3.md. Runs target/ns3/sojourn-dumbbell, which
`make ns3` builds, and the runner that `sojourn ns3 build` builds.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sojourn import _core, files
from sojourn.engines.ns3 import runner

ROOT = Path(__file__).parents[1]
DUMBBELL = ROOT / "target" / "ns3" / "sojourn-dumbbell"
PAGE = ROOT / "docs" / "how-to" / "ns3.md"
# Our dialect, and the disc of ns-3.
PAIRS = {
    "taildrop": "Fifo",
    "codel@ns3": "CoDel",
    "fq_codel@ns3": "FqCoDel",
    "cobalt@ns3": "Cobalt",
    "pie@ns3": "Pie",
}
# A packet's cost is the difference of two runs, so start-up cancels.
SHORT_S, LONG_S = 1, 3
SECONDS, RUNS = 20, 7
SCENARIO = """
name = "first packet"
duration = "{seconds}s"
[record]
states = false
[links.bottleneck]
rate = "10mbit"
delay = "20ms"
framing = "2B"
queue = "codel"
[[flows]]
count = 5
path = ["bottleneck"]
rtt = "100ms"
app = {{ kind = "bulk" }}
"""


def main() -> None:
    """Run the requested measurement and write its table."""
    if sys.argv[1:] not in (["instructions"], ["seconds"]):
        raise SystemExit("usage: python benches/ns3.py instructions|seconds")
    if not DUMBBELL.is_file():
        raise SystemExit(f"{DUMBBELL} is not built; `make ns3` builds it")
    what = sys.argv[1]
    lines = instructions() if what == "instructions" else seconds() + engine() + builds()
    begin, end = f"<!-- ns3.py {what} -->\n", f"<!-- end of ns3.py {what} -->\n"
    table = "".join(f"{line}\n" for line in lines)
    files.replace_between(PAGE, begin, end, table)
    print(table)


def _command(which: str, duration: int) -> list[str]:
    # With a limit in bytes ns-3's FqCoDelQueueDisc drops every packet.
    return [str(DUMBBELL), which, f"--seconds={duration}", "--maxSize=200p"]


def _both(aqm: str, disc: str) -> tuple[str, str]:
    return f"--aqm={aqm}", f"--disc=ns3::{disc}QueueDisc"


def instructions() -> list[str]:
    """Instructions per packet that reaches the disc, the whole of ns-3 included."""
    lines = ["| our disc | ns-3's | instructions per packet, ours | ns-3's | ratio |"]
    lines.append("|---|---|---:|---:|---:|")
    for aqm, disc in PAIRS.items():
        ours, theirs = (_per_packet(which) for which in _both(aqm, disc))
        lines.append(
            f"| `{aqm}` | `{disc}QueueDisc` | {ours:.0f} | {theirs:.0f} | {ours / theirs:.3f} |"
        )
    return lines


def _per_packet(which: str) -> float:
    (short, few), (long, many) = (_counted(which, duration) for duration in (SHORT_S, LONG_S))
    return (long - short) / (many - few)


def _counted(which: str, duration: int) -> tuple[int, int]:
    """Instructions and packets of a run."""
    count = ["cargo", "run", "--release", "--quiet", "--package", "sojourn-benches", "--", "count"]
    done = subprocess.run(
        [*count, *_command(which, duration)], cwd=ROOT, check=True, capture_output=True, text=True
    )
    instructions = re.search(r"^instructions (\d+)$", done.stdout, re.MULTILINE)
    packets = re.search(r"received (\d+)", done.stdout)
    if instructions is None or packets is None:
        raise RuntimeError(f"{which}: no numbers in {done.stderr!r} and {done.stdout!r}")
    return int(instructions[1]), int(packets[1])


def seconds() -> list[str]:
    """User time and memory of whole runs, those of both discs in turns."""
    lines = [f"Medians of {RUNS} runs of each, in turns, of a dumbbell of {SECONDS} s:", ""]
    lines.append("| our disc | ns-3's | user time, ours | ns-3's | ratio | memory, ours | ns-3's |")
    lines.append("|---|---|---:|---:|---:|---:|---:|")
    for aqm, disc in PAIRS.items():
        found = [[_used(which) for which in _both(aqm, disc)] for _ in range(RUNS)]
        ours, theirs = (
            [statistics.median(values) for values in zip(*side, strict=True)]
            for side in zip(*found, strict=True)
        )
        lines.append(
            f"| `{aqm}` | `{disc}QueueDisc` | {ours[0]:.2f} s | {theirs[0]:.2f} s | "
            f"{ours[0] / theirs[0]:.3f} | {ours[1]:.0f} MB | {theirs[1]:.0f} MB |"
        )
    return lines


def _used(which: str) -> tuple[float, float]:
    """User seconds and megabytes of a run."""
    command = _command(which, SECONDS)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode != 0:
        raise RuntimeError(f"{command} ended with {running.returncode}")
    return usage.ru_utime, usage.ru_maxrss / 1024


def engine() -> list[str]:
    """Wall time of the runner to its first packet, and of a scenario."""
    first, whole = (
        statistics.median(_ran(duration) for _ in range(RUNS)) for duration in ("0.001", SECONDS)
    )
    return [
        "",
        f"The engine's runner takes {1e3 * first:.0f} ms from its start to the first packet, and "
        f"{whole:.2f} s for {SECONDS} s of five flows of CUBIC.",
    ]


def _ran(duration: float | str) -> float:
    scenario = _core.Scenario.load(SCENARIO.format(seconds=duration), origin="bench")
    program = runner.require().path
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "run.txt"
        text.write_text(_core.ns3_plan(scenario)[1], encoding="utf-8")
        began = time.monotonic()
        subprocess.run([str(program), str(text), folder], check=True)
        return time.monotonic() - began


def builds() -> list[str]:
    """Wall time of the module's build in an empty folder."""
    took = []
    with tempfile.TemporaryDirectory() as folder:
        configure = ["cmake", "-S", str(ROOT / "ns3"), "-B", folder,
                     f"-DCMAKE_PREFIX_PATH={runner.prefix()}"]  # fmt: skip
        build = ["cmake", "--build", folder, "--parallel", "2"]
        for command in (configure, [*build, "--target", runner.PROGRAM], build):
            began = time.monotonic()
            subprocess.run(command, check=True, capture_output=True)
            took.append(time.monotonic() - began)
    return [
        "",
        f"From an empty folder on {os.cpu_count()} cores CMake configures in {took[0]:.0f} s, the "
        f"runner with our laws is built in {took[1]:.0f} s, tests and example in {took[2]:.0f} s "
        "more.",
    ]


if __name__ == "__main__":
    main()

"""`make cancel`: how long Ctrl-C takes in every phase of the work (docs/evidence/storm.md).

    python tests/storm/cancel.py [--times 20] [--seed 1] [PHASE ...]

A phase is a command that spends its time in one kind of work. It is started and interrupted at
TIMES instants, spread over its duration, at most `LONGEST_S`. Prints a table in
Markdown: for each phase the instants that hit, the longest time from the signal to the message, the
median and the longest time to the end of the process, and the number of bad ones: not ended by the
interrupt, a traceback, or a half-written file. Exit code 1 if any is bad, or if an answer took
longer than `MOST_S`. For a process that ends without a message, its end counts as the answer."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOST_S = 0.2
LONGEST_S = 8.0
NAME = """\
name = "cancel"
duration = "{duration}"
[[flows]]
name = "bulk"
count = {count}
path = ["bottleneck"]
rtt = "20ms"
app = {{ kind = "bulk" }}
[links.bottleneck]
delay = "5ms"
buffer = "1bdp"
rate = {rate}
"""
STUDY = """\
name = "cancel"
scenario = "short.toml"
metrics = ["queue/bottleneck/delay_p95"]
seeds = 200
[[axes]]
name = "aqm"
key = "links.bottleneck.queue"
values = ["codel", "pie"]
"""
STEPS = 1_000_000
COMPARE = "compare short.toml --seeds 2 --jobs 1 --out out"
# By phase, the arguments of a command.
PHASES = {
    "start of the program": "list aqms",
    "loading a million steps": "validate steps.toml",
    "building a million flows": "run flows.toml --memory 64GB",
    "running": "run long.toml",
    "writing every packet": "run written.toml --set record.packets=true --out out",
    "running own code in Python": f"{COMPARE} --aqm own/own.py:Own,codel",
    "comparing and drawing": f"{COMPARE} --aqm codel,pie",
    "drawing a reproduction": "reproduce codel-act:T1 --seeds 1 --jobs 1 --out out",
    "a study's batches": "study run study.toml --store store --jobs 2",
    "a guest kernel": "run long.toml --engine linux --set duration=60s",
    "ns-3": "run long.toml --engine ns3 --set duration=2000s",
}
TEMPORARY = "temporary"
SOJOURN = (sys.executable, "-m", "sojourn")


def prepare(folder: Path) -> None:
    """The files that the commands read."""
    steps = ", ".join(f'["{i}us", "{i % 9 + 1}mbit"]' for i in range(STEPS))
    scenarios = {
        "steps": ("2s", 1, f'{{ kind = "schedule", steps = [{steps}] }}'),
        "flows": ("10s", STEPS, '"10gbit"'),
        "long": ("100000s", 2, '"10mbit"'),
        "written": ("60s", 2, '"100mbit"'),
        "short": ("2s", 2, '"10mbit"'),
    }
    for name, (duration, count, rate) in scenarios.items():
        text = NAME.format(duration=duration, count=count, rate=rate)
        (folder / f"{name}.toml").write_text(text)
    (folder / "study.toml").write_text(STUDY)
    subprocess.run([*SOJOURN, "new", "aqm", "own", "--python"], cwd=folder, check=True,
                   capture_output=True)  # fmt: skip


def called(folder: Path, phase: str) -> subprocess.Popen[str]:
    for name in ("out", "store", "cache", TEMPORARY):
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / TEMPORARY).mkdir()
    return subprocess.Popen(
        [*SOJOURN, *PHASES[phase].split()], cwd=folder, text=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, start_new_session=True,
        env={**os.environ, "SOJOURN_CACHE": str(folder / "cache"),
             "TMPDIR": str(folder / TEMPORARY)},
    )  # fmt: skip


def undisturbed_s(folder: Path, phase: str) -> float:
    """The duration of a phase, at most `LONGEST_S`."""
    began = time.monotonic()
    with called(folder, phase) as process:
        try:
            process.communicate(timeout=LONGEST_S)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
            process.communicate()
        else:
            assert process.returncode == 0, phase
    return time.monotonic() - began


Took = tuple[float, float]


def interrupted(folder: Path, phase: str, after_s: float) -> tuple[Took | None, str]:
    """Seconds from the signal to its answer and to the end of the process, None if it had ended
    before; and the problem."""
    with called(folder, phase) as process:
        time.sleep(after_s)
        if process.poll() is not None:
            return None, ""
        sent, heard, said = time.monotonic(), 0.0, ""
        process.send_signal(signal.SIGINT)
        for line in process.stderr or ():
            said += line
            if not heard and line.startswith("sojourn: "):
                heard = time.monotonic() - sent
        process.wait()
        ended = time.monotonic() - sent
    took = (heard or ended, ended)
    if process.returncode == 0:
        return None, ""  # it was about to end
    left = leftovers(folder)
    # Before the package is imported, Python itself ends, with a traceback of its modules.
    is_begun = "sojourn/" in said or "sojourn: " in said
    is_ended = process.returncode == 130 and "Traceback" not in said
    if left or (is_begun and not is_ended) or process.returncode not in (130, -signal.SIGINT, 1):
        return took, f"after {after_s:.2f} s: {process.returncode} {left} {said[-300:]}"
    return took, ""


def leftovers(folder: Path) -> list[str]:
    """Half-written files, locks and temporary folders; a killed child may need a moment."""
    for _ in range(10):
        left = [*folder.rglob(".*.tmp"), *folder.rglob(".sojourn.lock")]
        left += (folder / TEMPORARY).iterdir()
        if not left:
            break
        time.sleep(0.05)
    return [str(path.relative_to(folder)) for path in left]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("phases", nargs="*", metavar="PHASE", choices=[*PHASES, []])
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    choice, is_fine = random.Random(asked.seed), True
    print("| phase | instants | message, longest, s | end, median, s | end, longest, s | bad |")
    print("|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        for phase in asked.phases or PHASES:
            whole = undisturbed_s(folder, phase)
            spread = [whole * (i + choice.random()) / asked.times for i in range(asked.times)]
            found = [interrupted(folder, phase, after_s) for after_s in spread]
            times = [took for took, _ in found if took is not None]
            heard, ended = zip(*times or [(0.0, 0.0)], strict=True)
            bad = [why for _, why in found if why]
            is_fine = is_fine and not bad and max(heard) <= MOST_S
            print(f"| {phase} | {len(times)} | {max(heard):.2f} | {statistics.median(ended):.2f} "
                  f"| {max(ended):.2f} | {len(bad)} |", flush=True)  # fmt: skip
            print("".join(f"    {why}\n" for why in bad), end="", file=sys.stderr, flush=True)
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())

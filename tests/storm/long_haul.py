"""`make long-haul`: a million simulated seconds, and the memory of the process.

Prints the run's packets and events, and resident memory at ten moments of equal distance. It fails
if memory at the end is more than 5 % above that after a fifth of the time."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCENARIO = Path(__file__).with_suffix(".toml")
ALLOWED = 1.05


def resident_bytes(process: int) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def main(arguments: list[str]) -> int:
    command = [sys.executable, "-m", "sojourn", "run", str(SCENARIO), "--fresh", "--json"]
    began, memory = time.monotonic(), list[int]()
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen([*command, *arguments], stdout=out, stderr=subprocess.DEVNULL)
        while child.poll() is None:
            time.sleep(0.1)
            try:
                memory.append(resident_bytes(child.pid))
            except (ValueError, FileNotFoundError):
                break  # it has ended
        assert child.wait() == 0
        out.seek(0)
        found = json.load(out)
    # Before this the interpreter starts; afterwards tables of the result are built.
    shown = [memory[len(memory) * tenth // 10] for tenth in range(2, 10)]
    print(f"{found['packets']:,} packets, {found['events']:,} events, digest {found['digest']}, "
          f"{time.monotonic() - began:.0f} s")  # fmt: skip
    print("resident memory, MB:", " ".join(f"{size / 1e6:.1f}" for size in shown))
    is_flat = shown[-1] <= shown[0] * ALLOWED
    print("flat" if is_flat else f"grows by {shown[-1] / shown[0] - 1:.0%}")
    return 0 if is_flat else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

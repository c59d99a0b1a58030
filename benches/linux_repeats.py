"""Whether one scenario and seed give the same packets in every guest.

    python benches/linux_repeats.py [TIMES]

Runs a scenario TIMES times (100 by default), each in a new guest, and writes the number of
different digests into docs/how-to/linux.md. Fails unless it is one.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

from sojourn import _core, files
from sojourn.engines import registry
from sojourn.engines.linux import kernel

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "linux.md"
MARKS = ("<!-- guest repeats: begin -->\n", "<!-- guest repeats: end -->\n")
TIMES = 100
# This AQM hashes flows with a kernel secret: other early random numbers would change which flows
# share a queue.
TEXT = """
name = "repeats"
duration = "3s"
[engine.linux]
where = "guest"
[links.bottleneck]
rate = "20mbit"
delay = "10ms"
queue = "fq_codel@linux"
[[flows]]
count = 16
path = ["bottleneck"]
rtt = "40ms"
cc = "cubic"
app = { kind = "bulk" }
"""


def main(arguments: list[str]) -> None:
    """Run, count and write."""
    times = int(arguments[0]) if arguments else TIMES
    scenario = _core.Scenario.load(TEXT)
    (engine,) = registry.select(["linux"], {})
    began = time.monotonic()
    digests = Counter(engine.run(scenario, _core.Cancel()).digest for _ in range(times))
    each_s = (time.monotonic() - began) / times
    found = kernel.find()
    version = found.version if found else "unknown"
    line = (
        f"Linux {version}: {times} runs, {len(digests)} digest{'s' if len(digests) > 1 else ''} "
        f"({each_s:.1f} s a run, boot included).\n"
    )
    files.replace_between(PAGE, *MARKS, line)
    print(line, *digests.items())
    if len(digests) != 1:
        raise SystemExit("the runs differ")


if __name__ == "__main__":
    main(sys.argv[1:])

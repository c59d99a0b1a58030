"""What a law written in Python costs, as docs/own-aqm.md states it.

Run as ``python benches/python_law.py`` with a release build of the core: one flow at 100 Mbit/s for
10 s under CoDel and PIE, built in and in Python (examples/aqms), best of five runs each. The two
make the same decisions, so that the difference of their times is what the calls cost.
"""

import sys
import time
from pathlib import Path

import sojourn

EXAMPLES = Path(__file__).parent.parent / "examples" / "aqms"
SCENARIO = """
name = "python-law"
duration = "10s"
record = { states = false }
[links.bottleneck]
rate = "100mbit"
delay = "10ms"
buffer = "1bdp"
[[flows]]
name = "bulk"
path = ["bottleneck"]
rtt = "40ms"
cc = "reno"
app = { kind = "bulk" }
"""
RUNS = 5
# Hooks per packet: CoDel is asked at departures, PIE at both ends.
LAWS = (("codel", "codel.py:CoDel", 2), ("pie", "pie.py:Pie", 2))


def best(aqm: str) -> tuple[float, sojourn.Result]:
    """Give the shortest of the runs' times in seconds, and the last result."""
    times = []
    for _ in range(RUNS):
        began = time.process_time()
        result = sojourn.run(sojourn.Scenario.load(SCENARIO), aqm=aqm, store=None)
        times.append(time.process_time() - began)
    return min(times), result


def main() -> None:
    """Measure and print."""
    for name, own, most in LAWS:
        fast, known = best(name)
        slow, result = best(f"{EXAMPLES}/{own}")
        assert result.digest == known.digest, "they make the same decisions"
        packets = result.summary["queue/bottleneck/arrived"]
        hooks = packets * (1 if name == "codel" else most)
        each_us = (slow - fast) / hooks * 1e6
        print(f"{name}: {each_us:.2f} us per hook, {hooks:.0f} hooks, {fast:.3f} s built in, "
              f"{slow:.3f} s in Python, {slow / fast:.1f} times as long")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())

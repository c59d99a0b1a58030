"""The cost of a map of margins, as a table for the results of the benches.

CPU time of one thread, best of five, so other work on the machine matters little.
"""

import time

import numpy as np

from sojourn.stability import analyse

AQMS = ("pie", "pi2", "red:min_th=50kB,max_th=200kB", "dualpi2")


def best_s(aqm: str, variant: str) -> float:
    """Seconds for 200 x 200 operating points, all of which have an equilibrium."""
    rtt_s, flows = np.geomspace(0.01, 0.3, 200)[:, None], np.geomspace(2, 30, 200)
    scalable = 5.0 if aqm == "dualpi2" else 0.0
    times = []
    for _ in range(5):
        began = time.process_time()
        found = analyse(aqm, rtt_s, 1e9, flows, variant=variant, scalable_flows=scalable)
        times.append(time.process_time() - began)
        assert not found.problems, "a point that does not exist costs nothing"
    return min(times)


def main() -> None:
    """Print the table."""
    print("\n### A map of 200 x 200 phase, gain and delay margins\n")
    print("| AQM | exact loop, s | rational loop with delay, s |\n|---|---:|---:|")
    for aqm in AQMS:
        print(f"| `{aqm}` | {best_s(aqm, 'exact'):.2f} | {best_s(aqm, 'derived'):.2f} |")


main()

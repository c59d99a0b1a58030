"""The cost of the engine linux: the start of a guest, and packets in virtual time."""

from __future__ import annotations

import statistics
import time

from sojourn import _core
from sojourn.engines.linux import guest, kernel

RUNS = 5
BOOT_TARGET_S = 1.5
TEXT = """
name = "bench"
duration = "{seconds}s"
[record]
states = false
[links.bottleneck]
rate = "{rate}"
delay = "20ms"
queue = "{queue}"
[engine.linux]
bottleneck = "{bottleneck}"
[[flows]]
count = {flows}
path = ["bottleneck"]
rtt = "100ms"
app = {{ kind = "bulk" }}
"""
CASES = [
    ("kernel", "codel@linux", 4, "10mbit", 70),
    ("sojourn", "codel", 4, "10mbit", 70),
    ("kernel", "codel@linux", 4, "100mbit", 10),
]


class Stopwatch:
    """Records when the scenario's time starts, at the first packets."""

    cancelled = False

    def __init__(self) -> None:
        self._began = time.monotonic()
        self.first_s = 0.0

    def advance(self, _seconds: float) -> None:
        """The scenario's time has started."""
        self.first_s = self.first_s or self.elapsed_s

    @property
    def elapsed_s(self) -> float:
        """Wall time since the creation of this object, seconds."""
        return time.monotonic() - self._began


def measure(
    made: kernel.Kernel, bottleneck: str, queue: str, flows: int, rate: str, seconds: int
) -> tuple[float, float, int]:
    """Wall seconds to the first packets and to the end, and packets through the bottleneck."""
    text = TEXT.format(bottleneck=bottleneck, queue=queue, flows=flows, rate=rate, seconds=seconds)
    scenario = _core.Scenario.load(text)
    plan, watch = _core.linux_plan(scenario), Stopwatch()
    with guest.scratch() as folder:
        guest.run(made, folder, plan, scenario.seed, watch)
        took_s = watch.elapsed_s
        run = _core.linux_collect(scenario, plan, str(folder.shared), "{}", True, took_s)
    return watch.first_s, took_s, run.packets_handled


def main() -> None:
    """Print the tables."""
    made = kernel.find()
    print("\n### The real kernel in a guest\n")
    if made is None:
        print("There is no guest kernel here: `sojourn kernel build` makes one.")
        return
    boots = [measure(made, "kernel", "codel@linux", 1, "10mbit", 1)[0] for _ in range(RUNS)]
    print(f"Start of a guest to its first packets, kernel {made.version}: best of {RUNS} "
          f"{min(boots):.2f} s, median {statistics.median(boots):.2f} s, to stay below "
          f"{BOOT_TARGET_S} s.\n")  # fmt: skip
    print("| bottleneck | scenario | us per packet | times faster than real time |")
    print("|---|---|---:|---:|")
    for bottleneck, queue, flows, rate, seconds in CASES:
        first_s, took_s, packets = measure(made, bottleneck, queue, flows, rate, seconds)
        cost_us = 1e6 * (took_s - first_s) / packets
        print(f"| {bottleneck} | {queue}, {flows} flows, {rate}, {seconds} s | {cost_us:.0f} | "
              f"{seconds / took_s:.1f} |")  # fmt: skip


main()

"""What a study costs beyond its runs: throughput, memory of the client, workers, an idle scheduler.

    python benches/studies.py throughput --runs 5000 --workers 2 --store out/throughput
    python benches/studies.py scheduler --workers 500

`throughput` runs 10 simulated seconds of 4 flows over 10 Mbit/s under as many seeds, in one study
of 100 points, and compares with the simulator alone: the same runs in one process, without store
and scheduler. Called again with the same store it goes on; `--budget-s` ends it after some time.
`scheduler` sends empty tasks to a Dask cluster within this process. Results: docs/studies.md.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import time
from pathlib import Path
from typing import Any

from sojourn import _core, studies
from sojourn.engines import registry
from sojourn.studies import executors
from sojourn.studies.points import points, resolve
from sojourn.studies.study import Study

POINTS = 100
ALONE = 200


def study_of(runs: int) -> Study:
    """A study of so many runs: loads and AQMs, 4 flows, 10 s."""
    rtts = [f"{40 + 2 * i}ms" for i in range(POINTS // 4)]
    return studies.parse(
        {
            "name": "throughput", "scenario": "dumbbell-reno", "seeds": runs // POINTS,
            "metrics": ["queue/bottleneck/delay_p95"],
            "set": {"duration": "10s", "warmup": "2s", "flows.bulk.count": 4,
                    "links.bottleneck.delay": "1ms"},
            "axes": [
                {"name": "aqm", "key": "links.bottleneck.queue",
                 "values": ["codel", "pie", "pi2", "fq_codel"]},
                {"name": "rtt", "key": "flows.bulk.rtt", "values": rtts},
            ],
        }
    )  # fmt: skip


def alone_s(study: Study) -> float:
    """Processor seconds of one run of the simulator alone, over all points."""
    found = [resolve(study, point) for point in points(study)]
    (engine,) = registry.select(["sim"], {})
    began = time.process_time()
    for i in range(ALONE):
        engine.run(found[i % len(found)].scenario.with_seed(1000 + i), _core.Cancel())
    return (time.process_time() - began) / ALONE


def cpu_s(who: int) -> float:
    """Processor seconds of this process, or of its children that have ended."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


class Meter:
    """Notes memory and processor time of the client as runs complete; ends a call in time."""

    def __init__(self, budget_s: float) -> None:
        self.rows: list[tuple[int, float]] = []
        self._end = time.monotonic() + budget_s

    def start(self, _runs: int, _simulated_s: float) -> None:
        """Do nothing."""

    def update(self, runs: int, _simulated_s: float) -> None:
        """Note the resident size; raise KeyboardInterrupt where the time is over."""
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        self.rows.append((runs, pages * os.sysconf("SC_PAGE_SIZE") / 1e6))
        if time.monotonic() > self._end:
            raise KeyboardInterrupt

    def stop(self) -> None:
        """Do nothing."""


def throughput(runs: int, workers: int, store: str, budget_s: float) -> dict[str, Any]:
    """Run the study, or go on with it."""
    study = study_of(runs)
    single_s = alone_s(study)
    meter = Meter(budget_s)
    client, children = cpu_s(resource.RUSAGE_SELF), cpu_s(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    with contextlib.suppress(KeyboardInterrupt):
        studies.run(study, store, jobs=workers, progress=meter)
    wall_s = time.monotonic() - began
    client, children = (
        cpu_s(resource.RUSAGE_SELF) - client, cpu_s(resource.RUSAGE_CHILDREN) - children
    )  # fmt: skip
    made = meter.rows[-1][0]
    shares = [meter.rows[len(meter.rows) * i // 4][1] for i in range(4)] + [meter.rows[-1][1]]
    return {
        "runs": made, "workers": workers, "wall_s": wall_s, "run_alone_cpu_s": single_s,
        "client_cpu_s": client, "workers_cpu_s": children,
        "simulator_share_of_cpu": made * single_s / (client + children),
        "overhead_ms_per_run": 1e3 * ((client + children) / made - single_s),
        "client_cpu_ms_per_run": 1e3 * client / made,
        "runs_per_wall_s": made / wall_s,
        "client_mb_at_quarters": [round(share) for share in shares],
    }  # fmt: skip


def scheduler(workers: int, tasks: int) -> dict[str, Any]:
    """Empty tasks on a Dask cluster within this process, as a study sends its batches."""
    from concurrent.futures import FIRST_COMPLETED, wait

    options = {"processes": False, "silence_logs": "ERROR"}
    found = executors.cluster("local", workers, options)
    pool, flying, sent = found.make(), set(), 0
    began, used_s = time.monotonic(), time.process_time()
    while sent < tasks or flying:
        while sent < tasks and len(flying) < 2 * found.count:
            flying.add(pool.submit(nothing, sent))
            sent += 1
        _, flying = wait(flying, return_when=FIRST_COMPLETED)
    took_s, used_s = time.monotonic() - began, time.process_time() - used_s
    found.close()
    return {
        "workers": found.count, "tasks": tasks, "tasks_per_s": tasks / took_s,
        # Scheduler, workers and client together: they are one process.
        "cpu_ms_per_task": 1e3 * used_s / tasks,
        "workers_that_batches_of_2_s_keep_busy": 2.0 * tasks / used_s,
    }  # fmt: skip


def nothing(number: int) -> int:
    """A batch without work."""
    return number


def main() -> None:
    """Measure what the command line asks for; print JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("what", choices=["throughput", "scheduler"])
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--tasks", type=int, default=5000)
    parser.add_argument("--store", default="out/throughput")
    parser.add_argument("--budget-s", type=float, default=540.0)
    args = parser.parse_args()
    if args.what == "throughput":
        found = throughput(args.runs, args.workers, args.store, args.budget_s)
    else:
        found = scheduler(args.workers, args.tasks)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()

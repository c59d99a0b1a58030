"""The cost of a study beyond its runs: throughput, memory of the client, workers, idle scheduler.

    python benches/study.py table --runs 100000 --store out/study-costs
    python benches/study.py throughput --runs 5000 --workers 2 --store out/throughput
    python benches/study.py scheduler --workers 500

`throughput` runs 10 simulated seconds of 4 flows over 10 Mbit/s in one study of 100 points, and
compares with the simulator alone: the same runs in the same number of processes, without store and
scheduler. Called again with the same store it continues; `--budget-s` ends it after some time.
`scheduler` sends empty tasks to a Dask cluster within this process. `table` measures all rows of
docs/how-to/studies.md and writes them there; the measurements are kept next to the stores, so an
interrupted one continues.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import sojourn
from sojourn import _core, files
from sojourn.engines import registry
from sojourn.study import executors
from sojourn.study.definition import Study
from sojourn.study.points import resolve

POINTS = 100
ALONE = 400
PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "studies.md"
BEGIN, END = "<!-- costs: begin -->\n", "<!-- costs: end -->\n"
# Runs and workers of the rows after the large study; workers of the scheduler rows.
ROWS = [(5000, 1), (5000, 2), (5000, 4)]
SCHEDULERS = (10, 100, 200, 300)
_START_S = 300.0


def study_of(runs: int) -> Study:
    """A study of `runs` runs: loads and AQMs, 4 flows, 10 s."""
    rtts = [f"{40 + 2 * i}ms" for i in range(POINTS // 4)]
    return sojourn.study.parse(
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


def alone_s(runs: int, processes: int) -> float:
    """CPU seconds of one run of the simulator alone, in `processes` processes at a time."""
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(_alone_s, [runs] * processes))
    return sum(found) / processes


def _alone_s(runs: int) -> float:
    study = study_of(runs)
    found = resolve(study)
    (engine,) = registry.select(["sim"], {})
    began = time.process_time()
    for i in range(ALONE):
        engine.run(found[i % len(found)].scenario.with_seed(1000 + i), _core.Cancel())
    return (time.process_time() - began) / ALONE


def cpu_s(who: int) -> float:
    """CPU seconds of this process, or of its children that have ended."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


class Meter:
    """Records memory and CPU time of the client as runs complete; ends a call in time."""

    def __init__(self, budget_s: float) -> None:
        self.rows: list[tuple[int, float]] = []
        self._end = time.monotonic() + budget_s

    def start(self, _runs: int, _simulated_s: float) -> None:
        """Do nothing."""

    def update(self, runs: int, _simulated_s: float) -> None:
        """Record the resident size; raise KeyboardInterrupt when the time is over."""
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        self.rows.append((runs, pages * os.sysconf("SC_PAGE_SIZE") / 1e6))
        if time.monotonic() > self._end:
            raise KeyboardInterrupt

    def stop(self) -> None:
        """Do nothing."""


def throughput(runs: int, workers: int, store: str, budget_s: float) -> dict[str, Any]:
    """Run or resume the study."""
    study = study_of(runs)
    before_s = alone_s(runs, workers)
    meter = Meter(budget_s)
    client, children = cpu_s(resource.RUSAGE_SELF), cpu_s(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    with contextlib.suppress(KeyboardInterrupt):
        sojourn.study.run_study(study, store, jobs=workers, progress=meter)
    wall_s = time.monotonic() - began
    client, children = (
        cpu_s(resource.RUSAGE_SELF) - client, cpu_s(resource.RUSAGE_CHILDREN) - children
    )  # fmt: skip
    if not meter.rows:
        return {"runs": 0, "workers": workers}
    made = meter.rows[-1][0]
    # Before and after, as the speed of a shared machine drifts.
    single_s = (before_s + alone_s(runs, workers)) / 2
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
    """Empty tasks on a Dask cluster within this process, sent like the batches of a study."""
    from concurrent.futures import FIRST_COMPLETED, wait

    import dask

    # Periodic work of a worker, several times a second, would run on the worker's own CPU.
    dask.config.set({"distributed.worker.profile.enabled": False,
                     "distributed.admin.system-monitor.interval": "1h"})  # fmt: skip
    # A dashboard and a memory limit for each worker would distort the measurement.
    options = {"processes": False, "silence_logs": "ERROR", "dashboard_address": None,
               "memory_limit": 0}  # fmt: skip
    executors._CONNECT_S = _START_S
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


def table(runs: int, store: Path) -> None:
    """Run missing measurements, and write docs/how-to/studies.md."""
    store.mkdir(parents=True, exist_ok=True)
    studies_ = [_study_row(count, workers, store) for count, workers in [(runs, 2), *ROWS]]
    schedulers = [_measured(store / f"idle-{n}.json", "scheduler", "--workers", str(n))
                  for n in SCHEDULERS]  # fmt: skip
    files.replace_between(PAGE, BEGIN, END, _written(studies_, schedulers))


def _study_row(runs: int, workers: int, store: Path) -> dict[str, Any]:
    """A study of `runs` runs; the pieces of an interrupted one are combined."""
    name, pieces = f"{runs}-{workers}", list[dict[str, Any]]()
    while sum(piece["runs"] for piece in pieces) < runs:
        found = _measured(
            store / f"{name}.{len(pieces)}.json", "throughput", "--runs", str(runs), "--workers",
            str(workers), "--store", str(store / name),
        )  # fmt: skip
        if not found["runs"]:  # a piece was run without a measurement
            break
        pieces.append(found)
    made = sum(piece["runs"] for piece in pieces)
    mean = {
        key: sum(piece["runs"] * piece[key] for piece in pieces) / made
        for key in ("run_alone_cpu_s", "client_cpu_ms_per_run")
    }
    used_s = sum(piece["client_cpu_s"] + piece["workers_cpu_s"] for piece in pieces)
    memory = [size for piece in pieces for size in piece["client_mb_at_quarters"]]
    return mean | {
        "study": runs, "runs": made, "workers": workers, "cpu_ms": 1e3 * used_s / made,
        "share": made * mean["run_alone_cpu_s"] / used_s,
        "runs_per_s": made / sum(piece["wall_s"] for piece in pieces),
        "memory": f"{min(memory)} to {max(memory)} MB",
    }  # fmt: skip


def _measured(path: Path, *words: str) -> dict[str, Any]:
    """The output of a process of this program, new or cached."""
    if not path.exists():
        done = subprocess.run(
            [sys.executable, __file__, *words], stdout=subprocess.PIPE, text=True, check=True
        )
        path.write_text(done.stdout, encoding="utf-8")
        print(f"{path}: {json.loads(done.stdout)}", flush=True)
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _written(rows: list[dict[str, Any]], schedulers: list[dict[str, Any]]) -> str:
    one = next(row for row in rows if row["study"] == ROWS[0][0] and row["workers"] == 1)
    lines = [
        "| study | workers | runs made | simulator alone, ms per run | all, ms per run "
        "| simulator's share | runs per s | per worker, of that of one | client's memory |",
        "|---|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    lines += [
        f"| {row['study']:,} runs | {row['workers']} | {row['runs']:,} | "
        f"{1e3 * row['run_alone_cpu_s']:.2f} | {row['cpu_ms']:.2f} | {row['share']:.2f} | "
        f"{row['runs_per_s']:.0f} | {row['runs_per_s'] / row['workers'] / one['runs_per_s']:.2f} | "
        f"{row['memory']} |"
        for row in rows
    ]
    lines += ["", "| empty tasks on Dask workers, in one process | tasks per s | processor ms per "
              "task | workers that batches of 2 s keep busy |", "|--:|--:|--:|--:|"]  # fmt: skip
    lines += [
        f"| {row['tasks']:,} on {row['workers']} | {row['tasks_per_s']:.0f} | "
        f"{row['cpu_ms_per_task']:.1f} | {row['workers_that_batches_of_2_s_keep_busy']:.0f} |"
        for row in schedulers
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the measurement of the command line; print JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("what", choices=["table", "throughput", "scheduler"])
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument("--store", default="out/throughput")
    parser.add_argument("--budget-s", type=float, default=540.0)
    args = parser.parse_args()
    if args.what == "table":
        table(args.runs, Path(args.store))
        return
    if args.what == "throughput":
        found = throughput(args.runs, args.workers, args.store, args.budget_s)
    else:
        found = scheduler(args.workers, args.tasks)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()

"""The atlas: every AQM in every scenario of RFC 7928, over loads and round-trip times.

    python docs/site/atlas.py FOLDER [--small] [--plan] [--traces DIR]

Each scenario and load is a separate study with the axes AQM and round-trip time; what a store has
is not run again. FOLDER gets `atlas.parquet` and `index.html`, a page that works from disk.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import sojourn
from sojourn import _core
from sojourn.describing.library import shipped
from sojourn.describing.metrics import shown_in
from sojourn.live.texts import changed
from sojourn.markup import json_in_html, policy
from sojourn.study.plan import plan_study

HERE = Path(__file__).parent
METRICS = tuple(row.name for row in shown_in("atlas"))
LOADS = (1, 4)
RTTS = ("20ms", "100ms", "400ms")
SEEDS, SMALL_SEEDS = 5, 2
# Of a small atlas: three kinds of load, as they are.
SMALL = ("rfc7928/mild-congestion", "rfc7928/unresponsive", "rfc7928/bursts")


@dataclass(frozen=True)
class Part:
    """A scenario under a load; a study over AQMs and round-trip times.

    Attributes:
        scenario: its shipped name.
        load: factor on the number of flows of every group.
        link: the bottleneck.
        sets: what is changed in the scenario.
        rtts: round-trip times.
        seeds: seeds of every point.
        trace: recorded trace of a cellular link, or empty.
    """

    scenario: str
    load: int
    link: str
    sets: dict[str, Any]
    rtts: tuple[str, ...]
    seeds: int
    trace: str = ""

    @property
    def name(self) -> str:
        """Its name in tables and folders."""
        return f"{self.scenario.replace('/', '-')}{self.trace and '-' + Path(self.trace).name}"

    def rtt_keys(self) -> list[str]:
        """The words that hold the round-trip time: of all flows, but for the near one."""
        names = [flow["name"] for flow in _document(self.scenario)["flows"]]
        return [f"flows.{name}.rtt" for name in names if name != "near"]

    def study(self) -> sojourn.study.Study:
        """Its study."""
        aqms = [aqm["name"] for aqm in _core.aqms()]
        axes = [
            {"name": "aqm", "key": f"links.{self.link}.queue", "values": aqms},
            {"name": "rtt", "key": self.rtt_keys(), "values": list(self.rtts)},
        ]
        metrics = [f"queue/{self.link}/{metric}" for metric in METRICS]
        return sojourn.study.parse({
            "name": f"{self.name}-x{self.load}", "scenario": self.scenario, "seeds": self.seeds,
            "set": self.sets, "axes": axes, "metrics": metrics,
        })  # fmt: skip


def main() -> None:
    """Run what is missing, or show what it would cost; write table and page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--small", action="store_true", help="three scenarios, one load, 100 ms")
    parser.add_argument("--plan", action="store_true", help="show what it costs, and run nothing")
    parser.add_argument("--traces", type=Path, help="folder of recorded cellular traces")
    arguments = parser.parse_args()
    found = list(parts(arguments.small, arguments.traces))
    if arguments.plan:
        _show_plan(found)
        return
    rows: list[dict[str, Any]] = []
    for part in found:
        store = arguments.folder / "store" / f"{part.name}-x{part.load}"
        rows += _rows(part, sojourn.study.run_study(part.study(), store))
        print(f"{part.name}, load x{part.load}: {len(rows)} cells so far", flush=True)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), arguments.folder / "atlas.parquet")
    (arguments.folder / "index.html").write_text(page(found, rows), encoding="utf-8")


def parts(small: bool, traces: Path | None) -> Iterator[Part]:
    """The studies of an atlas."""
    names = [name for name in shipped() if name.startswith("rfc7928/")]
    loads, rtts, seeds = ((1,), ("100ms",), SMALL_SEEDS) if small else (LOADS, RTTS, SEEDS)
    for name in SMALL if small else names:
        for load in loads:
            counts = {
                f"flows.{flow['name']}.count": flow.get("count", 1) * load
                for flow in _document(name)["flows"]
            }
            # The wire leaves room for the shortest round-trip time.
            sets = {"links.bottleneck.delay": "2ms", **counts}
            yield Part(name, load, "bottleneck", sets, rtts, seeds)
    for trace in sorted(traces.iterdir()) if traces else []:
        sets = {"links.cell.delay": "2ms", "links.cell.rate.file": str(trace.resolve())}
        yield Part("cellular", 1, "cell", sets, rtts, seeds, str(trace))


def page(found: list[Part], rows: list[dict[str, Any]]) -> str:
    """The page with all cells; the texts of the scenarios are those that the live page opens."""
    texts = {
        f"{part.name}|{part.load}|{rtt}": changed(
            part.scenario, {**part.sets, **dict.fromkeys(part.rtt_keys(), rtt)}
        )
        for part in found
        for rtt in part.rtts
        if not part.trace
    }
    data = json_in_html({"rows": rows, "texts": texts, "metrics": METRICS})
    template = (HERE / "atlas.html").read_text(encoding="utf-8")
    programs = re.findall(r"<script>(.*?)</script>", template, re.DOTALL)
    return template.replace("ATLAS_POLICY", policy(programs)).replace("ATLAS_DATA", data)


def _rows(part: Part, results: sojourn.study.Results) -> list[dict[str, Any]]:
    """One row per cell: each metric with the ends of its 95 % interval, null where unknown."""
    rows = []
    for point in results.estimates():
        row: dict[str, Any] = {
            "scenario": part.name, "load": part.load, "rtt": str(point.values["rtt"]),
            "aqm": str(point.values["aqm"]), "seeds": point.seeds,
        }  # fmt: skip
        for key, estimate in point.estimates.items():
            metric = key.rpartition("/")[2]
            row[metric] = _finite(estimate.mean)
            row[f"{metric}_low"] = _finite(estimate.low)
            row[f"{metric}_high"] = _finite(estimate.high)
        rows.append(row)
    return rows


def _show_plan(found: list[Part]) -> None:
    runs, busy_s = 0, 0.0
    for part in found:
        cost = plan_study(part.study(), pilots=2)
        print(f"{part.name} x{part.load}: {cost.runs} runs, about {cost.busy_s:.0f} s", flush=True)
        runs, busy_s = runs + cost.runs, busy_s + cost.busy_s
    print(f"all: {runs} runs, about {busy_s / 60:.0f} minutes of CPU time")


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


def _document(scenario: str) -> dict[str, Any]:
    return tomllib.loads(shipped()[scenario].read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()

"""One seed of the grid, and three engines: tables of docs/results/three-engines.md.

    python tests/witness/agreement.py

Needs the runner of ns-3 and a guest kernel; about five minutes of one core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from record import ROOT

from sojourn import _core, files
from sojourn.agreement import grid
from sojourn.engines import registry
from sojourn.running.result import Result

PAGE = ROOT / "docs" / "results" / "three-engines.md"
CUBIC = (
    *(f"taildrop {n} x cubic {rtt} ms" for n in (1, 5, 20) for rtt in (20, 100)),
    "codel 1 x cubic 20 ms", "codel 1 x cubic 100 ms", "codel 5 x cubic 20 ms",
    "pie 5 x cubic 100 ms", "pi2 5 x cubic 20 ms", "pi2 5 x cubic 100 ms",
    "madpie 1 x cubic 20 ms", "madpie 1 x cubic 100 ms", "madpie 5 x cubic 100 ms",
)  # fmt: skip
RENO = tuple(f"{aqm} 5 x reno 100 ms" for aqm in grid.NS3_AQMS)
THREE = ("pi2", "pie", "madpie")


@dataclass(frozen=True)
class Column:
    """A metric of a table.

    Attributes:
        title: its header.
        metric: metric of the queue.
        scale: factor to the unit of the table.
        least: a difference that never matters, in that unit.
    """

    title: str
    metric: str
    scale: float
    least: float = 0.0


COLUMNS = (
    Column("delay mean [ms]", "delay_mean", 1e3, 1.0),
    Column("p99 [ms]", "delay_p99", 1e3, 1.0),
    Column("utilisation [%]", "utilisation", 1e2),
    Column("drop rate [%]", "drop_rate", 1e2),
)
Values = dict[str, float]


def main() -> None:
    """Run all engines, and write the tables between the page's comments."""
    scenarios = {each.name: each for each in grid.scenarios(["sim", "ns3"])}
    for mark, names in (("seed 1 cubic", CUBIC), ("seed 1 reno", RENO)):
        found = {name: _values(scenarios, name) for name in names}
        _write(mark, _table(found) + _counts(found))
    _write("three engines", _three(scenarios))


def _write(mark: str, text: str) -> None:
    files.replace_between(PAGE, f"<!-- {mark} -->\n", f"<!-- end of {mark} -->\n", text)
    print(text)


def _on(engine: str, scenario: _core.Scenario) -> Values:
    (selected,) = registry.select([engine], {})
    summary = Result(selected.run(scenario.with_seed(1), _core.Cancel())).summary
    return {
        each.metric: each.scale * summary[f"queue/bottleneck/{each.metric}"] for each in COLUMNS
    }


def _values(scenarios: Mapping[str, _core.Scenario], name: str) -> list[Values]:
    """On the simulator, on ns-3 as it is, on ns-3 mended."""
    given, mended = scenarios[name], scenarios[name + grid.MENDED]
    return [_on("sim", given), _on("ns3", given), _on("ns3", mended)]


def _table(found: Mapping[str, Sequence[Values]]) -> str:
    rows = [f"| scenario | {' | '.join(each.title for each in COLUMNS)} |", "|---" * 5 + "|"]
    for name, values in found.items():
        cells = (" / ".join(f"{of[each.metric]:.3g}" for of in values) for each in COLUMNS)
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "".join(f"{row}\n" for row in rows)


def _counts(found: Mapping[str, Sequence[Values]]) -> str:
    """The number of values that agree, by the rule of the page."""
    words = []
    for each in COLUMNS:
        agree = [0, 0]
        for ours, *theirs in found.values():
            for which, other in enumerate(theirs):
                difference = abs(ours[each.metric] - other[each.metric])
                agree[which] += difference <= max(0.1 * other[each.metric], each.least)
        words.append(f"{each.title.split(' [')[0]} {agree[0]}, mended {agree[1]}")
    return f"\nOf {len(found)} agree as it is, and mended: {'; '.join(words)}.\n"


def _three(scenarios: Mapping[str, _core.Scenario]) -> str:
    rows = ["| AQM | metric | sim | linux | ns3 as it is | ns3 mended |", "|---" * 6 + "|"]
    for aqm in THREE:
        name = f"{aqm} 5 x cubic 100 ms"
        given = scenarios[name]
        ours = _core.Scenario.load(
            given.source, origin=name, sets=[("engine.linux.bottleneck", "sojourn")]
        )
        sim, as_is, mended = _values(scenarios, name)
        columns = [sim, _on("linux", ours), as_is, mended]
        for what, pair in (
            (f"| `{aqm}` | delay mean, p99 [ms] ", COLUMNS[:2]),
            ("| | utilisation, drop rate [%] ", COLUMNS[2:]),
        ):
            cells = (", ".join(f"{of[each.metric]:.3g}" for each in pair) for of in columns)
            rows.append(f"{what}| {' | '.join(cells)} |")
    return "".join(f"{row}\n" for row in rows)


if __name__ == "__main__":
    main()

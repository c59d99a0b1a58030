"""Which target PIE needs at which link speed, from a study.

    sojourn study run docs/results/beyond/pie-targets.toml --store out/pie-targets
    python tests/beyond/pie_targets.py out/pie-targets

Pan et al. 2013 §VI leave setting the reference by the link speed as future work. For each rate and
load the page has the lowest target whose utilisation is at most one point below that of the best
target.
"""

from __future__ import annotations

import sys

import pages

from sojourn import study

PACKET_BITS = 1500 * 8
MARGIN = 0.01
Cell = tuple[float, float]
"""Queue delay p95 in seconds, and utilisation; means over seeds."""
Load = tuple[float, int]
"""RTT in seconds, number of flows."""
METHOD = """\
Pan et al. 2013 §VI leave it as future work to set PIE's reference by the link speed: low for fast
links, conservative for slow ones. [The study](beyond/pie-targets.toml) has downloads by CUBIC over
five link speeds, with seven targets, two RTTs and two numbers of flows, 5 seeds each; PIE is that
of RFC 8033.

A load needs the lowest target that loses at most one point of utilisation to the best of the seven
(the margin of [comparisons](../how-to/comparing-honestly.md)). A plus: it is the highest that was
tried, so a higher one may be needed."""


class Grid:
    """The study's points: for each rate and load, a cell per target in ms."""

    def __init__(self, store: str) -> None:
        self.cells: dict[tuple[float, Load], dict[int, Cell]] = {}
        for row in study.open_results(store).table("points").to_pylist():
            key = row["rate_bps"], (row["rtt_s"], int(row["flows"]))
            target = int(str(row["target"]).removeprefix("pie:target=").removesuffix("ms"))
            self.cells.setdefault(key, {})[target] = (row["delay_p95_s"], row["utilisation"])
        self.rates = sorted({rate for rate, _ in self.cells})
        self.loads = sorted({load for _, load in self.cells})

    def needed(self, rate: float, load: Load) -> int:
        """The lowest target, in ms, that loses at most one point of utilisation."""
        cells = self.cells[rate, load]
        best = max(utilisation for _, utilisation in cells.values())
        return min(target for target, cell in cells.items() if cell[1] >= best - MARGIN)

    def shown(self, rate: float, load: Load) -> str:
        """The lowest target as text, with a plus if it is the highest that was tried."""
        needed = self.needed(rate, load)
        return f"{needed}{'+' if needed == max(self.cells[rate, load]) else ''}"


def main(store: str) -> None:
    """Write the page."""
    grid = Grid(store)
    parts = [
        METHOD,
        "## The lowest target that costs at most a point [ms]",
        _needed(grid),
        "## Utilisation and queue delay p95 by target",
        *(part for load in grid.loads for part in _by_target(grid, load)),
    ]
    pages.write("pie-targets", "PIE's target by link speed", _answer(grid), *parts)


def _needed(grid: Grid) -> str:
    head = ["link", "a packet of 1500 B takes [ms]", *map(_load, grid.loads)]
    rows = [
        [_mbps(rate), f"{1e3 * PACKET_BITS / rate:.3g}", *(grid.shown(rate, x) for x in grid.loads)]
        for rate in grid.rates
    ]
    return pages.table(head, rows)


def _by_target(grid: Grid, load: Load) -> tuple[str, str]:
    targets = sorted(grid.cells[grid.rates[0], load])
    rows = [
        [_mbps(rate), *(_cell(grid.cells[rate, load][target]) for target in targets)]
        for rate in grid.rates
    ]
    head = ["link", *(f"{target} ms" for target in targets)]
    return f"{_load(load)}:", pages.table(head, rows)


def _cell(cell: Cell) -> str:
    return f"{100 * cell[1]:.1f} %, {1e3 * cell[0]:.3g} ms"


def _load(load: Load) -> str:
    rtt, flows = load
    return f"{flows} {'flow' if flows == 1 else 'flows'}, {1e3 * rtt:g} ms"


def _mbps(rate: float) -> str:
    return f"{1e-6 * rate:g} Mbit/s"


def _answer(grid: Grid) -> str:
    """The needed target by link speed, with many flows and with one flow of a long RTT."""
    slow, fast = grid.rates[0], grid.rates[-1]
    most = max(flows for _, flows in grid.loads)
    many = [load for load in grid.loads if load[1] == most]
    far = max(load for load in grid.loads if load[1] == 1)

    def needed(rate: float) -> int:
        return max(grid.needed(rate, load) for load in many)

    alone = sorted({grid.needed(rate, far) for rate in grid.rates})
    return (
        f"Not by link speed alone: with {most} flows the lowest target that costs at most a point "
        f"of utilisation is {needed(slow)} ms at {_mbps(slow)} and {needed(fast)} ms at "
        f"{_mbps(fast)}, but one flow over {1e3 * far[0]:g} ms needs {alone[0]} to {alone[-1]} ms "
        "or more, on fast links too."
    )


if __name__ == "__main__":
    main(sys.argv[1])

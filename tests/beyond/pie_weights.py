"""Weighted fairness under PIE, in the two ways that Pan et al. 2013 §VI name as future work.

    python tests/beyond/pie_weights.py

Differential dropping is the law docs/results/beyond/weighted_pie.py; class-based queues are two
links with PIE, each with its class's share of the rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pages

import sojourn
from sojourn.comparing.statistics import estimate

FOLDER = pages.RESULTS / "beyond"
WEIGHTS = (1, 2, 4)
SEEDS = 10
RATE_KBPS = 10_000
LOADS: Mapping[str, Mapping[str, object]] = {
    "Reno": {},
    "CUBIC": {"flows.premium.cc": "cubic", "flows.standard.cc": "cubic"},
    "Reno, premium RTT 200 ms": {"flows.premium.rtt": "200ms"},
}
WAYS = {"one": "one queue, p / w²", "two": "a queue per class"}
METHOD = f"""\
Pan et al. 2013 §VI name two ways as future work: differential dropping of flows that share a queue,
and class-based queues. Both are tried with four downloads in each of two classes on 10 Mbit/s,
RTT 100 ms, {SEEDS} seeds of 120 s ([one queue](beyond/two-classes.toml),
[two queues](beyond/two-queues.toml)). A premium flow is to get w times the goodput of a standard
one.

- **One queue, p / w²** ([the law](beyond/weighted_pie.py), 40 lines): Reno's rate falls with the
  square root of the drop probability, so the premium class is dropped with p / w². It costs one
  multiplication per packet and no state. ECN labels the class for the law, which marks nothing;
  retransmissions are not ECT (RFC 3168 §6.1.5) and count as standard.
- **A queue per class**: a PIE each, on w / (1 + w) and 1 / (1 + w) of the link. That is what a
  scheduler with these weights gives while both classes have packets; one would also lend an idle
  class's share to the other. Sojourn has no such scheduler: it needs a weight per flow in the
  scenario and a quantum per flow in `fq(...)`.

Means over seeds, ± half of their 95 % interval."""


@dataclass
class Found:
    """The results of one way, one value per seed each."""

    load: str
    weight: int
    way: str
    ratio: list[float]
    premium_s: list[float]
    standard_s: list[float]
    utilisation: list[float]


def main() -> None:
    """Write the page."""
    found = [
        way(load, weight) for load in LOADS for weight in WEIGHTS for way in (_one_queue, _two)
    ]
    head = ["load", "w", "way", "goodput, premium / standard", "queue delay 95 % [ms], premium",
            "standard", "utilisation [%]"]  # fmt: skip
    body = pages.table(head, map(_row, found))
    pages.write("pie-weights", "Weighted fairness under PIE", _answer(found), METHOD, body)


def _one_queue(load: str, weight: int) -> Found:
    law = f"{FOLDER / 'weighted_pie.py'}:WeightedPie:weight={weight}"
    scenario = FOLDER / "two-classes.toml"
    compared = sojourn.compare(scenario, [law], SEEDS, sets=LOADS[load], jobs=2)
    runs = [result.summary for result in compared.of(compared.aqms[0])]
    delays = _each(runs, "queue/bottleneck/delay_p95")
    shares = _each(runs, "queue/bottleneck/utilisation")
    return Found(load, weight, "one", _ratio(runs), delays, delays, shares)


def _two(load: str, weight: int) -> Found:
    premium = round(RATE_KBPS * weight / (1 + weight))
    rates = {"premium": premium, "standard": RATE_KBPS - premium}
    sets = {f"links.{name}.rate": f"{rate}kbit" for name, rate in rates.items()}
    runs = pages.runs(FOLDER / "two-queues.toml", SEEDS, {**LOADS[load], **sets})
    used = {name: _each(runs, f"queue/{name}/utilisation") for name in rates}
    shares = [
        (rates["premium"] * one + rates["standard"] * other) / RATE_KBPS
        for one, other in zip(used["premium"], used["standard"], strict=True)
    ]
    delays = {name: _each(runs, f"queue/{name}/delay_p95") for name in rates}
    ratio = _ratio(runs)
    return Found(load, weight, "two", ratio, delays["premium"], delays["standard"], shares)


def _each(runs: Sequence[Mapping[str, float]], key: str) -> list[float]:
    return [run[key] for run in runs]


def _ratio(runs: Sequence[Mapping[str, float]]) -> list[float]:
    return [run["class/premium/goodput"] / run["class/standard/goodput"] for run in runs]


def _row(found: Found) -> list[str]:
    delays = (pages.plus_minus(each, 1e3) for each in (found.premium_s, found.standard_s))
    return [
        found.load,
        f"{found.weight}",
        WAYS[found.way],
        pages.plus_minus(found.ratio),
        *delays,
        pages.plus_minus(found.utilisation, 1e2),
    ]


def _answer(found: Sequence[Found]) -> str:
    """A sentence that states which way meets the weights, and its cost."""

    def worst(way: str, load: str) -> float:
        """The ratio at the largest weight."""
        of = (each for each in found if (each.way, each.load) == (way, load))
        return estimate(max(of, key=lambda each: each.weight).ratio).mean

    def lost(way: str) -> float:
        """Utilisation, mean over loads and weights."""
        means = [estimate(each.utilisation).mean for each in found if each.way == way]
        return 100 * sum(means) / len(means)

    reno, cubic, far = ([worst(way, load) for way in WAYS] for load in LOADS)
    return (
        f"Dropping with p / w² in one queue meets a weight of {WEIGHTS[-1]} under Reno "
        f"({reno[0]:.1f}) but not under CUBIC ({cubic[0]:.1f}) or when the premium class has twice "
        f"the RTT ({far[0]:.1f}); a queue per class gives {reno[1]:.1f}, {cubic[1]:.1f} and "
        f"{far[1]:.1f}, and uses {lost('two'):.1f} % of the link instead of {lost('one'):.1f} %."
    )


if __name__ == "__main__":
    main()

"""Figures 9 to 11: the Linux testbed, emulated, and the part that runs on today's kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from matplotlib.figure import Figure

from sojourn.papers.pie.common import COLOURS, NAMES, PIE_2013, QD, SEEDS, udp_flows
from sojourn.papers.pie.differs import KERNEL
from sojourn.plots.curves import Panel, curves, distribution_curve
from sojourn.reproduce import measures
from sojourn.reproduce.paper import Case, Cell, Item, Pools, Profile, Table, Values
from sojourn.reproduce.testbed import Testbed
from sojourn.scenario import Bulk, FlowGroup, Link, Record, Scenario


def _scenario(aqm: str, reference_ms: int, udp: int, tcp: int, plain: bool = False) -> Scenario:
    """Linux 3.5 hosts and router; packets of 1000 B, 200 of them (160 ms) in the queue.

    The module of that time is not public; its heuristics here are those of the first mainline
    version (our choice); `plain` leaves them out.
    """
    extra = "" if plain else ",heuristics=linux2013"
    queue = {
        "pie": f"{PIE_2013},target={reference_ms}ms,limit=200p{extra}",
        "codel": f"codel@linux:target={reference_ms}ms,interval=100ms,limit=200p",
    }[aqm]
    flows = [
        FlowGroup(
            name="tcp",
            count=tcp,
            path=["bottleneck"],
            rtt="100ms",
            access_rate="1gbit",
            tcp="pie-3.5",
            packet="1000B",
            start="0s..1s",
            app=Bulk(),
        )
    ]
    if udp:
        flows.append(udp_flows(udp))
    return Scenario(
        name=f"pie-testbed-{tcp}tcp-{udp}udp",
        duration="100s",
        record=Record(sample="1s"),
        links={"bottleneck": Link(rate="10mbit", delay="50ms", queue=queue)},
        flows=flows,
    )


REFERENCES_MS = (5, 20)


def _cdf_cases(tcp: int, udp: int) -> Callable[[Profile], dict[str, Case]]:
    def cases(_profile: Profile) -> dict[str, Case]:
        keep = ("delays",)
        return {
            f"reference{ms}ms.{aqm}": Case(_scenario(aqm, ms, udp, tcp), keep)
            for ms in REFERENCES_MS
            for aqm in ("pie", "codel")
        } | {
            f"reference{ms}ms.pie.without_heuristics": Case(
                _scenario("pie", ms, udp, tcp, True), keep
            )
            for ms in REFERENCES_MS
        }

    return cases


def _cdf_measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        values |= measures.under(key, measures.delays(pool.distribution()))
        values[f"{key}.throughput_mbps"] = 1e-6 * pool.number("queue/bottleneck/throughput")
        values[f"{key}.drop_rate_pct"] = 100 * pool.number("queue/bottleneck/drop_rate")
    return values


def _cdf_figures(name: str, title: str) -> Callable[[Pools, Values], Mapping[str, Figure]]:
    def figures(pools: Pools, _values: Values) -> Mapping[str, Figure]:
        panels = []
        for letter, ms in zip("ab", REFERENCES_MS, strict=True):
            lines = [
                distribution_curve(
                    NAMES[a], pools[f"reference{ms}ms.{a}"].distribution(), COLOURS[a]
                )
                for a in ("pie", "codel")
            ]
            limit = (0, 200) if name == "F11" else (0, 100)
            panels.append(
                Panel(f"({letter}) reference {ms} ms", lines, QD, "CDF", limit, (0, 1.01))
            )
        return {name: curves(title, panels)}

    return figures


def _throughput_tables(values: Values) -> list[Table]:
    rows: list[list[str | Cell]] = [
        [key.removesuffix(".throughput_mbps"), Cell(key)]
        for key in values
        if key.endswith("throughput_mbps")
    ]
    return [Table("Throughput at the router", ("run", "Mbit/s: measured / published"), rows)]


TESTBED = Testbed(
    items=("F9", "F10", "F11"),
    note="On engine linux hosts and router are the kernel named above, not Linux 3.5 with a module "
    "of 2013: its PIE is RFC 8033's with the delay from the time stamps of packets, its TCP is "
    "reno with SACK, RACK and tail loss probes. The shaper is CBS, not HTB.",
    notes={
        "F9": "One bottleneck of 10 Mbit/s, RTT 100 ms, in a guest kernel in virtual time.",
        "F10": "The kernel has one PIE: the runs without heuristics are the same as with them.",
        "F11": "The kernel has one PIE: the runs without heuristics are the same as with them.",
    },
    differs=KERNEL,
)


# fmt: off
ITEMS = (
    Item("F9", "Testbed", "structure", note="Emulated: one bottleneck of 10 Mbit/s, RTT 100 ms."),
    Item("F10", "CDF of the queuing delay in the testbed, 20 TCP", cases=_cdf_cases(20, 0),
        seeds=SEEDS, published_runs="one run", measure=_cdf_measure, tables=_throughput_tables,
        figures=_cdf_figures("F10", "Testbed, 20 TCP flows: queuing delay")),
    Item("F11", "CDF of the queuing delay in the testbed, 5 TCP and 2 UDP", cases=_cdf_cases(5, 2),
        seeds=SEEDS, published_runs="one run", measure=_cdf_measure, tables=_throughput_tables,
        figures=_cdf_figures("F11", "Testbed, 5 TCP and 2 UDP flows of 6 Mbit/s: queuing delay")),
)
# fmt: on

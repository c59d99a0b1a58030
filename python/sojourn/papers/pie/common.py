"""Common parts of the paper's experiments: AQMs, flows, the dumbbell."""

from __future__ import annotations

from sojourn.plots import style
from sojourn.reproduce.paper import Seeds
from sojourn.scenario import Bulk, Cbr, FlowGroup, Link, Record, Scenario, Schedule

NAMES = {"pie": "PIE", "red": "RED", "codel": "CoDel", "red_gentle": "RED, gentle"}
COLOURS = {aqm: style.colour_of(aqm.removesuffix("_gentle")) for aqm in NAMES}
QD = "queuing delay [ms]"
PIE_2013 = "pie@paper2013:tupdate=30ms,alpha=0.125hz,beta=1.25hz,dq_threshold=10kB,rate_weight=0.5"
PIE = f"{PIE_2013},target=20ms,max_burst=100ms"
# Byte mode with packets of 1000 B is our choice; 20 % and 80 % of 2 MB.
RED = "red@floyd:min_th=400kB,max_th=1600kB,max_p=0.1,w_q=0.002,mean_packet_bytes=1000B"


def tcp_flows(
    count: int, *, start: str = "0s..1s", stop: str | None = None, name: str = "tcp"
) -> FlowGroup:
    """Greedy NewReno with SACK; 1000 B of payload and 40 B of headers (ns-2's 1000 B segments)."""
    return FlowGroup(
        name=name,
        class_="tcp",
        count=count,
        path=["bottleneck"],
        rtt="100ms",
        access_rate="1gbit",
        tcp="pie-ns2",
        packet="1040B",
        header="40B",
        start=start,
        stop=stop,
        app=Bulk(),
    )


def udp_flows(count: int, rate: str = "6mbit") -> FlowGroup:
    """Unresponsive flows; 1000 B on the wire."""
    return FlowGroup(
        name="udp",
        count=count,
        path=["bottleneck"],
        rtt="100ms",
        access_rate="1gbit",
        start="0s..1s",
        app=Cbr(rate=rate, packet="1000B"),
    )


def dumbbell(
    name: str,
    queue: str,
    flows: list[FlowGroup],
    *,
    rate: str | Schedule = "10mbit",
    duration_s: int = 100,
    buffer: str = "200kB",
    sample: str = "1s",
    warmup_s: int = 0,
) -> Scenario:
    """The dumbbell: all of the RTT on the bottleneck, none on access links (our choice)."""
    return Scenario(
        name=f"pie-{name}",
        duration=f"{duration_s}s",
        warmup=f"{warmup_s}s",
        record=Record(sample=sample),
        links={"bottleneck": Link(rate=rate, delay="50ms", buffer=buffer, queue=queue)},
        flows=flows,
    )


SEEDS = Seeds(3, 20)


WIRE = "TCP: 1000 B of payload and 40 B of headers; UDP: 1000 B on the wire."

"""Common parts of the paper's experiments: AQMs, flows, the three scenarios."""

from __future__ import annotations

from dataclasses import replace

from sojourn.plots import style
from sojourn.reproduce.paper import ItemVariant
from sojourn.scenario import Access, App, Bulk, Cbr, Files, FlowGroup, Link, Record, Scenario

RATE_BPS = 10e6
NAMES = {"droptail": "DropTail", "pie": "PIE", "madpie": "MADPIE", "codel": "CoDel"}
COLOURS = {name: style.colour_of(aqm) for aqm, name in NAMES.items()}
S1_AQMS, S2_AQMS, S3_AQMS = (
    ("pie", "madpie"),
    ("droptail", "pie", "madpie"),
    ("pie", "madpie", "codel"),
)
S1_RTTS, S2_RTTS = (100, 500), (100, 300, 500)
# Files are whole segments (fact papers-2). 15000 B would need one more segment and one more round
# trip.
FILE_BYTES = {kb: segments * 1460 for kb, segments in {15: 10, 44: 30, 73: 50, 102: 70}.items()}
SIZES_KB = tuple(FILE_BYTES)
# Transmission of 218 B on the bottleneck and the access link, part of every one-way delay.
CBR_TRANSMISSION_S = 218 * 8 / 10e6 + 218 * 8 / 100e6
QD = "queuing delay [ms]"
# Linux 3.17: the Reno-friendly estimate counts acknowledgements, the cubic curve packets.
_CUBIC = "cubic:friendly_counts_acks=true"


# The PIE under MADPIE. The paper's PIE is the 2014 ns-2 code of PIE's authors with a handful of
# changed lines (§VI, fact papers-14). The paper says of Figure 3 that PIE's delay often exceeds 100
# ms because of the burst allowance, after the buffer has just been empty. Pan et al. 2013, §III,
# grants the allowance again as soon as the queue is idle, the code only after 1.5 s of calm, so the
# PIE of Pan et al. 2013 is measured too.
PIE_2013, PIE_NS2 = "paper2013", "ns2"


def _queue(aqm: str, deterministic_ms: int) -> str:
    """The AQM with the paper's parameters: target 20 ms, update 30 ms, burst allowance 100 ms.

    alpha and beta are not printed; 0.125 and 1.25 Hz are our choice, PIE's values at that time.
    """
    pie = f"@{PIE_NS2}:target=20ms,tupdate=30ms,max_burst=100ms,alpha=0.125hz,beta=1.25hz"
    return {
        "droptail": "taildrop",
        "pie": f"pie{pie}",
        "madpie": f"madpie{pie},deterministic_target={deterministic_ms}ms",
        "codel": "codel@draft:target=5ms,interval=100ms",
    }[aqm]


def with_pie_2013(case: Scenario) -> Scenario:
    """The scenario with the PIE of Pan et al. 2013."""
    link = (case.links or {})["bottleneck"]
    text = str(link.queue).replace(f"@{PIE_NS2}:", f"@{PIE_2013}:")
    return replace(case, links={"bottleneck": replace(link, queue=text)})


# The variant of every item with runs.
PIES = (ItemVariant("pie_2013", "the PIE of Pan et al. 2013, also under MADPIE", with_pie_2013),)


def _bottleneck(queue: str, largest_rtt_ms: int, delay_ms: int) -> dict[str, Link]:
    """10 Mbit/s; the limit is the BDP in bytes (our choice: the paper does not give the unit)."""
    return {
        "bottleneck": Link(
            rate="10mbit", delay=f"{delay_ms}ms", buffer=f"{largest_rtt_ms * 1250}B", queue=queue
        )
    }


def _access(rtt_ms: int, link_ms: int) -> Access:
    """Access links of 1 ms; the longer RTT of a group in S3 is on its sender's side."""
    return Access(sender=f"{rtt_ms // 2 - link_ms - 1}ms", receiver="1ms")


def _link_ms(rtt_ms: int) -> int:
    """The delay of the bottleneck in S1 and S2: all but 1 ms on either side."""
    return rtt_ms // 2 - 2


def _tcp(name: str, count: int, rtt_ms: int, link_ms: int, app: App) -> FlowGroup:
    """CUBIC of Linux 3.17 in ns-2; packet size as the files imply, delayed ACKs our choice."""
    return FlowGroup(
        name=name,
        count=count,
        path=["bottleneck"],
        rtt=f"{rtt_ms}ms",
        access=_access(rtt_ms, link_ms),
        access_rate="100mbit",
        tcp="madpie",
        cc=_CUBIC,
        packet="1500B",
        header="40B",
        ack_every=2,
        start="0s..1s",
        app=app,
    )


def _mix(suffix: str, bulk: int, rtt_ms: int, link_ms: int) -> list[FlowGroup]:
    """4 CBR flows, 20 sources of short files, some bulk flows."""
    calls = FlowGroup(
        name=f"cbr{suffix}",
        count=4,
        path=["bottleneck"],
        rtt=f"{rtt_ms}ms",
        access=_access(rtt_ms, link_ms),
        access_rate="100mbit",
        start="0s..1s",
        app=Cbr(rate="87kbit", packet="218B"),
    )
    files = Files(sizes=[f"{size}B" for size in FILE_BYTES.values()], think="9.5s")
    return [
        calls,
        _tcp(f"files{suffix}", 20, rtt_ms, link_ms, files),
        _tcp(f"bulk{suffix}", bulk, rtt_ms, link_ms, Bulk()),
    ]


def s1(aqm: str, rtt_ms: int, warmup_s: int = 0) -> Scenario:
    """S1, proof of concept: 10 bulk flows for 300 s."""
    return Scenario(
        name=f"madpie-s1-rtt{rtt_ms}",
        duration="300s",
        warmup=f"{warmup_s}s",
        record=Record(sample="1s"),
        links=_bottleneck(_queue(aqm, 30), rtt_ms, _link_ms(rtt_ms)),
        flows=[_tcp("bulk", 10, rtt_ms, _link_ms(rtt_ms), Bulk())],
    )


def s2(aqm: str, rtt_ms: int) -> Scenario:
    """S2, traffic mix: 100 s."""
    return Scenario(
        name=f"madpie-s2-rtt{rtt_ms}",
        duration="100s",
        record=Record(sample="1s"),
        links=_bottleneck(_queue(aqm, 25), rtt_ms, _link_ms(rtt_ms)),
        flows=_mix("", 10, rtt_ms, _link_ms(rtt_ms)),
    )


def s3(aqm: str) -> Scenario:
    """S3, traffic mix and RTT mix: two groups of all classes, 2 bulk flows each."""
    return Scenario(
        name="madpie-s3",
        duration="100s",
        record=Record(sample="1s"),
        links=_bottleneck(_queue(aqm, 25), 500, 48),
        flows=[*_mix("100", 2, 100, 48), *_mix("500", 2, 500, 48)],
    )

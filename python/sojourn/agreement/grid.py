"""The shipped grids of the agreement, generated from one definition."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn import _core

AQMS = {
    "pfifo": "taildrop:limit=100p",
    "codel": "codel@linux:limit=1000p",
    "fq_codel": "fq_codel@linux:limit=1000p",
    "pie": "pie@linux:limit=1000p,hz=1000",
    "ared": "ared@linux:limit=150kB,min_th=15kB,max_th=45kB,hz=1000",
}
FLOWS = (1, 4, 16, 64)
RTTS_MS = (10, 100)

# All our AQMs are compared with ns-3, in dialect `ns3` if they have it.
NS3_AQMS = {
    "taildrop": "taildrop:limit=100p",
    "codel": "codel@ns3:limit=1000p",
    "fq_codel": "fq_codel@ns3:limit=1000p",
    "pie": "pie@ns3:limit=1000p",
    "pi2": "pi2:limit=1000p",
    "madpie": "madpie:limit=1000p",
}
NS3_FLOWS = (1, 5, 20)
NS3_RTTS_MS = (20, 100)
# Suffix of the names of scenarios that run with the known errors of ns-3's TCP corrected.
MENDED = ", mended"

_TEXT = """\
name = "{name}"
duration = "30s"
warmup = "5s"
[record]
states = false
[links.bottleneck]
rate = "10mbit"
delay = "{delay_ms}ms"
framing = "{framing}"
queue = "{queue}"
[[flows]]
count = {flows}
path = ["bottleneck"]
rtt = "{rtt_ms}ms"
tcp = "{tcp}"
cc = "{cc}"
ecn = {ecn}
start = "0s..1s"
app = {{ kind = "bulk" }}
"""


def scenarios(engines: Sequence[str], tcp: str = "linux") -> list[_core.Scenario]:
    """The grid for two engines: every AQM, number of flows and RTT with cubic.

    Some cells have reno or ECN. The engine ``ns3`` has a separate grid.

    Args:
        engines: the engines.
        tcp: the profile of the kernel's TCP.
    """
    if "ns3" in engines:
        return [each for mended in (False, True) for each in _ns3_scenarios(mended=mended)]
    grid = [
        _scenario(aqm, AQMS[aqm], flows, rtt, "cubic", ecn=False, tcp=tcp)
        for aqm in AQMS
        for flows in FLOWS
        for rtt in RTTS_MS
    ]
    reno = [_scenario(aqm, AQMS[aqm], 4, 100, "reno", ecn=False, tcp=tcp) for aqm in AQMS]
    ecn = [
        _scenario(aqm, AQMS[aqm], 16, 100, "cubic", ecn=True, tcp=tcp)
        for aqm in ("codel", "fq_codel", "pie")
    ]
    return grid + reno + ecn


def _ns3_scenarios(*, mended: bool) -> list[_core.Scenario]:
    """The scenarios for ns-3: packets have the 2 bytes of PPP that its links add.

    Args:
        mended: whether the known errors of ns-3's TCP are corrected (`engine.ns3.tcp`).
    """
    paths = [("cubic", flows, rtt) for flows in NS3_FLOWS for rtt in NS3_RTTS_MS]
    return [
        _scenario(aqm, queue, flows, rtt, cc, ecn=False, framing="2B", mended=mended)
        for aqm, queue in NS3_AQMS.items()
        for cc, flows, rtt in [*paths, ("reno", 5, 100)]
    ]


def _scenario(
    aqm: str, queue: str, flows: int, rtt_ms: int, cc: str, *, ecn: bool, framing: str = "0B",
    mended: bool = False, tcp: str = "linux",
) -> _core.Scenario:  # fmt: skip
    if ecn:
        queue += ",ecn=true"
    name = f"{aqm} {flows} x {cc}{' ecn' if ecn else ''} {rtt_ms} ms{MENDED if mended else ''}"
    text = _TEXT.format(
        name=name, delay_ms=rtt_ms // 4, queue=queue, flows=flows, rtt_ms=rtt_ms, cc=cc,
        ecn=str(ecn).lower(), framing=framing, tcp=tcp,
    )  # fmt: skip
    more = '[engine.ns3]\ntcp = "mended"\n' if mended else ""
    return _core.Scenario.load(text + more, origin=name)

"""The shipped grid of the agreement: scenarios from one definition."""

from __future__ import annotations

from sojourn import _core

AQMS = {
    "pfifo": "taildrop:limit=100p",
    "codel": "codel@linux:limit=1000p",
    "fq_codel": "fq_codel@linux:limit=1000p",
    "pie": "pie@linux:limit=1000p,hz=1000",
    "ared": "ared@linux:limit=150kB,min_th=15kB,max_th=45kB",
}
FLOWS = (1, 4, 16, 64)
RTTS_MS = (10, 100)

_TEXT = """\
name = "{name}"
duration = "30s"
warmup = "5s"
[record]
states = false
[links.bottleneck]
rate = "10mbit"
delay = "{delay_ms}ms"
queue = "{queue}"
[[flows]]
count = {flows}
path = ["bottleneck"]
rtt = "{rtt_ms}ms"
cc = "{cc}"
ecn = {ecn}
start = "0s..1s"
app = {{ kind = "bulk" }}
"""


def scenarios() -> list[_core.Scenario]:
    """All of the grid: every AQM, number of flows and RTT with cubic, some with reno or ECN."""
    grid = [
        _scenario(aqm, flows, rtt, "cubic", ecn=False)
        for aqm in AQMS
        for flows in FLOWS
        for rtt in RTTS_MS
    ]
    reno = [_scenario(aqm, 4, 100, "reno", ecn=False) for aqm in AQMS]
    ecn = [_scenario(aqm, 16, 100, "cubic", ecn=True) for aqm in ("codel", "fq_codel", "pie")]
    return grid + reno + ecn


def _scenario(aqm: str, flows: int, rtt_ms: int, cc: str, *, ecn: bool) -> _core.Scenario:
    queue = AQMS[aqm]
    if ecn:
        queue += ",ecn=true"
    name = f"{aqm} {flows} x {cc}{' ecn' if ecn else ''} {rtt_ms} ms"
    text = _TEXT.format(
        name=name, delay_ms=rtt_ms // 4, queue=queue, flows=flows, rtt_ms=rtt_ms, cc=cc,
        ecn=str(ecn).lower(),
    )  # fmt: skip
    return _core.Scenario.load(text, origin=name)

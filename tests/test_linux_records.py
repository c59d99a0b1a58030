"""What the engine linux records beside the queue, and what its link does beside queueing: both engines
fill the same tables with the same arithmetic, and draw the same luck.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import sojourn
from guests import in_guest, needs_kernel, numbers
from sojourn import _core
from sojourn.errors import ScenarioError

TEXT = """
name = "recorded"
duration = "4s"
warmup = "1s"
[record]
{record}
[engine.linux]
bottleneck = "{bottleneck}"
[links.bottleneck]
rate = {rate}
delay = "10ms"
queue = "{queue}"
{link}
{flows}
"""
BULK = """
[[flows]]
path = ["bottleneck"]
rtt = "40ms"
tcp = "linux"
cc = "reno"
app = { kind = "bulk" }
"""
CBR = """
[[flows]]
path = ["bottleneck"]
rtt = "40ms"
app = { kind = "cbr", rate = "2mbit", packet = "500B" }
"""
BOTH = pytest.mark.parametrize("bottleneck", ["kernel", "sojourn"])


def scenario(
    bottleneck: str,
    *,
    flows: str = BULK,
    record: str = "",
    link: str = "",
    rate: str = '"10mbit"',
    queue: str = "taildrop:limit=100p",
    folder: Path = Path("."),
) -> _core.Scenario:
    text = TEXT.format(
        bottleneck=bottleneck, flows=flows, record=record, link=link, rate=rate, queue=queue
    )
    return _core.Scenario.load(text, folder=str(folder))


@needs_kernel
@BOTH
def test_bins_are_those_of_the_simulator(bottleneck: str) -> None:
    given = scenario(bottleneck, flows=BULK + CBR, record='bins = "500ms"')
    run = in_guest(given)
    assert (run.invalid, run.warnings) == ([], [])
    real, own = (sojourn.Result(each).bins for each in (run, _core.run(given)))
    assert real.schema == own.schema
    keys = ("scope", "name", "t", "metric", "unit")
    rows = [
        {tuple(row[key] for key in keys): row["value"] for row in table.to_pylist()}
        for table in (real, own)
    ]
    assert list(rows[0]) == list(rows[1])
    # 2 Mbit/s in every bin but the first one, of which half a round trip is missing: one datagram of
    # 500 B is 8 kbit/s there.
    for key, value in rows[0].items():
        if key[:2] == ("class", "cbr") and key[2] > 0:
            assert value == pytest.approx(rows[1][key], abs=16_000), key
        if key[3] == "utilisation" and key[2] >= 0.5:
            assert value == pytest.approx(1, abs=0.02), key


@needs_kernel
@BOTH
def test_latency_of_tcp_is_seen_at_its_ends(bottleneck: str) -> None:
    given = scenario(bottleneck, record="latency = true")
    run = in_guest(given)
    assert (run.invalid, run.warnings) == ([], [])
    real, simulated = numbers(run), numbers(_core.run(given))
    names = {key for key in simulated if "/owd" in key or "/rtt" in key}
    assert {key for key in real if "/owd" in key or "/rtt" in key} == names
    assert len(names) == 10
    # The way: 20 ms of propagation, 121 us on the access link of 100 Mbit/s, and the queue; our router
    # adds the packet's own 1.2 ms there, which the kernel's shaper does not wait for.
    queue = real["queue/bottleneck/delay_mean"]
    service = 0.0012 if bottleneck == "sojourn" else 0
    assert real["class/bulk/owd_mean"] == pytest.approx(queue + 0.0201 + service, abs=0.0005)
    back = real["class/bulk/rtt_mean"] - real["class/bulk/owd_mean"]
    # A second segment in every pair is waited for.
    assert 0.0199 < back < 0.0215
    assert real["class/bulk/owd_p50"] == pytest.approx(simulated["class/bulk/owd_p50"], rel=0.1)

"""Parameters in the kernel: the run uses those of the scenario, or is refused."""

from __future__ import annotations

import pytest

from guests import in_guest, needs_kernel, numbers
from sojourn import _core
from sojourn.errors import ScenarioError

TEXT = """
name = "parameters"
duration = "{duration}"
warmup = "{warmup}"
[links.bottleneck]
rate = "10mbit"
delay = "10ms"
framing = "14B"
queue = "{queue}"
[[flows]]
count = 4
path = ["bottleneck"]
rtt = "40ms"
{keys}
app = {{ kind = "bulk" }}
"""
# The guest ends the run if netlink shows another value than requested.
CODEL = "target=3ms,interval=30ms,ecn=true,ce_threshold=1ms"
PIE = "target=7ms,tupdate=30ms,alpha=0.25hz,beta=2hz,ecn=true,byte_mode=true,delay=rate"
RED = "limit=400kB,min_th=30kB,max_th=90kB,burst=55,max_p=1,ecn=true"
ASKED = [
    "taildrop:limit=77p", "taildrop:limit=77kB", f"codel@linux:{CODEL},limit=77p",
    f"fq_codel@linux:{CODEL},limit=400p,flows=512,quantum=2000B,drop_batch=16,memory_limit=2MB",
    f"pie@linux:{PIE},limit=400p", f"fq_pie@linux:{PIE},flows=512,quantum=2000B,limit=400p",
    f"red@linux:{RED},mean_packet_bytes=1500B,hard_drop=true", f"ared@linux:{RED},hz=1000",
    "red@linux", "red@linux:min_th=30kB", "red@linux:max_th=90kB", "ared@linux",
    "choke", "choke:min_th=20", "choke:limit=400p,min_th=20,max_th=77,burst=55,max_p=1,ecn=true",
    "sfq:limit=100p,depth=55,divisor=512,flows=100,perturb=2s,headdrop=true",
    "sfb:bin_max=55,increment=0.05", "cake",
    "cake:target=20ms,interval=30ms,bandwidth=5mbit,overhead=18B,cells=ptm,mpu=64B,isolation=dst",
    "cake:bandwidth=5mbit,overhead=-24B,mpu=64B,diffserv=diffserv4,wash=true,ack_filter=on",
    "cake:bandwidth=5mbit,autorate_ingress=true,split_gso=false",
]  # fmt: skip


def scenario(
    queue: str, duration: str = "1s", warmup: str = "0s", keys: str = ""
) -> _core.Scenario:
    text = TEXT.format(queue=queue, duration=duration, warmup=warmup, keys=keys)
    return _core.Scenario.load(text)


@needs_kernel
@pytest.mark.slow
@pytest.mark.parametrize("queue", ASKED)
def test_the_kernel_has_what_the_scenario_asks_for(queue: str) -> None:
    run = in_guest(scenario(queue))
    assert run.invalid == []


@pytest.mark.parametrize(
    ("queue", "why"),
    [
        ("codel@linux:mtu_bytes=20000B", "`mtu_bytes` of 20kB: the kernel has auto built in"),
        ("pie@linux:mtu_bytes=30000B", "`mtu_bytes` of 30kB: the kernel has auto built in"),
        ("pie@linux:dq_threshold=30kB", "`dq_threshold` of 30kB: the kernel has"),
        ("pie@linux:hz=100", "`hz` of 100: the kernel there has 1000 Hz"),
        ("fq_pie@linux:drop_batch=16", "`drop_batch` of 16: the kernel has 64 built in"),
        ("ared@linux:adapt_interval=2s", "`adapt_interval` of 2s: the kernel has"),
        ("cake:flows=512", "`flows` of 512: the kernel has 1024 built in"),
    ],
)
def test_what_the_kernel_cannot_set_is_refused_in_one_sentence(queue: str, why: str) -> None:
    """Case 17: these parameters ran silently with the kernel's own value."""
    with pytest.raises(ScenarioError, match=r"links\.bottleneck\.queue") as refused:
        _core.linux_plan(scenario(queue))
    assert why in str(refused.value)


@needs_kernel
@pytest.mark.parametrize(
    "queue", ["cake:target=20ms", pytest.param("cake:interval=30ms", marks=pytest.mark.nightly)]
)
def test_cakes_target_and_interval_mean_the_same_in_both_engines(queue: str) -> None:
    """Case 17: the kernel ran with 5 ms for one setting and 1.5 ms for the other."""
    given = scenario(queue, duration="12s", warmup="2s")
    real, own = numbers(in_guest(given)), numbers(_core.run(given))
    key = "queue/bottleneck/delay_mean"
    assert real[key] == pytest.approx(own[key], rel=0.1)


@needs_kernel
def test_dctcp_without_the_key_ecn_is_marked_in_both_engines() -> None:
    """Case 04: Linux requests ECN for a control that needs it; the run had Reno with drops."""
    queue = "red@linux:limit=100kB,min_th=30000B,max_th=30001B,burst=30,ecn=true"
    given = scenario(queue, duration="6s", warmup="2s", keys='cc = "dctcp"\ntcp = "linux"')
    real, own = numbers(in_guest(given)), numbers(_core.run(given))
    for found in (real, own):
        assert found["queue/bottleneck/mark_rate"] > 0.01
        assert found["queue/bottleneck/drop_rate"] == 0
    key = "queue/bottleneck/mark_rate"
    assert real[key] == pytest.approx(own[key], rel=0.2)


@needs_kernel
def test_an_experiment_without_a_queue_warns_on_the_kernel_too() -> None:
    """Case 14: senders at 2 Mbit/s each never fill a link of 10 Mbit/s."""
    idle = "nothing was dropped or marked and queues were nearly empty"
    alone = scenario("codel@linux", duration="4s", keys='access_rate = "2mbit"')
    crowded = scenario("codel@linux", duration="4s")
    found = [in_guest(given).warnings for given in (alone, crowded)]
    assert [any(idle in text for text in warnings) for warnings in found] == [True, False]

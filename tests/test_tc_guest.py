"""`sojourn tc export` through the kernel: tc sets what it writes, and netlink shows the same."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Iterator
from typing import Any

import pytest

import sojourn
from guests import KERNEL, needs_kernel
from sojourn import _core
from sojourn.errors import InputError, ScenarioError
from sojourn.exporting.tc import exported

CODEL = "target=3ms,interval=30ms,ecn=true,ce_threshold=1ms"
PIE = "target=7ms,tupdate=30ms,alpha=0.25hz,beta=2hz,ecn=true,byte_mode=true,delay=rate"
RED = (
    "min_th=30kB,max_th=90kB,burst=55,max_p=0.5,ecn=true,mean_packet_bytes=1500B,hard_drop=true,"
    "bandwidth=5mbit"
)
CAKE = (
    "rtt=30ms,bandwidth=5mbit,overhead=18B,cells=ptm,mpu=64B,isolation=dst,limit=2MB,"
    "diffserv=diffserv4,wash=true,ingress=true,ack_filter=aggressive"
)
SFQ = "limit=100p,depth=55,divisor=512,flows=90,perturb=2s,headdrop=true,quantum=3000B"
SFQ_RED = (
    "red_flow_limit=60kB,min_th=9kB,max_th=27kB,max_p=0.5,mean_packet_bytes=1500B,burst=11,"
    "ecn=true,hard_drop=true"
)
FQ = (
    "limit=400p,flow_limit=55,buckets=512,orphan_mask=511,quantum=2000B,initial_quantum=9000B,"
    "maxrate=5mbit,low_rate_threshold=200kbit,refill_delay=30ms,ce_threshold=1ms,timer_slack=1us,"
    "horizon=2s,horizon_drop=false,pacing=false"
)
SFB = (
    "limit=400p,bin_max=55,bin_target=44,increment=0.05,decrement=0.005,rehash_interval=60s,"
    "warmup=6s,penalty_rate=20hz,penalty_burst=30"
)
# Every parameter that tc can set, by AQM. iproute2 6.1 has no dualpi2.
ASKED = {
    "taildrop": ["limit=77p"],
    "taildrop@bytes": ["limit=77kB"],
    "taildrop@head_drop": ["limit=77p"],
    "codel@linux": [f"limit=77p,{CODEL}"],
    "fq_codel@linux": [
        f"limit=400p,flows=512,quantum=2000B,drop_batch=16,memory_limit=2MB,{CODEL}", "ecn=false",
    ],
    "pie@linux": [f"limit=400p,{PIE}"],
    "fq_pie@linux": [f"limit=400p,flows=512,quantum=2000B,ecn_mark_limit=0.5,{PIE}"],
    "red@linux": [f"limit=400kB,{RED}", "limit=400kB,max_p=0.9999999999"],
    "ared@linux": [f"limit=400kB,{RED}"],
    "choke": [
        "mean_packet_bytes=500B",
        "limit=400p,min_th=20,max_th=77,burst=55,max_p=0.5,ecn=true",
    ],
    "sfq": [SFQ],
    "sfq_red": [f"{SFQ},{SFQ_RED}"],
    "sfb": [SFB, ""],
    "fq": [FQ, ""],
    "cake": [
        CAKE, "bandwidth=5mbit,overhead=-24B,cells=atm", "interval=40ms,target=2ms",
        *(f"isolation={it}" for it in ("flows", "src", "triple", "srchost", "dsthost", "hosts",
                                       "flowblind")),
        *(f"diffserv={it}" for it in ("besteffort", "precedence", "diffserv3", "diffserv8")),
        "ack_filter=on", "split_gso=false", "autorate_ingress=true,bandwidth=5mbit",
    ],
}  # fmt: skip
# The other parameters, each with a value that differs from the kernel's default.
LEFT_OUT = {
    "active_threshold": "7ms", "adapt_alpha": "0.02", "adapt_beta": "0.8", "adapt_interval": "1s",
    "cap_step": "false", "ce_threshold": "1ms", "count": "3", "decay_wraps": "true",
    "derandomise": "false", "dq_threshold": "9kB", "drop_batch": "9", "ecn_mark_limit": "0.5",
    "exclude_ce": "true", "first_update": "9ms", "flows": "512", "gap_mode": "wait",
    "gentle": "true", "hard_drop": "true", "heuristics": "linux2013", "hz": "100",
    "idle_decay": "0.5", "inverse_roots": "linux-6.1", "kernel": "linux-5.10", "l4s": "true",
    "max_burst": "9ms", "max_p_bottom": "0.05", "max_p_top": "0.4", "memory_limit": "2MB",
    "mtu_bytes": "3kB", "on_off": "true", "overflow": "head", "rate_weight": "0.5",
    "shed": "packets", "target_delay": "9ms", "tune": "ns2", "w_q": "0.5",
}  # fmt: skip
UNLIKE = {"ared.gentle": "false", "fq_codel.overflow": "arrival", "fq_pie.overflow": "fattest"}
# Disciplines that the engine `linux` does not plan: kind, attribute, offset, width, numbers.
BY_HAND = {
    "taildrop@head_drop": ("pfifo_head_drop", [(None, 0, "u32", [77])]),
    # Linux 6.1 pkt_sched.h, struct tc_sfq_qopt_v1; sch_sfq.c, sfq_dump; flags: ecn, harddrop.
    "sfq_red": ("sfq", [
        (None, 0, "u32", [3000, 2, 100, 512, 90, 55, 1, 0, 9_000, 27_000]),
        (None, 43, "u8", [3]), (None, 44, "u32", [1 << 31]),
    ]),
}  # fmt: skip
TEXT = """
name = "parameters"
duration = "4s"
warmup = "0s"
[links.up]
rate = "10mbit"
framing = "14B"
{keys}
queue = "{queue}"
[[flows]]
name = "programs"
path = ["up"]
rtt = "40ms"
app = {{ kind = "bulk" }}
"""
# Sets up each case on a separate interface, and prints its description by netlink.
GUEST = """
import json, socket, struct, subprocess, sys

def told(kind, index):
    found = []
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as route:
        body = struct.pack("=BBHiIII", 0, 0, 0, index, 0, 0, 0)
        route.send(struct.pack("=IHHII", 16 + len(body), kind, 0x301, 1, 0) + body)
        while True:
            data = route.recv(1 << 18)
            while data:
                length, kind = struct.unpack_from("=IH", data)
                if kind == 3:
                    return found
                _, _, _, device, handle, parent, _ = struct.unpack_from("=BBHiIII", data, 16)
                if device == index:
                    found.append([handle, parent, data[36:length].hex()])
                data = data[(length + 3) & ~3:]

told_of = {}
for name, commands in json.load(open(sys.argv[1])).items():
    script = "\\n".join(["set -e", f"ip link add {name} type dummy", *commands])
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True)
    index = socket.if_nametoindex(name)
    told_of[name] = [done.stderr if done.returncode else "", told(38, index), told(42, index)]
print(json.dumps(told_of))
"""


def scenario(queue: str, keys: str = "") -> _core.Scenario:
    return _core.Scenario.load(TEXT.format(queue=queue, keys=keys))


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The attributes of a message (linux/netlink.h, struct nlattr)."""
    while len(data) >= 4:
        length, number = struct.unpack_from("=HH", data)
        yield number & 0x3FFF, data[4:length]
        data = data[(length + 3) & ~3 :]


def find(data: bytes, number: int) -> bytes:
    return dict(attributes(data)).get(number, b"")


def unlike(option: dict[str, Any], options: bytes) -> str:
    """The kernel's numbers that differ from those of an option; empty if they are equal."""
    number, width = option["attribute"], {"u8": "B", "u32": "I"}[option["width"]]
    data = (options if number is None else find(options, number))[option["offset"] :]
    size = struct.calcsize(f"={width}")
    found = list(struct.unpack(f"={len(data) // size}{width}", data[: len(data) // size * size]))
    shown = option["shown"]
    return "" if found[: len(shown)] == shown else f"{option['name']}: {shown}, not {found}"


def of_kind(kind: str) -> list[tuple[str, str]]:
    """The cases of a kind: AQM and settings."""
    named = {aqm: texts for aqm, texts in ASKED.items() if aqm.partition("@")[0] == kind}
    return [(aqm, text) for aqm, texts in named.items() for text in texts]


@pytest.mark.parametrize("kind", sorted({it.partition("@")[0] for it in ASKED}))
def test_what_the_cases_leave_out_cannot_be_exported(kind: str) -> None:
    """A new parameter fails here until it has a case."""
    (entry,) = (it for it in _core.aqms() if it["name"] == kind)
    given = {part.partition("=")[0] for _, text in of_kind(kind) for part in text.split(",")}
    # The kernel has a separate kind for this, pfifo_head_drop.
    given |= {"overflow"} if kind == "taildrop" else set()
    # Linux 6.1 and its tc have no bands.
    given |= {"priomap", "weight0", "weight1", "weight2"} if kind == "fq" else set()
    aqm = of_kind(kind)[0][0]
    for name in {it["name"] for it in entry["params"]} - given:
        value = UNLIKE.get(f"{kind}.{name}", LEFT_OUT[name])
        limit = "limit=400kB," if kind in ("red", "ared") else ""
        with pytest.raises((ScenarioError, InputError)):
            exported(scenario(f"{aqm}:{limit}{name}={value}"), "d0")


@pytest.mark.parametrize(
    ("queue", "says"),
    [
        ("pie@linux:alpha=0hz", "at least a sixteenth"),
        ("fq_pie@linux:beta=0hz", "at least a sixteenth"),
        ("fq_pie@linux:ecn_mark_limit=0", "at least a percent"),
        ("red@linux:limit=400kB,max_p=1", "a probability below 1"),
        ("sfq_red:max_p=1", "a probability below 1"),
        ("choke:max_p=1", "a probability below 1"),
        ("choke:hard_drop=true", "cannot set `hard_drop`"),
    ],
)
def test_what_tc_does_not_send_as_written_is_refused(queue: str, says: str) -> None:
    """The kernel had 2 in place of alpha 0, 10 % of 0, and 0.51 of a probability of 1."""
    with pytest.raises(ScenarioError, match=says):
        exported(scenario(queue), "d0")


@needs_kernel
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("tc") is None, reason="needs tc (iproute2)")
@pytest.mark.nightly
def test_every_exported_parameter_is_in_the_kernel(tmp_path) -> None:
    assert KERNEL is not None
    cases = [f"{aqm}:{text}".rstrip(":") for aqm, texts in ASKED.items() for text in texts]
    told = in_guest(tmp_path, [scenario(it) for it in cases])
    wrong = []
    for case, (error, qdiscs, _) in zip(cases, told, strict=True):
        expected = in_netlink(case)
        kind = expected["kind"].encode() + b"\0"
        found = [data for _, _, data in qdiscs if find(data, 1) == kind]
        problems = [error] if error else [] if found else ["the qdisc is missing"]
        problems += [unlike(it, find(found[0], 2)) for it in expected["options"] if found]
        wrong += [f"{case}: {it}" for it in problems if it]
    assert wrong == []


HTB = """[links.up.scheduler]
kind = "htb"
default = "1-12"
[[links.up.scheduler.classes]]
name = "1-1"
rate = "8mbit"
[[links.up.scheduler.classes]]
name = "1-11"
parent = "1-1"
rate = "1mbit"
ceil = "3mbit"
burst = "5kB"
cburst = "6kB"
quantum = "3000B"
prio = 2
dscp = ["ef"]
[[links.up.scheduler.classes]]
name = "1-12"
parent = "1-1"
rate = "6mbit"
"""
PRIO = """[links.up.scheduler]
kind = "prio"
default = "second"
[[links.up.scheduler.classes]]
name = "first"
dscp = ["ef"]
[[links.up.scheduler.classes]]
name = "second"
"""
ETS = """[links.up.scheduler]
kind = "ets"
default = "last"
[[links.up.scheduler.classes]]
name = "first"
dscp = ["ef"]
[[links.up.scheduler.classes]]
name = "second"
quantum = "3000B"
dscp = ["cs1"]
[[links.up.scheduler.classes]]
name = "last"
quantum = "1500B"
"""
BUCKET = (
    'rate = {{ kind = "bucket", rate = "4mbit", burst = "20kB", line = "1gbit", overdraft = {} }}'
)


def tree(scheduler: str, keys: str = "", bucket: str = "") -> _core.Scenario:
    """A link with further keys, with a scheduler and a token bucket if they are given."""
    text = TEXT.format(queue="codel@linux", keys=keys) + scheduler
    return _core.Scenario.load(text.replace('rate = "10mbit"', bucket or 'rate = "10mbit"'))


def rates(options: bytes, number: int) -> tuple[float, ...]:
    """Two rates in bit/s, and the words that follow (linux/pkt_sched.h, struct tc_ratespec)."""
    data = find(options, number)
    words = struct.unpack(f"={len(data) // 4}I", data)
    return words[2] * 8, words[5] * 8, *words[6:]


def bytes_in(ticks: float, bps: float) -> float:
    """The size of a bucket that holds ticks of 64 ns (Linux 6.1 pkt_sched.h, PSCHED_SHIFT)."""
    return ticks * 64e-9 * bps / 8


@needs_kernel
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("tc") is None, reason="needs tc (iproute2)")
@pytest.mark.nightly
def test_every_exported_shaper_is_in_the_kernel(tmp_path) -> None:
    told = in_guest(
        tmp_path,
        [
            tree(HTB, 'mpu = "64B"\ncells = "atm"'),
            tree(PRIO),
            tree(ETS),
            *(tree("", bucket=BUCKET.format(it)) for it in ("false", "true")),
        ],
    )
    assert [error for error, *_ in told] == [""] * 5
    (_, trees, classes), (_, bands, _), (_, turns, _), (_, tbf, _), (_, _, debt) = told
    of_class = {handle & 0xFFFF: (parent, find(data, 2)) for handle, parent, data in classes}
    assert [of_class[it][0] for it in (0x1, 0x11, 0x12)] == [0xFFFFFFFF, 0x10001, 0x10001]
    rate, ceil, burst, cburst, quantum, _, prio = rates(of_class[0x11][1], 1)
    assert (rate, ceil, quantum, prio) == (1e6, 3e6, 3000, 2)
    assert bytes_in(burst, rate) == pytest.approx(5000, abs=1)
    assert bytes_in(cburst, ceil) == pytest.approx(6000, abs=1)
    assert [rates(of_class[it][1], 1)[:2] for it in (0x1, 0x12)] == [(8e6, 8e6), (6e6, 6e6)]
    (root,) = (data for _, parent, data in trees if parent == 0xFFFFFFFF)
    # struct tc_htb_glob, of which the third word is the default class.
    assert struct.unpack_from("=III", find(find(root, 2), 2))[2] == 0x12
    # struct tc_sizespec: overhead, cells (2: ATM), least size.
    assert struct.unpack_from("=iII", find(find(root, 8), 1), 4) == (0, 2, 64)
    (prio_options,) = (find(data, 2) for _, _, data in bands if find(data, 1) == b"prio\0")
    assert struct.unpack_from("=i16B", prio_options) == (2, *([1] * 16))
    (ets,) = (find(data, 2) for _, _, data in turns if find(data, 1) == b"ets\0")
    # linux/pkt_sched.h: TCA_ETS_NBANDS, NSTRICT, QUANTA (each after a header), PRIOMAP.
    assert (find(ets, 1)[0], find(ets, 2)[0]) == (3, 1)
    assert struct.unpack("=4I", find(ets, 3))[1::2] == (3000, 1500)
    assert find(ets, 5)[4::8] == bytes([2] * 16)
    (bucket,) = (find(data, 2) for _, _, data in tbf if find(data, 1) == b"tbf\0")
    rate, _, limit, burst, _ = rates(bucket, 1)
    assert (rate, bytes_in(burst, rate)) == (4e6, pytest.approx(20_000, abs=1))
    # 300 ms at the rate, and the burst (tc-tbf(8)).
    assert limit == 150_000 + 20_000
    ((_, _, data),) = debt
    rate, ceil, burst, cburst, *_ = rates(find(data, 2), 1)
    assert (rate, ceil) == (4e6, 4e6)
    assert [bytes_in(it, rate) for it in (burst, cburst)] == [pytest.approx(20_000, abs=1)] * 2


def in_netlink(case: str) -> dict[str, Any]:
    """The kind and the options that netlink must show, as the engine `linux` reads them back."""
    if by_hand := BY_HAND.get(case.partition(":")[0]):
        kind, options = by_hand
        names = ("attribute", "offset", "width", "shown")
        rows = [dict(zip(names, it, strict=True)) | {"name": f"{it}"} for it in options]
        return {"kind": kind, "options": rows}
    assert KERNEL is not None
    # tc cannot set the timer frequency, which the engine requires.
    is_timed = case.startswith(("pie", "fq_pie", "ared"))
    named = scenario(f"{case},hz={KERNEL.hz}" if is_timed else case)
    plan = json.loads(_core.linux_plan(named, KERNEL.hz, version=KERNEL.version))
    found: dict[str, Any] = plan.get("read_back") or plan["kernel_qdisc"]
    return found


def in_guest(folder, scenarios) -> list[tuple[str, list[Any], list[Any]]]:
    """For each scenario whose link is exported in a guest: errors, disciplines, classes."""
    (folder / "see").mkdir()
    (folder / "see" / "guest.py").write_text(GUEST)
    commands = {f"d{at}": exported(it, f"d{at}")[0] for at, it in enumerate(scenarios)}
    (folder / "see" / "commands.json").write_text(json.dumps(commands))
    (folder / "line.toml").write_text(TEXT.format(queue="taildrop", keys=""))
    see = folder / "see"
    result = sojourn.run_programs(
        folder / "line.toml",
        {"client": f"/usr/bin/python3 {see}/guest.py {see}/commands.json"},
        see=[see],
    )
    (row,) = result.programs.to_pylist()
    assert row["exit_code"] == 0, row["stderr"]
    read = json.loads(row["stdout"]).values()
    return [
        (error, *([(h, p, bytes.fromhex(data)) for h, p, data in part] for part in parts))
        for error, *parts in read
    ]

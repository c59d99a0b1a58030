"""Records of the engine linux other than the queue, and effects of its link other than queueing.

Both engines fill the same tables with the same arithmetic, and draw the same random numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

import sojourn
from guests import in_guest, needs_kernel, numbers
from sojourn import _core
from sojourn.errors import ScenarioError

TEXT = """
name = "recorded"
duration = "{duration}"
warmup = "{warmup}"
[record]
{record}
[engine.linux]
bottleneck = "{bottleneck}"
[links.bottleneck]
rate = {rate}
delay = "8ms"
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
BOTH = pytest.mark.parametrize(
    "bottleneck", ["kernel", pytest.param("sojourn", marks=pytest.mark.nightly)]
)


def scenario(
    bottleneck: str,
    *,
    flows: str = BULK,
    record: str = "",
    link: str = "",
    rate: str = '"10mbit"',
    queue: str = "taildrop:limit=100p",
    warmup: str = "1s",
    duration: str = "4s",
    folder: Path = Path(),
) -> _core.Scenario:
    text = TEXT.format(
        bottleneck=bottleneck, flows=flows, record=record, link=link, rate=rate, queue=queue,
        warmup=warmup, duration=duration,
    )  # fmt: skip
    return _core.Scenario.load(text, folder=str(folder))


@needs_kernel
@BOTH
def test_bins_are_those_of_the_simulator(bottleneck: str) -> None:
    given = scenario(bottleneck, flows=CBR, record='bins = "500ms"')
    run = in_guest(given)
    assert (run.invalid, run.warnings) == ([], [])
    real, own = (sojourn.Result(each).bins for each in (run, _core.run(given)))
    assert real.schema == own.schema
    real, own = real.to_pylist(), own.to_pylist()
    for row, expected in zip(real, own, strict=True):
        # One datagram of 500 B more or less in half a second.
        slack = {"bit/s": 8_000, "1": 0.0008}[row["unit"]]
        value, other = row.pop("value"), expected.pop("value")
        assert row == expected
        # In this scenario all propagation is before the queue, so the queue starts slightly later.
        if row["scope"] != "queue" or row["t_ns"] > 0:
            assert value == pytest.approx(other, abs=slack), row


@needs_kernel
@BOTH
def test_bins_of_a_greedy_flow_add_up_to_its_goodput(bottleneck: str) -> None:
    run = in_guest(scenario(bottleneck, record='bins = "500ms"'))
    rows = [row for row in sojourn.Result(run).bins.to_pylist() if row["t_ns"] >= 1_000_000_000]
    for scope, name, metric in (("class", "bulk", "goodput"), ("queue", "bottleneck", "throughput"),
                                ("queue", "bottleneck", "utilisation")):  # fmt: skip
        values = [row["value"] for row in rows if (row["scope"], row["metric"]) == (scope, metric)]
        assert len(values) == 6
        mean = sum(values) / len(values)
        assert mean == pytest.approx(numbers(run)[f"{scope}/{name}/{metric}"], rel=1e-9), metric


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
    # The forward path: 20 ms of propagation, 121 us on the access link of 100 Mbit/s, the queue,
    # and the packet's own 1.2 ms on the link.
    queue = real["queue/bottleneck/delay_mean"]
    assert real["class/bulk/owd_mean"] == pytest.approx(queue + 0.0213, abs=0.0005)
    # The reverse path: 20 ms, and every second segment's acknowledgement is delayed until the next
    # one.
    back = real["class/bulk/rtt_p50"] - real["class/bulk/owd_p50"]
    assert 0.0199 < back < 0.0225
    for metric in ("owd_p50", "rtt_p50"):
        key = f"class/bulk/{metric}"
        assert real[key] == pytest.approx(simulated[key], rel=0.1), key


LOSSES = {
    "bernoulli": 'loss = { kind = "bernoulli", rate = 0.05 }',
    "bursts": 'loss = { kind = "gilbert-elliott", enter = 0.02, leave = 0.2, bad = 0.9, '
    "good = 0.01 }",
}


@needs_kernel
@BOTH
@pytest.mark.parametrize("loss", LOSSES)
def test_the_same_packets_are_lost_as_in_the_simulator(bottleneck: str, loss: str) -> None:
    # Datagrams leave the link in the same order in both engines, so the n-th has the same draw.
    flows = CBR + 'stop = "3s"\n'
    given = scenario(
        bottleneck, flows=flows, link=LOSSES[loss], record='bins = "10ms"', warmup="0s"
    )
    run, own = in_guest(given), _core.run(given)
    assert run.invalid == []
    real, simulated = numbers(run), numbers(own)
    for metric in ("queue/bottleneck/wire_lost", "queue/bottleneck/wire_loss_rate",
                   "queue/bottleneck/drop_rate", "class/cbr/loss_rate"):  # fmt: skip
        assert real[metric] == simulated[metric], metric
    assert real["queue/bottleneck/wire_lost"] > 50
    # A loss on the wire is not a drop of the queue, but the receiver misses the packet.
    assert real["queue/bottleneck/drop_rate"] == 0
    assert real["class/cbr/loss_rate"] == real["queue/bottleneck/wire_loss_rate"]
    # Not only the number of lost datagrams agrees, but also their times: five per bin of 10 ms.
    received = [
        [row["value"] for row in sojourn.Result(each).bins.to_pylist() if row["scope"] == "flow"]
        for each in (run, own)
    ]
    assert received[0] == received[1]


@needs_kernel
@BOTH
def test_a_greedy_flow_is_held_back_by_random_loss_as_in_the_simulator(bottleneck: str) -> None:
    given = scenario(bottleneck, link=LOSSES["bernoulli"].replace("0.05", "0.01"))
    run = in_guest(given)
    own = numbers(_core.run(given))["class/bulk/goodput"]
    assert run.invalid == []
    assert own < 5e6
    assert numbers(run)["class/bulk/goodput"] == pytest.approx(own, rel=0.35)


@needs_kernel
@BOTH
@pytest.mark.parametrize("reorder", ["true", "false"])
def test_packets_are_as_late_as_in_the_simulator(bottleneck: str, reorder: str) -> None:
    jitter = f'jitter = {{ kind = "exponential", mean = "8ms", reorder = {reorder} }}'
    given = scenario(bottleneck, flows=CBR, link=jitter)
    run = in_guest(given)
    assert run.invalid == []
    real, own = numbers(run), numbers(_core.run(given))
    for metric in ("owd_mean", "owd_p50", "owd_p95", "owd_max"):
        key = f"class/cbr/{metric}"
        assert real[key] == pytest.approx(own[key], rel=0.01, abs=0.0003), key
    assert own["class/cbr/owd_p95"] > 0.04
    assert real["queue/bottleneck/wire_lost"] == 0


COPIES = "duplicate = { rate = 0.2, correlation = 0.1 }"


@needs_kernel
def test_our_router_copies_the_packets_that_the_simulator_copies() -> None:
    given = scenario("sojourn", flows=CBR, link=COPIES)
    run = in_guest(given)
    assert run.invalid == []
    real, own = numbers(run), numbers(_core.run(given))
    for key in ("queue/bottleneck/sent", "class/cbr/goodput", "class/cbr/loss_rate"):
        assert real[key] == pytest.approx(own[key], rel=0.002, abs=2e-6), key
    assert own["queue/bottleneck/sent"] > 0


def test_a_queue_in_the_kernel_gets_no_copies() -> None:
    with pytest.raises(ScenarioError, match=r'engine\.linux\.bottleneck = "sojourn"') as error:
        _core.linux_plan(scenario("kernel", flows=CBR, link=COPIES))
    assert error.value.place.endswith("links.bottleneck.duplicate")


TRACE = "\n".join(str(ms) for ms in (1, 2, 3, 4, 5, 5, 6, 7, 30, 31, 31, 32, 40)) + "\n"


@needs_kernel
def test_a_recorded_link_runs_under_the_kernels_tcp(tmp_path: Path) -> None:
    (tmp_path / "stop-and-go.down").write_text(TRACE)
    rate = '{ kind = "trace", file = "stop-and-go.down" }'
    given = scenario("sojourn", rate=rate, record="packets = true", folder=tmp_path)
    run = in_guest(given)
    assert run.invalid == []
    key = "queue/bottleneck/utilisation"
    assert numbers(run)[key] == pytest.approx(numbers(_core.run(given))[key], rel=0.02)
    rows = sojourn.Result(run).packets.to_pylist()
    sent_ns = [row["left_ns"] for row in rows if row["fate"] == "sent"]
    assert len(sent_ns) > 1000
    assert {ns % 40_000_000 // 1_000_000 for ns in sent_ns} == {0, *map(int, TRACE.split())} - {40}
    assert not any(ns % 1_000_000 for ns in sent_ns)
    facts = sojourn.Result(run).manifest["linux"]["bottleneck"]
    assert facts["sojourn"]["service"]["recorded"]["opportunities_ms"] is None


@needs_kernel
def test_a_recorded_link_delays_datagrams_as_in_the_simulator(tmp_path: Path) -> None:
    (tmp_path / "stop-and-go.down").write_text(TRACE)
    rate = '{ kind = "trace", file = "stop-and-go.down" }'
    given = scenario("sojourn", rate=rate, flows=CBR, folder=tmp_path)
    real, own = numbers(in_guest(given)), numbers(_core.run(given))
    # In the guest, datagrams reach the queue 14 ms later, the time of seven: they meet the same
    # opportunities.
    for metric in ("delay_mean", "delay_p50", "delay_p95", "delay_max", "utilisation", "drop_rate"):
        key = f"queue/bottleneck/{metric}"
        assert real[key] == pytest.approx(own[key], rel=0.002, abs=2e-6), key
    assert own["queue/bottleneck/delay_max"] > 0.02


def test_a_recorded_link_needs_our_router(tmp_path: Path) -> None:
    (tmp_path / "stop-and-go.down").write_text(TRACE)
    rate = '{ kind = "trace", file = "stop-and-go.down" }'
    with pytest.raises(ScenarioError, match=r'engine\.linux\.bottleneck = "sojourn"') as error:
        _core.linux_plan(scenario("kernel", rate=rate, folder=tmp_path))
    assert error.value.place.endswith("links.bottleneck.rate")


def test_a_buffer_below_the_queue_is_refused() -> None:
    with pytest.raises(ScenarioError, match="no buffer below the queue") as error:
        _core.linux_plan(scenario("kernel", link="device = { packets = 5 }"))
    assert error.value.place.endswith("links.bottleneck.device")


def test_a_policer_is_refused() -> None:
    with pytest.raises(ScenarioError, match="no policer") as error:
        _core.linux_plan(scenario("kernel", link='policer = { rate = "1mbit", burst = "9kB" }'))
    assert error.value.place.endswith("links.bottleneck.policer")


ASYMMETRIC = """
name = "asymmetric"
duration = "10s"
warmup = "2s"
[record]
packets = true
states = true
bins = "1s"
latency = true
[engine.linux]
bottleneck = "{bottleneck}"
[links.up]
rate = "150kbit"
delay = "5ms"
queue = "taildrop:limit=30p"
{link}
[links.down]
rate = "10mbit"
delay = "5ms"
queue = "codel@linux"
[[flows]]
name = "slowed"
path = ["down"]
reverse = ["up"]
rtt = "40ms"
cc = "reno"
tcp = "linux"
app = {app}
[[flows]]
path = ["down"]
rtt = "40ms"
app = {{ kind = "cbr", rate = "87kbit", packet = "218B" }}
"""


def asymmetric(
    bottleneck: str = "sojourn", link: str = "", app: str = '{ kind = "bulk" }'
) -> _core.Scenario:
    return _core.Scenario.load(ASYMMETRIC.format(bottleneck=bottleneck, link=link, app=app))


@pytest.mark.slow
@needs_kernel
@BOTH
@pytest.mark.nightly
def test_acknowledgements_queue_and_drop_on_the_way_back(bottleneck: str) -> None:
    given = asymmetric(bottleneck)
    run, own = in_guest(given), _core.run(given)
    assert run.invalid == []
    real, simulated = numbers(run), numbers(own)
    assert simulated["queue/up/utilisation"] > 0.9
    assert real["queue/up/utilisation"] == pytest.approx(simulated["queue/up/utilisation"], rel=0.1)
    # One flow and one seed; `sojourn agree` measures agreement over several.
    for key in ("queue/down/utilisation", "class/slowed/goodput", "queue/up/delay_mean"):
        assert real[key] == pytest.approx(simulated[key], rel=0.25), key
    assert real["queue/up/drop_rate"] > 0.01
    # The RTT includes the queue of the reverse path, the one-way delay does not.
    back = real["class/slowed/rtt_mean"] - real["class/slowed/owd_mean"]
    assert back > 0.02 + 0.8 * real["queue/up/delay_mean"]
    tables = [sojourn.Result(each) for each in (run, own)]
    for name in ("packets", "states", "bins"):
        rows = [getattr(table, name) for table in tables]
        assert rows[0].schema == rows[1].schema, name
    found = [
        [(row["queue"], row["var"], row["t_ns"]) for row in table.states.to_pylist()]
        for table in tables
    ]
    if bottleneck == "sojourn":
        assert found[0] == found[1]
    else:  # the kernel does not report the variables of its discipline
        assert [row for row in found[0] if row[0] == "up"] == [
            row for row in found[1] if row[0] == "up"
        ]
        said = (
            "links.up: its queue is our router's; the kernel's own is on the way to the receivers"
        )
        assert said in run.warnings
    # The number of an acknowledgement is that of the acknowledged data, so it never exceeds the
    # data.
    rows = tables[0].packets.to_pylist()
    latest = {queue: max(r["seq"] for r in rows if (r["queue"], r["flow"]) == (queue, "slowed"))
              for queue in ("up", "down")}  # fmt: skip
    assert 0 < latest["up"] <= latest["down"] + 1


@pytest.mark.slow
@needs_kernel
@pytest.mark.nightly
def test_the_wire_of_the_way_back_loses_as_well() -> None:
    run = in_guest(asymmetric(link=LOSSES["bernoulli"]))
    assert run.invalid == []
    found = numbers(run)
    assert found["queue/up/wire_loss_rate"] == pytest.approx(0.05, abs=0.02)
    assert "queue/down/wire_lost" not in found


def test_web_pages_over_a_queue_on_the_way_back_are_refused() -> None:
    with pytest.raises(ScenarioError, match="not repeated") as error:
        _core.linux_plan(asymmetric(app='{ kind = "web" }'))
    assert error.value.place.endswith("flows[0].reverse")


JOINED = """
name = "joined"
duration = "4s"
[record]
packets = true
[links.bottleneck]
rate = "2mbit"
queue = "taildrop:limit=6p"
[[flows]]
path = ["bottleneck"]
access = { sender = "2.5ms", receiver = "0s" }
access_rate = "10gbit"
cc = "reno"
app = { kind = "bulk" }
"""


@needs_kernel
def test_the_backlog_is_joined_next_to_the_packet_record() -> None:
    given = _core.Scenario.load(JOINED)
    real, own = (sojourn.Result(run).packets for run in (in_guest(given), _core.run(given)))
    # The receiver's free memory determines what is acknowledged together (fact linux-38).
    for column in ("seq", "fate"):
        assert real[column].to_pylist() == own[column].to_pylist()
    assert own.num_rows > 600


@needs_kernel
@pytest.mark.nightly
def test_a_flow_of_more_packets_than_identifications_keeps_its_delays_and_drops() -> None:
    """96,000 datagrams, of which five of seven are dropped; IPv4 has 65,536 numbers."""
    flood = """
[[flows]]
path = ["bottleneck"]
rtt = "40ms"
app = { kind = "cbr", rate = "35mbit", packet = "100B" }
"""
    given = scenario(
        "kernel", flows=flood, queue="taildrop:limit=100kB", warmup="1.9s", duration="2.2s"
    )
    run = in_guest(given)
    assert run.invalid == []
    real, own = numbers(run), numbers(_core.run(given))
    for metric in ("delay_mean", "delay_p95", "drop_rate"):
        key = f"queue/bottleneck/{metric}"
        assert real[key] == pytest.approx(own[key], rel=0.02), metric
    assert real["queue/bottleneck/delay_max"] < 0.0802  # 100 kB at 10 Mbit/s

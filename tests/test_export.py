"""Results and links in the formats of other tools."""

from __future__ import annotations

import csv
import gzip
import json
import math
from pathlib import Path

import pytest

import sojourn
from sojourn.describing import library
from sojourn.errors import InputError
from sojourn.exporting import flent, mahimahi, tables
from sojourn.importing import read
from sojourn.running.result import Result

# A run shorter than one of Flent's steps.
SHORT = {"record.flows": True, "duration": "100ms", "flows.up.start": "0s"}

BOTH = """
name = "both"
duration = "20s"
warmup = "0s"

[links.down]
rate = "10mbit"
buffer = "100p"

[links.up]
rate = "2mbit"
buffer = "100p"

[[flows]]
name = "down"
count = 2
path = ["down"]
reverse = ["up"]
rtt = "40ms"
start = "5s"
app = { kind = "bulk" }

[[flows]]
name = "up"
path = ["up"]
reverse = ["down"]
rtt = "40ms"
start = "5s"
app = { kind = "bulk" }

[[flows]]
name = "ping"
path = ["up"]
reverse = ["down"]
rtt = "40ms"
app = { kind = "echo", interval = "200ms" }

[[flows]]
name = "call"
path = ["down"]
rtt = "40ms"
app = { kind = "cbr", rate = "64kbit", packet = "200B" }
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that recorded its flows."""
    folder = tmp_path_factory.mktemp("export")
    (folder / "both.toml").write_text(BOTH)
    sojourn.run(folder / "both.toml", sets={"record.flows": True}, out=folder / "run")
    return folder / "run"


def series_of(content: bytes) -> dict[str, list[float | None]]:
    return json.loads(gzip.decompress(content))["results"]


def delivered(result: Result, until_s: float = math.inf) -> dict[str, int]:
    """The bytes that each flow delivered until a time."""
    rows = result.rows("flows")
    return {row["flow"]: row["delivered_bytes"] for row in rows if row["t_ns"] / 1e9 <= until_s}


def test_a_flent_file_has_rates_and_pings_of_the_run(saved: Path) -> None:
    result = Result.open(saved)
    content, left_out = flent.data(result)
    series = series_of(content)
    assert {"TCP download BE", "TCP download BE2", "TCP upload BE", "Ping (ms) ICMP"} <= set(series)
    last = delivered(result, json.loads(gzip.decompress(content))["x_values"][-1])
    sent = sum(value for value in series["TCP upload sum"] if value is not None) * 1e6 / 8 * 0.2
    assert sent == pytest.approx(last["up"], rel=1e-9)
    idle = [value for value in series["Ping (ms) ICMP"][:24] if value is not None]
    assert idle == pytest.approx([40.2] * len(idle), abs=0.6)
    assert len(idle) == 24
    assert left_out == ["call: flows of `cbr` have no place in Flent's tests"]


def test_what_flent_reads_we_read_back(saved: Path, tmp_path: Path) -> None:
    content, _ = flent.data(Result.open(saved))
    (tmp_path / "both.flent.gz").write_bytes(content)
    measured = read(tmp_path / "both.flent.gz")
    assert measured.base_rtt_s == pytest.approx(0.04, abs=0.001)
    assert measured.up is not None
    assert measured.up.mean == pytest.approx(8 * delivered(Result.open(saved))["up"] / 15, rel=0.02)


CALL = """
name = "call"
duration = "12s"
links.down = { rate = "1mbit", buffer = "50p" }
flows = [
    { name = "call", path = ["down"], rtt = "40ms", app = { kind = "cbr", rate = "87kbit", \
packet = "218B", voice = true } },
    { name = "load", path = ["down"], rtt = "40ms", start = "4s", app = { kind = "bulk" } },
]
"""


def test_a_call_has_flents_series_of_delay_jitter_and_loss(tmp_path: Path) -> None:
    (tmp_path / "call.toml").write_text(CALL)
    result = sojourn.run(tmp_path / "call.toml", sets={"record.flows": True})
    content, left_out = flent.data(result)
    facts = json.loads(gzip.decompress(content))
    assert facts["metadata"]["NAME"] == "voip-rrul" and not left_out
    delay = facts["results"]["VoIP::delay"]
    assert delay[5:18] == pytest.approx([21.8] * 13, abs=0.3)
    assert max(value for value in delay if value is not None) > 200
    packets = facts["raw_values"]["VoIP"]
    lost = [packet for packet in packets if packet.get("lost")]
    assert len(lost) == sum(facts["results"]["VoIP::loss"])
    arrived = len(packets) - len(lost)
    assert arrived * 190 == pytest.approx(delivered(result, facts["x_values"][-1])["call"], abs=190)
    assert [packet["seq"] for packet in packets] == list(range(len(packets)))


def test_rrul_is_the_test_rrul(tmp_path: Path) -> None:
    result = sojourn.run("rrul", sets={"record.flows": True, "duration": "15s"})
    content, left_out = flent.data(result)
    facts = json.loads(gzip.decompress(content))
    assert facts["metadata"]["NAME"] == "rrul"
    pings = [label for label in facts["results"] if label.startswith("Ping")]
    assert pings == [
        "Ping (ms) ICMP", "Ping (ms) UDP BE", "Ping (ms) UDP BK", "Ping (ms) UDP EF",
        "Ping (ms) avg",
    ]  # fmt: skip
    assert not left_out


def test_a_run_without_samples_or_with_too_many_flows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "both.toml").write_text(BOTH)
    with pytest.raises(InputError, match="--record flows"):
        flent.data(sojourn.run(tmp_path / "both.toml", sets={"duration": "6s"}))
    assert flent.data(sojourn.run(tmp_path / "both.toml", sets=SHORT))
    many = {"record.flows": True, "duration": "6s", "flows.down.count": 5}
    with pytest.raises(InputError, match="no test with 5 downloads and 1 uploads"):
        flent.data(sojourn.run(tmp_path / "both.toml", sets=many))


def test_csv_has_every_value_of_every_table(saved: Path, tmp_path: Path) -> None:
    result = Result.open(saved)
    written = tables.write(saved, tmp_path / "csv")
    assert {path.stem for path in written} == {path.stem for path in saved.glob("*.parquet")}
    with (tmp_path / "csv" / "flows.csv").open() as file:
        rows = list(csv.DictReader(file))
    expected = result.rows("flows")
    assert len(rows) == len(expected)
    assert all(
        int(row["delivered_bytes"]) == true["delivered_bytes"] and row["flow"] == true["flow"]
        for row, true in zip(rows, expected, strict=True)
    )


def test_csv_of_a_comparison_says_whose_each_row_is(tmp_path: Path) -> None:
    (tmp_path / "both.toml").write_text(BOTH)
    sojourn.compare(
        tmp_path / "both.toml", "taildrop,codel", 2, link="down", sets={"duration": "6s"},
        out=tmp_path / "out",
    ).save(tmp_path / "out", formats=())  # fmt: skip
    tables.write(tmp_path / "out", tmp_path / "csv")
    with (tmp_path / "csv" / "summary.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {(row["contender"], row["replica"]) for row in rows} == {
        (aqm, seed) for aqm in ("taildrop", "codel") for seed in "12"
    }


def test_a_folder_without_a_result_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no result"):
        tables.write(tmp_path, tmp_path / "csv")
    assert not (tmp_path / "csv").exists()


def test_a_mahimahi_trace_carries_the_rate_of_each_step() -> None:
    text = mahimahi.trace(library.load("rate-steps", {}))
    times = [int(line) for line in text.splitlines()]
    for begin, rate in ((0, 100e6), (50_000, 20e6), (100_000, 100e6)):
        sent = sum(begin < ms <= begin + 10_000 for ms in times)
        assert sent == pytest.approx(rate * 10 / 12_000, abs=1)
    with pytest.raises(InputError, match="name one of down, up"):
        mahimahi.trace(library.load("rrul", {}))


def test_a_rate_that_changes_within_a_millisecond_counts_for_its_part() -> None:
    steps = {"kind": "schedule", "steps": [["0s", "12mbit"], ["1500us", "0bit"], ["3s", "12mbit"]]}
    sets = {"links.bottleneck.rate": steps, "duration": "4s", "warmup": "0s"}
    times = mahimahi.trace(library.load("dumbbell-reno", sets)).splitlines()
    # One packet per millisecond: one and a half before the outage, the other half after it.
    assert times[:3] == ["1", "3001", "3002"]


def test_a_mahimahi_trace_repeats_where_the_scenario_ends() -> None:
    sets = {"links.bottleneck.rate": "7mbit", "duration": "101ms", "warmup": "0s"}
    with pytest.raises(InputError, match="set duration=100ms"):
        mahimahi.trace(library.load("dumbbell-reno", sets))


@pytest.mark.parametrize(("rate", "seconds"), [("20mbit", 600), ("7mbit", 60), ("12mbit", 1)])
def test_a_mahimahi_trace_carries_every_packet_to_its_last_millisecond(rate, seconds) -> None:
    sets = {"links.bottleneck.rate": rate, "duration": f"{seconds}s", "warmup": "0s"}
    lines = mahimahi.trace(library.load("dumbbell-reno", sets)).splitlines()
    assert len(lines) == int(rate.removesuffix("mbit")) * 1_000_000 * seconds // 12_000
    assert lines[-1] == str(1000 * seconds)


def test_a_trace_that_is_read_back_has_the_rate_of_its_link(tmp_path: Path) -> None:
    sets = {"links.bottleneck.rate": "12mbit", "duration": "1s", "warmup": "0s"}
    (tmp_path / "link.trace").write_text(mahimahi.trace(library.load("dumbbell-reno", sets)))
    text = (
        'name = "back"\nduration = "10s"\n[links.l]\ndelay = "0ms"\nbuffer = "1500kB"\n'
        'rate = { kind = "trace", file = "link.trace" }\n[[flows]]\nname = "f"\npath = ["l"]\n'
        'rtt = "10ms"\napp = { kind = "cbr", rate = "24mbit", packet = "1500B" }\n'
        "[record]\npackets = true\n"
    )
    (tmp_path / "back.toml").write_text(text)
    packets = sojourn.run(tmp_path / "back.toml").columns("packets")
    pairs = zip(packets["left_ns"], packets["fate"], strict=True)
    left = sorted(ns for ns, fate in pairs if fate == "sent")
    # One packet in every millisecond, including the last one of each period.
    assert left == [1_000_000 * ms for ms in range(left[0] // 1_000_000, 10_000)]


def test_a_duration_that_is_no_whole_millisecond_is_refused() -> None:
    sets = {"links.bottleneck.rate": "12mbit", "duration": "100.4ms", "warmup": "0s"}
    with pytest.raises(InputError, match=r"is not a whole number of milliseconds.*duration=100ms"):
        mahimahi.trace(library.load("dumbbell-reno", sets))

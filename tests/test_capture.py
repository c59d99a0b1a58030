"""Captures of simulated runs: checked by tshark, and errors of the command."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sojourn
from sojourn import cli
from sojourn.errors import InputError

SCENARIO = """
name = "line"
duration = "3s"

[links.cell]
rate = "8mbit"
delay = "10ms"
queue = "codel"

[[flows]]
name = "bulk"
path = ["cell"]
rtt = "40ms"
cc = "cubic"
app = { kind = "bulk" }

[[flows]]
name = "call"
path = ["cell"]
rtt = "40ms"
app = { kind = "cbr", rate = "87kbit", packet = "218B" }
"""

# Wireshark's messages about losses and retransmissions; any other message is an error of headers.
OF_LOSS = ("retransmission", "out-of-order", "Duplicate ACK", "Previous segment")

FIN = "Connection finish (FIN),This frame initiates the connection closing"

# Scenarios with marks and accurate feedback, with transfers that end, and with losses of both.
CLOSING = """
name = "closing"
duration = "4s"

[links.cell]
rate = "8mbit"
delay = "10ms"
queue = "codel:ecn=true"
loss = { kind = "bernoulli", rate = 0.01 }

[[flows]]
name = "scalable"
path = ["cell"]
rtt = "40ms"
cc = "prague"
app = { kind = "bulk" }

[[flows]]
name = "short"
count = 8
path = ["cell"]
rtt = "40ms"
app = { kind = "transfers", every = "200ms", sizes = ["9kB", "90kB"] }
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "line.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def tshark() -> Iterator[str]:
    found = shutil.which("tshark")
    if found is None:
        pytest.skip("no tshark; install the package tshark")
    yield found


def test_a_capture_is_of_the_run(scenario: Path, tmp_path: Path) -> None:
    made = sojourn.capture(scenario, tmp_path / "out")
    assert made.digest == sojourn.run(scenario, store=None).manifest["digest"]
    names = [path.name for path in made.files]
    assert names == ["sender.pcapng", "receiver.pcapng", "cell-in.pcapng", "cell-out.pcapng"]
    again = sojourn.capture(scenario, tmp_path / "again")
    for path, other in zip(made.files, again.files, strict=True):
        assert path.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("text", [SCENARIO, CLOSING])
def test_wireshark_finds_nothing_but_loss_and_its_repair(
    text: str, scenario: Path, tmp_path: Path, tshark: str
) -> None:
    scenario.write_text(text)
    for path in sojourn.capture(scenario, tmp_path / "out").files:
        checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
        shown = ["-Y", "_ws.expert.severity>=4194304", "-T", "fields", "-e", "_ws.expert.message"]
        ran = subprocess.run(
            [tshark, "-r", str(path), *checks, *shown], capture_output=True, text=True, check=True
        )
        found = [
            line
            for line in ran.stdout.splitlines()
            if "dropped by codel" not in line and line != FIN
        ]
        assert not [line for line in found if not any(word in line for word in OF_LOSS)], path


def test_the_command_writes_captures_next_to_its_table(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "captures"
    arguments = ["run", str(scenario), "--aqm", "pie", "--pcap", str(folder)]
    assert cli.main([*arguments, "--pcap-format", "pcap"]) == 0
    assert (folder / "cell-out.pcap").read_bytes()[:4] == b"\x4d\x3c\xb2\xa1"
    printed = capsys.readouterr()
    assert "4 captures" in printed.err
    assert "goodput" in printed.out


def test_captures_are_refused_where_they_cannot_be_made(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = tmp_path / "file"
    taken.write_text("")
    assert cli.main(["run", str(scenario), "--pcap", str(taken)]) == 2
    with pytest.raises(InputError, match="file_format txt"):
        sojourn.capture(scenario, tmp_path / "x", file_format="txt")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the packets of a capture take"):
        sojourn.capture(scenario, tmp_path / "x", memory="10kB")


def test_qlog_tells_of_every_transmission_once(scenario: Path, tmp_path: Path) -> None:
    scenario.write_text(CLOSING)
    folder = tmp_path / "logs"
    assert cli.main(["run", str(scenario), "--qlog", str(folder)]) == 0
    result = sojourn.run(scenario, store=None)
    made = sojourn.capture(scenario, folder, file_format="qlog")
    assert made.digest == result.manifest["digest"]
    log = json.loads((folder / "scalable.qlog").read_text())
    assert log["qlog_version"] == "0.3"
    (trace,) = log["traces"]
    events: dict[str, list[Any]] = {}
    for event in trace["events"]:
        events.setdefault(event["name"], []).append(event["data"])
    sent = [data["header"]["packet_number"] for data in events["transport:packet_sent"]]
    assert sent == list(range(len(sent)))
    lost = [data["header"]["packet_number"] for data in events["recovery:packet_lost"]]
    acked = [
        number
        for data in events["transport:packet_received"]
        for frame in data["frames"]
        for first, last in frame["acked_ranges"]
        for number in range(first, last + 1)
    ]
    assert len(set(acked)) == len(acked) and len(set(lost)) == len(lost) > 0
    assert not set(acked) & set(lost) and set(acked) | set(lost) < set(sent)
    assert any(data["congestion_window"] > 20_000 for data in events["recovery:metrics_updated"])
    times = [event["time"] for event in trace["events"]]
    assert times == sorted(times)
    assert len(made.files) == 9


def test_qlog_has_the_statistics_of_a_transport_library(scenario: Path, tmp_path: Path) -> None:
    text = (
        'name = "quic"\nduration = "3s"\n[links.a]\nrate = "10mbit"\ndelay = "10ms"\n'
        'buffer = "50p"\n[[flows]]\nname = "quic"\npath = ["a"]\nrtt = "40ms"\n'
        'transport = "quic"\napp = { kind = "bulk" }\n'
    )
    scenario.write_text(text)
    options = ["run", str(scenario), "--endpoint", "quic=quinn", "--qlog", str(tmp_path / "logs")]
    assert cli.main(options) == 0
    (trace,) = json.loads((tmp_path / "logs" / "quic.qlog").read_text())["traces"]
    assert trace["common_fields"]["protocol_type"] == ["QUIC"]
    assert {event["name"] for event in trace["events"]} == {"recovery:metrics_updated"}
    found = [event["data"] for event in trace["events"]]
    assert any(data["congestion_window"] > 30_000 for data in found)
    assert all(data["smoothed_rtt"] >= 40 for data in found if "smoothed_rtt" in data)


def test_qlog_needs_a_tcp_flow(scenario: Path, tmp_path: Path) -> None:
    text = SCENARIO.split("[[flows]]")
    scenario.write_text(text[0] + "[[flows]]" + text[2])
    with pytest.raises(InputError, match="no flow of TCP"):
        sojourn.capture(scenario, tmp_path / "logs", file_format="qlog")

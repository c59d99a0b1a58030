"""Captures of simulated runs: checked by tshark, and errors of the command."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

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

# Wireshark's view of losses and retransmissions; anything else is an error of the headers.
OF_LOSS = ("retransmission", "out-of-order", "Duplicate ACK", "Previous segment")


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


def test_wireshark_finds_nothing_but_loss_and_its_repair(
    scenario: Path, tmp_path: Path, tshark: str
) -> None:
    for path in sojourn.capture(scenario, tmp_path / "out").files:
        checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
        shown = ["-Y", "_ws.expert.severity>=4194304", "-T", "fields", "-e", "_ws.expert.message"]
        ran = subprocess.run(
            [tshark, "-r", str(path), *checks, *shown], capture_output=True, text=True, check=True
        )
        found = [line for line in ran.stdout.splitlines() if "dropped by codel" not in line]
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
    assert cli.main(["run", str(scenario), "--pcap", str(tmp_path / "x"), "--engine", "ns3"]) == 2
    assert "--pcap: only engine sim writes captures" in capsys.readouterr().err
    assert cli.main(["run", str(scenario), "--pcap", str(taken)]) == 2
    with pytest.raises(InputError, match="file_format txt"):
        sojourn.capture(scenario, tmp_path / "x", file_format="txt")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the packets of a capture take"):
        sojourn.capture(scenario, tmp_path / "x", memory="10kB")

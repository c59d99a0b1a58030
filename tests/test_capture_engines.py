"""Captures of the engines linux and ns3: real packets with their fate, checked by tshark."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import sojourn
from guests import IN_GUEST, needs_kernel
from sojourn import cli
from sojourn.errors import InputError
from test_capture import FIN, OF_LOSS
from test_ns3_engine import needs_runner

SCENARIO = """
name = "line"
duration = "3s"

[record]
packets = true

[links.down]
rate = "8mbit"
delay = "10ms"
framing = "2B"
queue = "codel{dialect}:ecn=true"

[links.up]
rate = "1mbit"
delay = "10ms"
framing = "2B"
queue = "codel"

[[flows]]
name = "bulk"
path = ["down"]
reverse = ["up"]
rtt = "40ms"
cc = "cubic"
app = {{ kind = "bulk" }}

[[flows]]
name = "ecn"
path = ["down"]
reverse = ["up"]
rtt = "40ms"
cc = "cubic"
ecn = true
app = {{ kind = "files", sizes = ["90kB"], think = "200ms" }}

[[flows]]
name = "call"
path = ["down"]
rtt = "40ms"
reverse = ["up"]
app = {{ kind = "cbr", rate = "87kbit", packet = "218B" }}

[engine.linux]
bottleneck = "{bottleneck}"
"""

ENGINES = [
    pytest.param("linux", "kernel", "@linux", marks=IN_GUEST),
    pytest.param("linux", "sojourn", "", marks=IN_GUEST),
    pytest.param("ns3", "kernel", "", marks=needs_runner),
]
PLACES = ["sender", "receiver", "down-in", "down-out", "up-in", "up-out"]
CLOSING = (FIN, "Connection finish (FIN),This frame undergoes the connection closing")
# ns-3.44's TCP sends no such option; a SYN need not have it (RFC 9293 section 3.7.1).
NO_MSS = "The SYN packet does not contain a MSS option"
# It answers acknowledgements after the end of a connection (`TcpSocketBase::SendRST`,
# `TcpL4Protocol::NoEndPointsFound`) by segments without ACK whose acknowledgement number is not 0.
RESETS = ("Connection reset (RST)", "The acknowledgment number field is nonzero while the ACK flag")
OF_NS3 = (NO_MSS, *RESETS)
FATE = re.compile(rb"(dropped|marked) by codel\S* of link down")


@pytest.fixture
def scenario(tmp_path: Path, bottleneck: str, dialect: str) -> Path:
    path = tmp_path / "line.toml"
    path.write_text(SCENARIO.format(bottleneck=bottleneck, dialect=dialect))
    return path


def blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    data, at = path.read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        yield kind, data[at + 8 : at + length - 4]
        at += length


def packets(path: Path) -> Iterator[tuple[bytes, int]]:
    """The captured bytes of each packet, and its length."""
    for kind, body in blocks(path):
        if kind == 6:
            captured, length = struct.unpack_from("<II", body, 12)
            yield body[20 : 20 + captured], length


def identities(path: Path) -> list[tuple[bytes, bool]]:
    """A unique key of each packet, and whether it was dropped."""
    found = []
    for kind, body in blocks(path):
        if kind == 6:
            data, fate = body[20:], FATE.search(body)
            found.append(
                (data[4:6] + data[9:10] + data[12:32], bool(fate) and fate[1] == b"dropped")
            )
    return found


def ones_sum(data: bytes) -> int:
    """RFC 1071."""
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@pytest.mark.parametrize(("engine", "bottleneck", "dialect"), ENGINES)
def test_real_packets_have_valid_checksums_and_their_fate(
    engine: str, bottleneck: str, scenario: Path, tmp_path: Path
) -> None:
    made = sojourn.capture(scenario, tmp_path / "out", engine=engine)
    assert [path.stem for path in made.files] == PLACES
    again = sojourn.capture(scenario, tmp_path / "again", engine=engine)
    count = {}
    for path, other in zip(made.files, again.files, strict=True):
        assert path.read_bytes() == other.read_bytes()
        (section, *_) = blocks(path)
        assert f"engine {engine}: real packets".encode() in section[1]
        seen = list(packets(path))
        count[path.stem] = len(seen)
        for data, length in seen:
            assert ones_sum(data[:20]) == 0xFFFF
            # The payload of our programs and of ns-3's is zeros.
            segment = data[20:] + bytes(length - len(data))
            pseudo = data[12:20] + struct.pack(">HH", data[9], length - 20)
            assert data[9] != 6 or ones_sum(pseudo + segment) == 0xFFFF
    told = (tmp_path / "out" / "down-in.pcapng").read_bytes()
    fates = FATE.findall(told)
    dropped, marked = fates.count(b"dropped"), fates.count(b"marked")
    assert dropped > 0 and marked > 0
    arrived = identities(tmp_path / "out" / "down-in.pcapng")
    left = {who for who, _ in identities(tmp_path / "out" / "down-out.pcapng")}
    stayed = [at for at, (who, lost) in enumerate(arrived) if not lost and who not in left]
    assert stayed == list(range(len(arrived) - len(stayed), len(arrived))), "not those in the queue"
    assert count["down-in"] == count["down-out"] + dropped + len(stayed)
    is_told = (engine, bottleneck) != ("linux", "kernel")
    assert (b"whose kernel does not tell why" in told) == (not is_told)
    assert (b"at dequeue, deterministic, after" in told) == is_told
    assert (b"; dropping 1, count" in told) == (bottleneck == "sojourn")


@pytest.mark.parametrize(("engine", "bottleneck", "dialect"), ENGINES)
def test_wireshark_finds_nothing_but_loss_and_its_repair(
    engine: str, scenario: Path, tmp_path: Path
) -> None:
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("no tshark; install the package tshark")
    for path in sojourn.capture(scenario, tmp_path / "out", engine=engine).files:
        checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
        shown = ["-Y", "_ws.expert.severity>=4194304", "-T", "fields", "-e", "_ws.expert.message"]
        command = [tshark, "-r", str(path), *checks, *shown]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found = [line for line in lines.splitlines() if line not in CLOSING]
        allowed = (*OF_LOSS, "dropped by", "marked by", *(OF_NS3 if engine == "ns3" else []))
        assert not [line for line in found if not any(word in line for word in allowed)], path


@needs_kernel
@pytest.mark.parametrize(("bottleneck", "dialect"), [("sojourn", "")])
def test_packets_of_programs_are_captured(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "captures"
    arguments = ["exec", str(scenario), "--replace", "bulk", "--pcap", str(folder)]
    arguments += ["--server", "sleep 9", "--client", "python3 -c 'import socket as s; "
                  's.socket(2, 2).sendto(b"ping" * 10, ("server", 7))\'; sleep 1']  # fmt: skip
    assert cli.main(arguments) == 0
    assert "6 captures" in capsys.readouterr().err
    ping = b"ping" * 10
    for place, count in (("sender", 1), ("receiver", 1), ("up-in", 1), ("down-in", 0)):
        seen = [data for data, _ in packets(folder / f"{place}.pcapng") if ping in data]
        assert len(seen) == count, place
    assert cli.main([*arguments, "--seeds", "2"]) == 2
    assert "--pcap: is of one run" in capsys.readouterr().err


@pytest.mark.parametrize(("bottleneck", "dialect"), [("kernel", "@linux")])
def test_other_engines_log_no_senders(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match="only engine sim logs senders, not ns3"):
        sojourn.capture(scenario, tmp_path / "x", engine="ns3", file_format="qlog")
    assert cli.main(["run", str(scenario), "--qlog", str(tmp_path), "--engine", "linux"]) == 2
    assert "--qlog: only engine sim logs senders" in capsys.readouterr().err

"""`sojourn import` of captures: exact values from our own, other link types, damaged files."""

from __future__ import annotations

import bz2
import gzip
import json
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import sojourn
from sojourn import cli
from sojourn.errors import InputError
from sojourn.importing import Assumptions, Measurement, imported, read
from sojourn.running.runs import load

SCENARIO = """
name = "line"
duration = "6s"

[links.down]
rate = "8mbit"
delay = "10ms"
queue = "codel"

[links.up]
rate = "2mbit"
delay = "10ms"

[[flows]]
name = "bulk"
count = 2
path = ["down"]
reverse = ["up"]
rtt = "40ms"
ecn = true
app = { kind = "bulk" }

[[flows]]
name = "short"
count = 12
path = ["down"]
reverse = ["up"]
rtt = "60ms"
app = { kind = "transfers", every = "200ms", sizes = ["20kB", "90kB"] }

[[flows]]
name = "call"
path = ["down"]
rtt = "40ms"
dscp = "ef"
app = { kind = "cbr", rate = "87kbit", packet = "218B" }

[record]
packets = true
flows = true
"""


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, sojourn.Result]:
    folder = tmp_path_factory.mktemp("captured")
    scenario = folder / "line.toml"
    scenario.write_text(SCENARIO)
    sojourn.capture(scenario, folder)
    return folder, sojourn.run(scenario, store=None)


def details(path: Path) -> dict[str, Any]:
    found = read(path).details
    assert found is not None
    return found


GROUPS = {"10.1.0.1": "bulk", "10.1.0.2": "short", "10.1.0.3": "call"}


def group(flow: dict[str, Any]) -> str:
    return GROUPS[flow["client"].partition(":")[0]]


def test_a_capture_at_a_queue_has_the_flows_packets_and_bytes_of_the_run(
    captured: tuple[Path, sojourn.Result],
) -> None:
    folder, result = captured
    rows = result.to_pandas("packets")
    for link, ns_per_byte in (("down", 1000), ("up", 4000)):
        at_link = rows[rows["queue"] == link]
        # A packet has left when its last bit has been sent.
        ends = at_link["left_ns"] + ns_per_byte * at_link["bytes"]
        left = at_link[(at_link["fate"] == "sent") & (ends <= 6_000_000_000)]
        for side, table in (("in", at_link), ("out", left)):
            expected = Counter(
                (str(name).partition(".")[0], len(one), int(one["bytes"].sum()))
                for name, one in table.groupby("flow", observed=True)
            )
            found = Counter(
                (
                    group(flow),
                    *(flow["up"][key] + flow["down"][key] for key in ("packets", "bytes")),
                )
                for flow in details(folder / f"{link}-{side}.pcapng")["flows"]
            )
            assert found == expected, (link, side)


def test_a_capture_at_the_receiver_has_the_bytes_of_the_transfers(
    captured: tuple[Path, sojourn.Result],
) -> None:
    folder, result = captured
    transfers = result.to_pandas("transfers")
    flows = details(folder / "receiver.pcapng")["flows"]
    found = [flow["up"]["unique_bytes"] for flow in flows if group(flow) == "short"]
    assert sorted(found) == sorted(transfers["bytes"])
    last = result.to_pandas("flows").groupby("flow", observed=True).last()
    bulk = sum(flow["up"]["unique_bytes"] for flow in flows if group(flow) == "bulk")
    assert bulk >= last.loc[["bulk.1", "bulk.2"], "delivered_bytes"].sum() > 0


def test_the_traffic_of_a_capture_runs_again(
    captured: tuple[Path, sojourn.Result], tmp_path: Path
) -> None:
    folder, _ = captured
    target = tmp_path / "again.toml"
    source = str(folder / "sender.pcapng")
    assert cli.main(["import", source, "--rate", "8mbit", "-o", str(target)]) == 0
    text = target.read_text()
    assert "handshake" not in text and "dscp = 46" in text and "ecn = true" in text
    result = sojourn.run(target, store=None)
    assert not result.warnings
    sizes = sorted(result.to_pandas("transfers")["bytes"])
    flows = details(folder / "sender.pcapng")["flows"]
    assert sizes == sorted(flow["up"]["unique_bytes"] for flow in flows if flow["protocol"] == 6)


def test_replayed_packets_arrive_as_they_were_captured(
    captured: tuple[Path, sojourn.Result], tmp_path: Path
) -> None:
    folder, _ = captured
    target = tmp_path / "packets.toml"
    source = str(folder / "down-in.pcapng")
    assert cli.main(["import", source, "--as", "packets", "-o", str(target)]) == 0
    result = sojourn.run(target, store=None)
    flows = details(folder / "down-in.pcapng")["flows"]
    assert result.summary["queue/up/arrived"] == sum(flow["up"]["packets"] for flow in flows)
    assert "open-loop" in target.read_text()


def test_the_page_of_a_capture_compares_what_was_captured(
    captured: tuple[Path, sojourn.Result], tmp_path: Path
) -> None:
    source, page = captured[0] / "receiver.pcapng", tmp_path / "page.html"
    target = str(tmp_path / "again.toml")
    assert cli.main(["import", str(source), "-o", target, "--report", str(page)]) == 0
    text = page.read_text()
    assert "captured traffic up [Mbit/s]" in text and "round trips and losses" in text.lower()


def test_round_trips_are_those_of_the_scenario(captured: tuple[Path, sojourn.Result]) -> None:
    folder, _ = captured
    measured = read(folder / "sender.pcapng")
    assert measured.base_rtt_s is not None and 0.04 <= measured.base_rtt_s < 0.4
    one_way = read(folder / "down-in.pcapng")
    assert one_way.base_rtt_s is None
    assert any("the other direction of 14 of 14" in text for text in one_way.unknown)


def test_rates_at_a_sender_are_those_of_acknowledgements(
    captured: tuple[Path, sojourn.Result],
) -> None:
    folder, _ = captured
    for side, words in (("sender", "what was acknowledged"), ("receiver", "carried at least")):
        told = [text for text in read(folder / f"{side}.pcapng").unknown if "the rate of" in text]
        assert [text for text in told if words in text] == told, side
        rates = read(folder / f"{side}.pcapng").up
        assert rates and rates.mean == pytest.approx(8e6, rel=0.05), side


# Hand-made packets: 20 B of IP, 20 B of TCP, and a payload that is not captured.


def segment(number: int, seq: int, flags: int, payload: int, back: bool = False) -> bytes:
    ends = [bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])]
    ports = [40_000 + number, 443]
    if back:
        ends.reverse()
        ports.reverse()
    ip = struct.pack(">BBHHHBBH", 0x45, 0x02, 40 + payload, 0, 0, 64, 6, 0) + ends[0] + ends[1]
    return ip + struct.pack(">HHIIBBHHH", *ports, seq, 1, 0x50, flags, 1000, 0, 0)


def pcap(
    packets: list[tuple[int, bytes, int]],
    link: int = 101,
    magic: int = 0xA1B2C3D4,
    order: str = "<",
) -> bytes:
    """A pcap file of packets: time in the magic number's units, captured bytes, full length."""
    unit = 10**6 if magic == 0xA1B2C3D4 else 10**9
    head = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 96, link)
    records = [
        struct.pack(order + "IIII", t // unit, t % unit, len(data), size) + data
        for t, data, size in packets
    ]
    return head + b"".join(records)


def sent(link: bytes = b"", start: int = 0, count: int = 20) -> list[tuple[int, bytes, int]]:
    return [
        (start + 1000 * n, link + segment(0, 1 + 1000 * n, 0x10, 1000), len(link) + 1040)
        for n in range(count)
    ]


def taken(folder: Path, content: bytes) -> Measurement:
    path = folder / "file"
    path.write_bytes(content)
    return read(path)


def refused(folder: Path, content: bytes) -> str:
    with pytest.raises(InputError) as caught:
        taken(folder, content)
    text = str(caught.value)
    assert "\n" not in text and "file" in text
    return text


ETHERNET = bytes(12) + b"\x08\x00"
LINKS = {
    "raw": (101, b""),
    "ethernet": (1, ETHERNET),
    "vlan": (1, bytes(12) + b"\x81\x00\x00\x07\x08\x00"),
    "pppoe": (1, bytes(12) + b"\x88\x64" + bytes(6) + b"\x00\x21"),
    "802.3": (1, bytes(12) + b"\x04\x18" + b"\xaa\xaa\x03\0\0\0" + b"\x08\x00"),
    "sll": (113, bytes(14) + b"\x08\x00"),
    "sll2": (276, b"\x08\x00" + bytes(18)),
    "mpls": (1, bytes(12) + b"\x88\x47" + b"\x00\x01\x00\x40" + b"\x00\x02\x01\x40"),
    "ppp": (9, b"\xff\x03\x00\x21"),
    "compressed ppp": (50, b"\x21"),
    "cisco hdlc": (104, b"\x0f\x00\x08\x00"),
    "pktap": (258, struct.pack("<III", 20, 1, 12) + bytes(8)),
    "null": (0, b"\x02\x00\x00\x00"),
    "loop": (108, b"\x00\x00\x00\x02"),
}


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("magic", [0xA1B2C3D4, 0xA1B23C4D])
def test_every_link_type_byte_order_and_resolution(
    tmp_path: Path, link: str, order: str, magic: int
) -> None:
    number, head = LINKS[link]
    found = taken(tmp_path, pcap(sent(head), number, magic, order)).details
    assert found is not None
    (flow,) = found["flows"]
    assert flow["client"] == "10.0.0.1:40000"
    assert flow["up"]["bytes"] == 20 * 1040 and flow["up"]["unique_bytes"] == 20_000
    assert found["length_ns"] == 19_000 * (1000 if magic == 0xA1B2C3D4 else 1)


def pcapng(blocks: list[tuple[int, bytes]]) -> bytes:
    """A pcapng file: section header, interface of raw IP, then blocks of a type and a body."""
    begin = [
        (0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)),
        (1, struct.pack("<HHI", 101, 0, 0)),
    ]
    return b"".join(
        struct.pack("<II", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))
        for kind, body in begin + blocks
    )


def test_packets_without_a_time_are_counted_and_passed_over(tmp_path: Path) -> None:
    packet = segment(0, 1, 0x10, 1000)
    timed = [(6, struct.pack("<IIIII", 0, 0, t, len(packet), 1040) + packet) for t in (0, 5000)]
    untimed = (3, struct.pack("<I", len(packet)) + packet)
    measured = taken(tmp_path, pcapng([timed[0], untimed, timed[1]]))
    assert measured.details and measured.details["packets"] == 2
    assert measured.details["frames"] == 3
    assert any("1 without a time (simple packet" in text for text in measured.unknown)
    assert "1 without a time" in refused(tmp_path, pcapng([untimed]))


def test_packets_of_several_interfaces_are_named(tmp_path: Path) -> None:
    packet = segment(0, 1, 0x10, 1000)
    second = (1, struct.pack("<HHI", 101, 0, 0))
    seen = [
        (6, struct.pack("<IIIII", number, 0, 9 * n + number, len(packet), 1040) + packet)
        for n in range(5)
        for number in (0, 1)
    ]
    found = taken(tmp_path, pcapng([second, *seen]))
    assert any("passed several of the 2 interfaces" in text for text in found.unknown)
    once = taken(tmp_path, pcapng([second, *seen[::2]]))
    assert not any("interfaces" in text for text in once.unknown)


def cooked(packet: bytes, interface: int, kind: int) -> bytes:
    """A packet as `tcpdump -i any` writes it."""
    return struct.pack(">HHIHBB8x", 0x0800, 0, interface, 1, kind, 6) + packet


def test_a_packet_that_a_router_forwards_counts_once(tmp_path: Path) -> None:
    packets = []
    for n in range(20):
        one = segment(0, 1 + 1000 * n, 0x10, 1000)
        forwarded = one[:8] + b"\x3f" + one[9:]  # TTL
        for t, what in ((0, cooked(one, 2, 0)), (9, cooked(forwarded, 3, 4))):
            packets.append((1000 * n + t, what, 1060))
    # The sender sends the first segment once more.
    packets.append((30_000, cooked(segment(0, 1, 0x10, 1000), 2, 0), 1060))
    found = taken(tmp_path, pcap(packets, link=276))
    assert found.details and found.details["packets"] == 21
    (flow,) = found.details["flows"]
    assert flow["up"]["unique_bytes"] == 20_000 and flow["up"]["repeated"] == 1
    assert any("20 packets that another interface had seen" in text for text in found.unknown)


def outer(protocol: int, payload: bytes) -> bytes:
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0)
    return head + bytes([192, 0, 2, 1]) + bytes([192, 0, 2, 2]) + payload


def datagram(port: int, payload: bytes) -> bytes:
    return outer(17, struct.pack(">HHHH", 50_000, port, 8 + len(payload), 0) + payload)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda packet: outer(4, packet),
        lambda packet: outer(47, b"\x00\x00\x08\x00" + packet),
        lambda packet: outer(47, b"\xb0\x00\x65\x58" + bytes(12) + ETHERNET + packet),
        lambda packet: outer(47, b"\x30\x81\x88\x0b" + bytes(12) + b"\xff\x03\x00\x21" + packet),
        lambda packet: datagram(4789, b"\x08" + bytes(7) + ETHERNET + packet),
        lambda packet: datagram(6081, b"\x01\x00\x65\x58" + bytes(8) + ETHERNET + packet),
        lambda packet: datagram(2152, b"\x30\xff" + bytes(6) + packet),
        lambda packet: datagram(2152, b"\x34\xff" + bytes(9) + b"\x85\x01\x00\x09\x00" + packet),
        lambda packet: outer(4, outer(47, b"\x00\x00\x08\x00" + packet)),
    ],
)  # fmt: skip
def test_the_flows_within_a_tunnel_are_read(tmp_path: Path, wrap: Any) -> None:
    packets, sizes = [], 0
    for n in range(20):
        packet = wrap(segment(0, 1 + 1000 * n, 0x10, 1000) + bytes(1000))
        sizes += len(packet)
        packets.append((1000 * n, packet, len(packet)))
    found = taken(tmp_path, pcap(packets))
    assert found.details and found.details["tunnelled"] == 20
    (flow,) = found.details["flows"]
    assert flow["client"] == "10.0.0.1:40000" and flow["up"]["unique_bytes"] == 20_000
    assert flow["up"]["bytes"] == sizes
    assert any("20 packets in tunnels" in text for text in found.read)


def test_a_packet_that_offload_joined_is_as_much_as_its_parts(tmp_path: Path) -> None:
    packets = [(n * 9_000, segment(0, 1 + 60_000 * n, 0x10, 60_000), 60_040) for n in range(3)]
    assert taken(tmp_path, pcap(packets)).up


def test_an_ephemeral_port_is_that_of_a_client(tmp_path: Path) -> None:
    packets = []
    for n in range(20):
        packet = bytearray(segment(0, 1 + 1000 * n, 0x10, 1000, back=True))
        packet[20:22] = struct.pack(">H", 5201)
        packets.append((1000 * n, bytes(packet), 1040))
    found = taken(tmp_path, pcap(packets)).details
    assert found and found["flows"][0]["client"] == "10.0.0.1:40000"


def test_the_remedy_is_that_of_the_reason(tmp_path: Path) -> None:
    assert "-s 128" in refused(tmp_path, pcap([(0, segment(0, 1, 0x10, 1000)[:21], 1040)]))
    untimed = (3, struct.pack("<I", 40) + segment(0, 1, 0x10, 0))
    assert "editcap" in refused(tmp_path, pcapng([untimed]))


def test_without_a_handshake_the_server_has_the_port_of_a_service(tmp_path: Path) -> None:
    packets = [(1000 * n, segment(0, 1 + 1000 * n, 0x10, 1000, back=True), 1040) for n in range(20)]
    found = taken(tmp_path, pcap(packets)).details
    assert found is not None
    (flow,) = found["flows"]
    assert flow["client"] == "10.0.0.1:40000" and flow["down"]["unique_bytes"] == 20_000


def test_the_first_fragment_of_an_ipv6_packet_has_ports_and_the_others_have_none(
    tmp_path: Path,
) -> None:
    def fragment(offset: int, more: int) -> bytes:
        ends = bytes(15) + b"\x01" + bytes(15) + b"\x02"
        ip = struct.pack(">IHBB", 6 << 28, 8 + 1024, 44, 64) + ends
        header = struct.pack(">BBHI", 17, 0, offset << 3 | more, 7)
        return ip + header + struct.pack(">HHHH", 40_000, 443, 2048, 0)

    sizes = 40 + 8 + 1024
    packets = [(1000 * n, fragment(128 * (n % 2), 1 - n % 2), sizes) for n in range(20)]
    found = taken(tmp_path, pcap(packets))
    assert found.details is not None
    first = next(flow for flow in found.details["flows"] if flow["client"].endswith(":40000"))
    assert first["up"]["packets"] == 10
    assert any("10 later fragments" in text for text in found.unknown)


def test_data_in_a_syn_counts_once(tmp_path: Path) -> None:
    packets = [(0, segment(0, 1, 0x02, 100), 140), (1000, segment(0, 102, 0x10, 50), 90)]
    found = taken(tmp_path, pcap(packets)).details
    assert found is not None
    assert found["flows"][0]["up"]["unique_bytes"] == 150
    assert found["flows"][0]["up"]["repeated"] == 0


def test_a_capture_without_data_has_nothing_to_simulate(tmp_path: Path) -> None:
    measured = taken(tmp_path, pcap([(0, segment(0, 1, 0x02, 0), 40)]))
    with pytest.raises(InputError, match="--as packets"):
        imported(measured, "x", "file", Assumptions(rate="1mbit"), "x")


def test_compressed_captures_are_read_alike(tmp_path: Path) -> None:
    plain = pcap(sent())
    expected = taken(tmp_path, plain).details
    assert taken(tmp_path, gzip.compress(plain)).details == expected
    assert (
        taken(tmp_path, gzip.compress(plain[:99]) + gzip.compress(plain[99:])).details == expected
    )
    assert taken(tmp_path, bz2.compress(plain)).details == expected


def test_a_capture_cut_off_in_a_packet_is_read_up_to_there(tmp_path: Path) -> None:
    whole = pcap(sent())
    record = 16 + 40
    measured = taken(tmp_path, whole[: 24 + 10 * record + 30])
    assert measured.details and measured.details["packets"] == 10
    warning = f"byte {24 + 10 * record} on: the file ends within a packet"
    assert any(warning in text for text in measured.unknown)
    cut = taken(tmp_path, gzip.compress(whole)[:-9])
    assert any("cut off" in text for text in cut.unknown)


def test_damage_is_named_with_its_place_and_what_was_read(tmp_path: Path) -> None:
    whole = bytearray(pcap(sent()))
    at = 24 + 5 * 56
    whole[at + 8 : at + 12] = b"\xff\xff\xff\xff"
    measured = taken(tmp_path, bytes(whole))
    said = " ".join(measured.unknown)
    assert f"byte {at} on: claims a packet of 4294967295 bytes" in said
    assert "5 packets before it were read" in said


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (pcap([])[:10], "byte 0: the file ends within its header, of which it holds 10 bytes"),
        (pcap([]), "is a capture without packets"),
        (pcap(sent(), link=147), "20 of link type 147"),
        (pcap([(0, bytes(12) + b"\x08\x06" + bytes(28), 42)], link=1), "1 not of IP, such as ARP"),
        (pcap([(0, segment(0, 1, 16, 0)[:30], 40)]), "1 cut off before the ports"),
        (b"\xa1\xb2\xc3\xd4\x00\x03" + bytes(18), "version 3; version 2 can be read"),
        (b"\x0a\x0d\x0d\x0a" + bytes(30), "without its byte order"),
        (b"\x0a\x0d\x0d\x0a\xf0\xff\xff\xff\x4d\x3c\x2b\x1a" + bytes(30), "block of 4294967280"),
        (pcap([*sent(count=2), (10**6 * 86_400 * 3, segment(0, 1, 16, 0), 40)]), "span 3 days"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_one_sentence(tmp_path: Path, content: bytes, words: str) -> None:
    assert words in refused(tmp_path, content)


def test_times_since_1970_begin_at_zero_and_times_that_go_back_are_counted(tmp_path: Path) -> None:
    packets = sent(start=1_600_000_000_000_000)
    packets[3], packets[4] = packets[4], packets[3]
    measured = taken(tmp_path, pcap(packets))
    assert measured.details and measured.details["flows"][0]["start_ns"] == 0
    assert any("the order of 1 packets" in text for text in measured.unknown)
    result = imported(measured, "x", "file", Assumptions(), "x")
    assert result.files["x-up-1.csv"] == "0.000000000,20000\n"


def test_handshake_mss_and_ecn_are_read_from_both_directions(tmp_path: Path) -> None:
    syn = segment(0, 100, 0xC2, 0)
    packets = [
        (0, syn, 40),
        (30_000, segment(0, 900, 0x52, 0, back=True), 40),
        (40_000, segment(0, 101, 0x10, 0), 40),
        (41_000, segment(0, 101, 0x10, 1000), 1040),
        # A retransmission: its acknowledgement gives no round trip.
        (50_000, segment(0, 101, 0x10, 1000), 1040),
    ]
    measured = taken(tmp_path, pcap(packets))
    assert measured.details
    (flow,) = measured.details["flows"]
    assert flow["handshake_ns"] == 40_000_000
    assert (flow["asked"], flow["granted"]) == (3, 1)
    assert flow["up"]["unique_bytes"] == 1000 and flow["up"]["repeated"] == 1
    assert flow["up"]["round_trips"] == 0


def test_a_pause_begins_a_new_transfer_but_a_retransmission_does_not(tmp_path: Path) -> None:
    second = 10**6
    packets = [
        (0, segment(0, 1, 0x10, 1000), 1040),
        # After a timeout of a second and a half.
        (3 * second // 2, segment(0, 1, 0x10, 1000), 1040),
        (8 * second // 5, segment(0, 1001, 0x10, 1000), 1040),
        (4 * second, segment(0, 2001, 0x10, 500), 540),
    ]
    found = taken(tmp_path, pcap(packets)).details
    assert found
    assert found["flows"][0]["up"]["transfers"] == [[0, 2000], [4 * 10**9, 500]]


def test_as_is_for_captures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lte.trace"
    path.write_text("0\n5\n")
    assert cli.main(["import", str(path), "--as", "packets"]) == 2
    assert "is not a capture, which --as packets is for" in capsys.readouterr().err


def test_a_part_of_a_capture_of_days_is_read(tmp_path: Path) -> None:
    starts = range(0, 200_000, 20_000)
    packets = [(at * 10**6, segment(0, 1 + at // 20, 0x10, 1000), 1040) for at in starts]
    path = tmp_path / "days.pcap"
    path.write_bytes(pcap(packets))
    with pytest.raises(InputError, match="take a part with --from and --to"):
        read(path)
    part = read(path, begin_s=39_999, end_s=80_001)
    assert part.details
    assert (part.details["packets"], part.details["length_ns"]) == (3, 40_000 * 10**9)
    assert part.read[0] == "the part from 39999 s to 80001 s"
    with pytest.raises(InputError, match="no packets between --from and --to"):
        read(path, begin_s=1, end_s=2)


def test_json_has_every_flow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, target = tmp_path / "file.pcap", tmp_path / "file.toml"
    path.write_bytes(pcap(sent()))
    assert cli.main(["import", str(path), "-o", str(target), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["capture"]["flows"][0]["server"] == "10.0.0.2:443"
    assert load(str(target), []).duration_s >= 0.02


def test_a_packet_of_years_before_is_left_out(tmp_path: Path) -> None:
    packets = [*sent(start=10**15, count=40), (0, segment(1, 9, 0x10, 500), 540)]
    found = taken(tmp_path, pcap(packets))
    assert any("whose times lie too far back" in text for text in found.unknown)
    result = imported(found, "x", "file", Assumptions(), "x")
    assert any("1 transfers of a day or more" in text for text in result.assumed)
    assert result.files["x-up-1.csv"].startswith("0.000000000,")


def echo(number: int, back: bool = False) -> bytes:
    ends = [bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])]
    if back:
        ends.reverse()
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 84, number, 0, 64, 1, 0) + ends[0] + ends[1]
    return ip + struct.pack(">BBHHH", 0 if back else 8, 0, 0, 7, number) + bytes(56)


def test_echo_requests_of_a_capture_are_delays_and_losses_over_time(tmp_path: Path) -> None:
    packets = []
    for n in range(40):
        packets.append((500_000 * n, echo(n), 84))
        if n not in (25, 26, 39):
            packets.append((500_000 * n + 20_007 + 1000 * n, echo(n, back=True), 84))
    found = taken(tmp_path, pcap(packets))
    assert found.rtt and found.rtt.times_s[:2] == (0.0, 0.5)
    assert found.rtt.values[:2] == pytest.approx((0.020007, 0.021007))
    assert found.base_rtt_s == pytest.approx(0.020007)
    assert found.loss == pytest.approx(3 / 40)
    assert found.losses and found.losses.values == (0, 0, 0.2, 0.1)
    assert any("37 of 40 echo requests from 10.0.0.1 to 10.0.0.2" in text for text in found.read)
    scenario = imported(found, "x", "file", Assumptions("9mbit"), "x").text
    assert '["0.5s", "0.001s"],' in scenario and 'rtt = "0.020007s"' in scenario
    # Next to a transfer, the changes of the round trip may be those of its queue.
    loaded = taken(tmp_path, pcap(packets + sent(start=1_000_000, count=30)))
    assert loaded.is_loaded
    assert "delay =" not in imported(loaded, "x", "file", Assumptions(), "x").text


def test_a_clock_of_whole_seconds_tells_no_round_trips(tmp_path: Path) -> None:
    fine = [(2000, segment(0, 1, 0x02, 0), 40), (22_000, segment(0, 5, 0x12, 0, True), 40),
            (22_100, segment(0, 2, 0x10, 0), 40), *sent(start=30_000, count=1500)]  # fmt: skip
    assert taken(tmp_path, pcap(fine)).base_rtt_s == pytest.approx(0.0201)
    coarse = [(t // 1_000_000 * 1_000_000, data, size) for t, data, size in fine]
    measured = taken(tmp_path, pcap(coarse))
    assert measured.base_rtt_s is None
    assert any("times finer than 1000 ms" in text for text in measured.unknown)
    # 971 segments of 1040 B in the first second, and not ten times as many in 100 ms.
    assert measured.up and measured.up.values[0] == pytest.approx(8 * 1040 * 971, rel=0.01)

"""What follows from the numbers that the papers print: docs/facts/papers.md."""

import numpy as np
import pytest

from sojourn.papers.codel_act import common as codel_act
from sojourn.papers.kids import common as kids
from sojourn.papers.kids import wlan
from sojourn.papers.madpie import common as madpie
from sojourn.papers.pie import burst
from sojourn.reproduce import extract
from sojourn.running.runs import run


def test_a_full_packet_of_codel_act_takes_1_2056_ms() -> None:
    """Fact papers-1."""
    assert pytest.approx(1.2056e-3) == codel_act.PACKET_S
    assert codel_act.scenario("codel", 1).links["bottleneck"].framing == "7B"


def test_the_file_sizes_of_madpie_are_whole_segments() -> None:
    """Fact papers-2."""
    for kb, size in madpie.FILE_BYTES.items():
        assert size % 1460 == 0
        assert round(size / 1e3) == kb


def test_a_call_of_madpie_sends_less_than_fifty_datagrams_a_second() -> None:
    """Fact papers-3."""
    assert 49.8 < 87e3 / (218 * 8) < 50
    assert 87e3 < 50 * 218 * 8 < 87.5e3


def test_payload_over_ip_packets_gives_the_largest_goodput_of_kids() -> None:
    """Fact papers-4."""
    (group,) = kids.scenario(kids.queue("codel"), 4).flows
    assert (group.packet, group.header) == ("1500B", "40B")
    assert pytest.approx(9.73, abs=0.005) == 10 * 1460 / 1500
    assert 10 * 1448 / 1514 < 9.6


def test_the_path_rtt_of_kids_has_1_3_ms_beside_base_and_queue() -> None:
    """Fact papers-5."""
    assert pytest.approx(1.3232e-3) == kids.TRANSMISSION_S


def test_the_wireless_thresholds_of_kids_are_those_of_27_mbit() -> None:
    """Fact papers-6."""
    target_bytes = 27e6 * 5e-3 / 8
    queue = str(wlan.scenario("ared", 4).links["access-point"].queue)
    assert f"min_th={int(0.5 * target_bytes)}B,max_th={int(1.5 * target_bytes)}B" in queue


@pytest.mark.parametrize("allowance", [0, 100])
def test_a_burst_of_200_ms_loses_175_packets_whatever_the_allowance(allowance: int) -> None:
    """Fact papers-7."""
    case = burst.ITEM.cases("quick")[f"burst200ms.maxburst{allowance}ms"]
    kept = extract.extract(run(case.scenario, sets=[("record.packets", "true")]), ("packets",))
    lost = np.isin(kept["packets/fate"], (extract.OVERFLOW, extract.RANDOM))
    assert lost.sum() == pytest.approx(175, abs=2)

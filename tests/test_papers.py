"""Consequences of the papers' numbers: docs/facts/papers.md."""

from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest

from sojourn.papers.codel_act import common as codel_act
from sojourn.papers.codel_act import windows
from sojourn.papers.kids import common as kids
from sojourn.papers.kids import wlan
from sojourn.papers.madpie import common as madpie
from sojourn.papers.pie import burst, changes, testbed
from sojourn.plots.data import Floats
from sojourn.reproduce import extract
from sojourn.reproduce.pool import Pool
from sojourn.running.runs import run
from sojourn.scenario import Record, Scenario


def test_a_full_packet_of_codel_act_takes_1_2056_ms() -> None:
    """Fact papers-1."""
    assert pytest.approx(1.2056e-3) == codel_act.PACKET_S
    assert codel_act.scenario("codel", 1).links["bottleneck"].framing == "7B"


def test_pie_of_codel_act_does_not_sleep_until_a_third_of_the_buffer_waits() -> None:
    """Section II: PIE was never deactivated."""
    for aqm in codel_act.AQMS:
        queue = str(codel_act.scenario(aqm, 4).links["bottleneck"].queue)
        assert ("on_off=false" in queue) == (aqm == "pie")


def test_table_1_of_codel_act_fits_a_loop_of_10_065_ms() -> None:
    """Fact papers-20: what the printed percentiles leave of whole packet times."""
    packet_ms = 1e3 * codel_act.PACKET_S
    printed_ms = (9.22, 17.67, 11.63, 35.75, 15.25, 44.19, 26.10)
    left_ms = [value % packet_ms for value in printed_ms]
    assert left_ms == pytest.approx([-10.065 % packet_ms] * len(left_ms), abs=0.01)
    assert all(abs(left - -10.2 % packet_ms) > 0.1 for left in left_ms)
    judged = codel_act.scenario("codel", 4)
    (own,), (other,) = judged.flows, codel_act.with_rtt_of_table_1(judged).flows
    assert (own.rtt, other.rtt) == ("10.2ms", "10.035ms")


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


def test_the_path_rtt_of_kids_has_1_3_ms_in_addition_to_base_and_queue() -> None:
    """Fact papers-5."""
    assert pytest.approx(1.3232e-3) == kids.TRANSMISSION_S


def test_rtts_of_kids_are_of_packets_that_an_acknowledgement_follows() -> None:
    """Fact papers-21: with delayed acknowledgements about half of the packets."""
    case = replace(kids.scenario(kids.queue("codel"), 4), duration="10s")
    pool = Pool([extract.extract(run(case), ("delays",))], {})
    found, every = kids.round_trips(pool), pool.distribution("class/bulk/owd")
    assert 0.45 < found.counts.sum() / every.counts.sum() < 0.8
    # An empty queue: base RTT and transmission, not the wait for a second packet.
    shortest_s = 0.1 + kids.TRANSMISSION_S - kids.ACK_S
    assert found.lower_s[0] == pytest.approx(shortest_s, rel=2e-3)


def test_the_wireless_thresholds_of_kids_are_those_of_27_mbit() -> None:
    """Fact papers-6."""
    target_bytes = 27e6 * 5e-3 / 8
    queue = str(wlan.scenario("ared", 4).links["access-point"].queue)
    assert f"min_th={int(0.5 * target_bytes)}B,max_th={int(1.5 * target_bytes)}B" in queue


def percentile_of_delay_ms(case: Scenario, change: tuple[str, str], q: float) -> float:
    link = case.links["bottleneck"]
    other = replace(link, queue=str(link.queue).replace(*change))
    short = replace(case, links={"bottleneck": other}, duration="100s")
    kept = extract.extract(run(short), ("delays",))
    upper = kept["delays/queue/bottleneck/delay/upper_ns"] * 1e-6
    share = np.cumsum(kept["delays/queue/bottleneck/delay/count"])
    return float(upper[np.searchsorted(share, q * share[-1])])


def test_only_an_allowance_that_returns_at_once_lets_the_delay_of_pie_exceed_100_ms() -> None:
    """Fact papers-8: the last 30 s of the first 100 s of S1 at 500 ms."""
    late = replace(madpie.s1("pie", 500), warmup="70s")
    assert percentile_of_delay_ms(late, ("@ns2", "@paper2013"), 1.0) > 105
    assert percentile_of_delay_ms(late, ("", ""), 1.0) < 100


def test_smaller_steps_at_a_low_probability_lengthen_the_queue_of_pie_in_s3() -> None:
    """Fact papers-9."""
    s3 = madpie.s3("pie")
    fine = percentile_of_delay_ms(s3, ("", ""), 0.75)
    coarse = percentile_of_delay_ms(s3, ("@ns2:", "@ns2:tune=paper2013,"), 0.75)
    assert coarse < 0.75 * fine


def excursions_ms(aqm: str) -> tuple[list[float], float]:
    """Duration of each excursion of S3's backlog above MADPIE's bound, and the share of time."""
    case = replace(madpie.with_pie_2013(madpie.s3(aqm)), record=Record(sample="30ms"))
    rows = run(case).table("states").to_pylist()
    backlog = [row["value"] for row in rows if row["var"] == "backlog_bytes"]
    is_above = [8 * waiting / madpie.RATE_BPS > 25e-3 for waiting in backlog]
    runs = [(above, 30.0 * len(list(samples))) for above, samples in groupby(is_above)]
    return [length for above, length in runs if above], sum(is_above) / len(is_above)


@pytest.mark.slow
def test_madpie_shortens_the_excursions_of_pie_in_s3_and_does_not_make_them_fewer() -> None:
    """Fact papers-10."""
    (of_pie, share), (of_madpie, less) = excursions_ms("pie"), excursions_ms("madpie")
    assert len(of_madpie) == pytest.approx(len(of_pie), rel=0.1)
    assert np.mean(of_madpie) < 0.75 * np.mean(of_pie)
    assert less < 0.25 < share, "the 75th percentile crosses the bound"


def delays_of_calls_ms(aqm: str) -> Floats:
    """One-way delays in S3's 100 ms group, 75th and 95th percentiles, with the PIE of ns-2's code.

    Returns:
        Shape ``(4 seeds, 2)``.
    """
    case = madpie.s3(aqm)
    found = []
    for seed in range(1, 5):
        kept = extract.extract(run(replace(case, seed=seed)), ("delays",))
        upper = kept["delays/class/cbr100/owd/upper_ns"] * 1e-6
        share = np.cumsum(kept["delays/class/cbr100/owd/count"])
        found.append([upper[np.searchsorted(share, q * share[-1])] for q in (0.75, 0.95)])
    return np.array(found)


@pytest.mark.slow
def test_of_the_one_way_delay_madpie_takes_more_at_p95_of_the_queuing_delay_at_p75() -> None:
    """Fact papers-11."""
    of_pie, of_madpie = delays_of_calls_ms("pie"), delays_of_calls_ms("madpie")
    base_ms = 50 + 1e3 * madpie.CBR_TRANSMISSION_S
    of_one_way = (1 - of_madpie / of_pie).mean(axis=0)
    of_queuing = (1 - (of_madpie - base_ms) / (of_pie - base_ms)).mean(axis=0)
    assert of_queuing[0] > of_queuing[1] + 0.05
    assert of_one_way[0] < of_one_way[1] == pytest.approx(0.21, abs=0.03)


def test_the_wireless_windows_of_kids_hold_27_mbit_times_the_base_rtt() -> None:
    """Fact papers-13."""
    case = wlan.scenario("pie", 4, mixed=True)
    assert {group.receive_window for group in case.flows} == {"337500B"}


def test_madpie_and_its_pie_are_ns_2_code() -> None:
    """Fact papers-14."""
    for aqm in ("pie", "madpie"):
        assert str(madpie.s3(aqm).links["bottleneck"].queue).startswith(f"{aqm}@ns2:")


def test_the_stack_of_pie_s_testbed_is_that_of_kids_without_byte_counting() -> None:
    """Fact papers-15."""
    for case in testbed.ITEMS[1].cases("quick").values():
        assert case.scenario.flows[0].tcp == "pie-3.5"


def test_an_empty_queue_is_not_around_the_equilibrium() -> None:
    """Fact papers-16: the delay falls through 20 ms at once, and is back there after 4 s."""
    t_s = np.arange(0.1, 20.0, 0.1)
    delay_s = np.where(t_s < 1, 0.1, np.where(t_s < 4, 0.0, 0.02))
    assert 4 <= changes.back_s(t_s, delay_s) <= 4.6


def test_a_drop_phase_lasts_until_a_packet_leaves_below_the_target() -> None:
    """Fact papers-17: one drop at 1.5 s, a delay of 4 ms at 1.8 s."""
    delay_s = np.array([6e-3, 6e-3, 4e-3, 6e-3])
    left_s = np.array([1.2, 1.5, 1.8, 1.9])
    ends = windows.phase_ends(left_s, delay_s, [np.array([1.5])], 2.0)
    assert ends.tolist() == [1.8]


def test_the_wired_aqm_of_kids_feeds_a_ring_of_four_packets() -> None:
    """Fact papers-18."""
    device = kids.scenario(kids.queue("codel"), 4).links["bottleneck"].device
    assert device is not None
    assert device.packets == 4


def test_the_pie_of_kids_is_the_module_of_2013() -> None:
    """Fact papers-19."""
    assert kids.queue("pie").startswith("pie@linux2013:target=5ms,")


@pytest.mark.parametrize("allowance", [0, 100])
def test_a_burst_of_200_ms_loses_175_packets_whatever_the_allowance(allowance: int) -> None:
    """Pan et al. 2013, Figure 6: of 25 Mbit/s for 200 ms, 10 Mbit/s leave and 200 kB fit."""
    case = burst.ITEM.cases("quick")[f"burst200ms.maxburst{allowance}ms"]
    kept = extract.extract(run(case.scenario, sets=[("record.packets", "true")]), ("packets",))
    lost = np.isin(kept["packets/fate"], (extract.OVERFLOW, extract.RANDOM))
    assert lost.sum() == pytest.approx(175, abs=2)

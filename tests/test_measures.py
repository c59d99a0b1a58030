"""Measures that papers share, against arithmetic by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sojourn.reproduce import measures
from sojourn.reproduce.extract import DETERMINISTIC, RANDOM, SENT, WAITING
from sojourn.reproduce.pool import Packets, Pool


def packets(*rows):
    """Packets from rows of (arrived, left, bytes, fate)."""
    arrived, left, size, fate = (np.array(column) for column in zip(*rows, strict=True))
    flow = np.zeros(len(rows), np.int32)
    return Packets(arrived.astype(float), left.astype(float), size, flow, fate)


QUEUE = packets(
    (0.0, 1.0, 1000, SENT),
    (0.5, 2.0, 1000, SENT),
    (0.7, 0.7, 1000, RANDOM),  # refused on arrival: it never waits
    (1.5, 1.8, 1000, DETERMINISTIC),  # dropped at the head
    (2.5, 0.0, 1000, WAITING),
)


def test_the_backlog_holds_what_arrived_and_has_not_left_nor_been_dropped():
    at_s = np.array([0.25, 0.75, 1.25, 1.7, 1.9, 2.25, 9.0])
    found = measures.backlog_s(QUEUE, at_s, rate_bps=8000.0)
    assert found == pytest.approx([1, 2, 1, 2, 1, 0, 1])


def test_departures_are_of_packets_that_were_sent_within_the_time():
    t_s, delay_s = measures.departures(QUEUE, 0.0, 1.5)
    assert (list(t_s), list(delay_s)) == ([1.0], [1.0])
    assert list(measures.losses_s(QUEUE)) == [0.7, 1.8]


def test_settling_counts_from_the_given_time_to_the_first_value_below_after_one_above():
    t_s, values = np.arange(6.0), np.array([0, 5, 5, 1, 5, 1.0])
    assert measures.settled_s(t_s, values, 2.0) == 3.0
    assert measures.settled_s(t_s, values, 2.0, after_s=2.0) == 1.0
    assert measures.settled_s(t_s, values, 9.0) == 0.0
    assert math.isnan(measures.settled_s(t_s, np.full(6, 5.0), 2.0))
    assert measures.reached_s(t_s, values, 5.0) == 1.0


def test_a_straight_line_has_its_slope_and_no_rest():
    t_s = np.arange(10.0)
    assert measures.slope(t_s, 3 * t_s + 1) == pytest.approx((3.0, 1.0))
    assert measures.slope(t_s, np.ones(10))[1] == 0.0


def test_quantiles_and_shares_of_delays_carry_their_unit_and_their_offset():
    found = measures.delays(measures.distribution(np.array([0.001, 0.002, 0.003, 0.004])), 0.1)
    assert found["mean_ms"] == pytest.approx(102.5)
    assert found["p50_ms"] == pytest.approx(102.0) and found["max_ms"] == pytest.approx(104.0)
    assert found["below_100ms_pct"] == 0.0 and found["below_150ms_pct"] == 100.0
    assert measures.delays(measures.distribution(np.array([]))) == {}


def test_goodput_per_bin_is_what_was_delivered_in_it():
    run = {
        "goodput/t_s": np.array([1.0, 2.0, 3.0, 4.0]),
        "goodput/classes": np.array(["bulk", "bulk", "call"]),
        "goodput/delivered_bytes": np.array([[1, 0, 9], [2, 1, 9], [4, 1, 9], [7, 1, 9]]) * 125.0,
    }
    pool = Pool([run], {})
    (per_flow,) = pool.goodput_bps("bulk", 1.0)
    assert per_flow.tolist() == [[1000, 0], [1000, 1000], [2000, 0], [3000, 0]]
    (total,) = pool.goodput_bps("bulk", 2.0, per="class")
    assert total.ravel().tolist() == [1500, 2500]


def test_spans_are_read_with_their_unit():
    found = [measures.seconds(text) for text in ("30ms", "2s", "5us", "7ns")]
    assert found == pytest.approx([0.03, 2.0, 5e-6, 7e-9])
    with pytest.raises(ValueError, match="is not a span such as 30ms"):
        measures.seconds("5")

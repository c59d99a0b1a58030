"""Measures derived from tables: series, moving averages, synchronisation, backlogs."""

from __future__ import annotations

import math

import pytest

from sojourn.errors import InputError
from sojourn.running import series


def rows(values: list[float], metric: str = "goodput") -> list[dict[str, object]]:
    """Bins of one second of one class."""
    return [
        {"scope": "class", "name": "bulk", "metric": metric, "t_ns": i * 10**9, "value": value}
        for i, value in enumerate(values)
    ]


def test_five_bins_of_a_second_are_one_of_five() -> None:
    values = rows([1.0, 2.0, 3.0, 4.0, 5.0, 9.0, 9.0])
    assert series.series(values, "class", "bulk", "goodput", bins=5) == ([0.0], [3.0])
    times, single = series.series(values, "class", "bulk", "goodput")
    assert times[-1] == 6.0
    assert single[-1] == 9.0


def test_a_bin_without_a_value_does_not_shift_the_later_ones() -> None:
    """An outage has no utilisation: a mean over bins is over those that have one."""
    used = rows([1.0, 0.5, 0.0, 0.0, 0.0, 0.5, 1.0, 1.0], "utilisation")
    known = used[:2] + used[5:]
    all_bins = known + rows([1.0] * 8, "throughput")
    of = ("class", "bulk", "utilisation")
    assert series.series(all_bins, *of, bins=2) == ([0.0, 4.0, 6.0], [0.75, 0.5, 1.0])
    assert series.series(all_bins, *of)[0] == [0.0, 1.0, 5.0, 6.0, 7.0]


def test_a_series_that_is_not_there_or_has_no_mean_is_refused() -> None:
    with pytest.raises(InputError, match=r"class/web/goodput; is `record.bins` set"):
        series.series(rows([1.0]), "class", "web", "goodput")
    with pytest.raises(InputError, match="is not its rate"):
        series.series(rows([1.0], "drop_rate"), "class", "bulk", "drop_rate", bins=5)
    with pytest.raises(InputError, match="write at least 1"):
        series.series(rows([1.0]), "class", "bulk", "goodput", bins=0)


def test_tewma_of_a_constant_rate_is_that_rate_and_fades_with_its_memory() -> None:
    events = [i * 0.01 for i in range(1000)]  # 100 a second for 10 s
    full, later, gone = series.tewma(events, [9.995, 10.495, 20.0])
    # Sampled in the middle between events: the error of the sum is (0.01 / 0.5)^2 / 24.
    assert full == pytest.approx(100.0, rel=1e-4)
    assert later == pytest.approx(full * math.exp(-1), rel=1e-9)
    assert gone < 1e-6
    with pytest.raises(InputError, match="times decrease"):
        series.tewma([2.0, 1.0], [3.0])
    with pytest.raises(InputError, match="not positive"):
        series.tewma([], [], memory_s=0.0)


def test_an_event_adds_one_over_the_memory_to_tewma() -> None:
    rates = series.tewma([1.0, 1.0], [0.5, 1.0, 1.5, 3.0])
    assert rates == pytest.approx([0.0, 4.0, 4.0 * math.exp(-1), 4.0 * math.exp(-4)])


def test_synchronisation_is_the_share_of_flows_that_lose_together() -> None:
    together = [(0.0, "a"), (0.05, "b"), (1.0, "a"), (1.01, "b"), (1.02, "a")]
    assert series.loss_synchronisation(together, 2, window_s=0.1) == 1.0
    in_turn = [(0.0, "a"), (1.0, "b"), (2.0, "a")]
    assert series.loss_synchronisation(in_turn, 2, window_s=0.1) == 0.5
    assert math.isnan(series.loss_synchronisation([], 2, window_s=0.1))
    with pytest.raises(InputError, match="must be positive"):
        series.loss_synchronisation([], 0, window_s=0.1)


def test_backlogs_are_those_of_a_queue_drawn_by_hand() -> None:
    # Packets arrive at 0, 1, 2 and 10; the first leaves at once, then one every 3; the last waits.
    arrived, left = [0, 1, 2, 10], [0, 3, 6, None]
    assert series.backlog_seen(arrived, left, by="arrival") == [0, 0, 1, 0]
    assert series.backlog_seen(arrived, left, by="departure") == [0, 1, 0]

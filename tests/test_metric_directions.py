"""Every metric of a comparison: its direction, one by one, against docs/reference/tables.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sojourn.comparing.metrics import Metric, bulk_classes, select
from sojourn.comparing.rows import PairedDifference
from sojourn.comparing.statistics import Estimate, PairedTest

# Scope, metric, label of class `x`, direction, whether it is of the headline family.
TABLE = [
    ("queue", "delay_mean", "queue delay mean", "", False),
    ("queue", "delay_p50", "queue delay p50", "", False),
    ("queue", "delay_p95", "queue delay p95", "", True),
    ("queue", "delay_p99", "queue delay p99", "", False),
    ("queue", "delay_max", "queue delay max", "", False),
    ("queue", "utilisation", "utilisation", "", True),
    ("class", "goodput", "goodput x", "higher", True),
    ("class", "jain", "Jain's index x", "higher", False),
    ("class", "completion_p50", "completion p50 x", "lower", False),
    ("class", "completion_p95", "completion p95 x", "lower", True),
    ("class", "owd_p95", "one-way delay p95 x", "lower", False),
    ("class", "startup_mean", "start-up mean x", "lower", False),
    ("class", "stalls", "stalls x", "lower", False),
    ("class", "stalled_share", "stalled x", "lower", False),
    ("class", "video_rate", "video rate x", "higher", False),
    ("class", "rate_switches", "rate switches x", "", False),
    ("class", "frame_delay_p95", "frame delay p95 x", "lower", False),
    ("class", "frames_skipped", "frames skipped x", "lower", False),
    ("class", "freezes", "freezes x", "lower", False),
    ("class", "frozen_share", "frozen x", "lower", False),
    ("class", "unfinished_share", "unfinished x", "lower", False),
    ("class", "loss_rate", "loss x", "lower", True),
    ("class", "voice_mos", "MOS x", "higher", False),
    ("class", "rtt_p50", "path RTT p50 x", "", False),
    ("class", "rtt_p95", "path RTT p95 x", "", False),
    ("class", "round_trips_per_minute", "round trips per minute x", "higher", False),
    ("queue", "drop_rate", "drop rate", "", False),
    ("queue", "drop_rate_overflow", "overflow drop rate", "", False),
    ("queue", "drop_rate_random", "random drop rate", "", False),
    ("queue", "drop_rate_deterministic", "deterministic drop rate", "", False),
    ("queue", "drop_rate_policed", "policed drop rate", "", False),
    ("queue", "mark_rate", "mark rate", "", False),
    ("queue", "mark_rate_random", "random mark rate", "", False),
    ("queue", "mark_rate_deterministic", "deterministic mark rate", "", False),
]
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "tables.md"


def selected() -> list[Metric]:
    """All metrics, from a summary that has them in another order than that of display."""
    rows = [(scope, "x", metric, 1.0, f"u-{metric}") for scope, metric, *_ in reversed(TABLE)]
    return select(rows, "x")


def test_metrics_are_these_in_this_order_with_their_labels() -> None:
    found = [(m.scope, m.metric, m.label, m.better, m.is_headline) for m in selected()]
    assert found == TABLE


def test_the_page_names_the_same_metrics_in_the_same_order_with_the_same_directions() -> None:
    section = PAGE.read_text(encoding="utf-8").split("## Metrics of a comparison")[1]
    rows = re.findall(r"^\| (queue|class) \| `(\w+)` \| (\w+) \| (\w+) \|", section, re.MULTILINE)
    assert rows == [
        (scope, metric, better or "neither", "headline" if is_headline else "exploratory")
        for scope, metric, _, better, is_headline in TABLE
    ]


@pytest.mark.parametrize("metric", selected(), ids=lambda metric: metric.metric)
def test_a_significant_difference_is_judged_by_the_metric_s_direction(metric: Metric) -> None:
    verdicts = {
        "lower": ("better", "worse"),
        "higher": ("worse", "better"),
        "": ("different", "different"),
    }[next(better for _, name, _, better, _ in TABLE if name == metric.metric)]
    found = tuple(difference(metric, mean).verdict for mean in (-1e-9, 1e-9))
    assert found == verdicts


@pytest.mark.parametrize(
    ("p_adjusted", "is_significant"),
    [(0.0, True), (0.0499, True), (0.05, False), (0.0501, False), (1.0, False),
     (float("nan"), False)],
)  # fmt: skip
def test_a_difference_is_significant_below_five_percent_and_not_at_it(
    p_adjusted: float, is_significant: bool
) -> None:
    for metric in selected():
        assert (difference(metric, -1.0, p_adjusted).verdict != "") == is_significant


def difference(metric: Metric, mean: float, p_adjusted: float = 0.01) -> PairedDifference:
    test = PairedTest(Estimate(mean, 0.0, 3), 0.01)
    return PairedDifference(metric, "b", "a", test, p_adjusted)


def test_a_metric_keeps_name_and_unit_of_its_row() -> None:
    (found,) = select([("class", "voip", "owd_p95", 0.1, "s")], "bottleneck")
    assert (found.name, found.unit, found.key) == ("voip", "s", "class/voip/owd_p95")
    assert found.label == "one-way delay p95 voip"


def test_classes_are_all_shown_and_of_queues_the_link_alone() -> None:
    rows = [
        ("queue", "a", "utilisation", 1.0, "1"), ("queue", "b", "utilisation", 1.0, "1"),
        ("class", "y", "goodput", 1.0, "bit/s"), ("class", "x", "goodput", 1.0, "bit/s"),
        ("run", "b", "utilisation", 1.0, "1"), ("class", "b", "utilisation", 1.0, "1"),
        ("queue", "b", "goodput", 1.0, "1"), ("queue", "b", "nonsuch", 1.0, "1"),
    ]  # fmt: skip
    keys = [metric.key for metric in select(rows, "b")]
    assert keys == ["queue/b/utilisation", "class/y/goodput", "class/x/goodput"]


@pytest.mark.parametrize(
    ("metrics", "is_bulk"),
    [
        (["goodput"], True),
        (["goodput", "jain", "owd_p95"], True),
        (["jain"], False),
        (["goodput", "completion_p50"], False),
        (["goodput", "loss_rate"], False),
        (["goodput", "transfers"], False),
    ],
)
def test_a_bulk_class_has_goodput_and_neither_transfers_nor_datagrams(
    metrics: list[str], is_bulk: bool
) -> None:
    rows = [("class", "x", metric, 1.0, "1") for metric in metrics]
    assert bulk_classes(rows) == (["x"] if is_bulk else [])
    assert bulk_classes([("queue", *row[1:]) for row in rows]) == []

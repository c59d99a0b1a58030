"""The rule by which claims are judged, at its boundaries."""

from __future__ import annotations

import math

import pytest

from sojourn.reproduce.claims import alike, between, growing, more, not_less, number, order, several
from sojourn.reproduce.paper import Published
from sojourn.reproduce.verdict import judge


def verdict_of(tag, published, unit, found):
    claim = number("x-F1-1", tag, "", "a", published, unit)
    return judge(claim, {"a": found}, []).verdict


@pytest.mark.parametrize(
    ("tag", "published", "unit", "found", "verdict"),
    [
        ("exact", 100, "packets", 115.0, "match"),
        ("exact", 100, "packets", 115.1, "near"),
        ("exact", 100, "packets", 70.0, "near"),
        ("exact", 100, "packets", 69.9, "differs"),
        ("approx", 100, "packets", 125.0, "match"),
        ("approx", 100, "packets", 150.0, "near"),
        ("approx", 100, "packets", 150.1, "differs"),
        # Changes are judged like other numbers.
        ("exact", 20, "% less", 23.0, "match"),
        ("exact", 20, "% more", 26.1, "differs"),
        # 1 ms and 0.05 Mbit/s never matter, and near is twice that.
        ("exact", 2, "ms", 3.0, "match"),
        ("exact", 2, "ms", 4.0, "near"),
        ("exact", 2, "ms", 4.1, "differs"),
        ("exact", 0.1, "Mbit/s", 0.15, "match"),
        ("exact", 0.1, "Mbit/s", 0.21, "differs"),
        ("exact", 0, "", 0, "match"),
        ("exact", 0, "", 1, "differs"),
        ("exact", 1, "ms", math.nan, "no value"),
    ],
)
def test_numbers_match_within_15_or_25_percent_and_are_near_within_twice_that(
    tag, published, unit, found, verdict
):
    assert verdict_of(tag, published, unit, found) == verdict


@pytest.mark.parametrize(
    ("tag", "published", "found", "verdict"),
    [
        ("exact", 40, 43.0, "match"),
        ("exact", 40, 46.0, "near"),
        ("exact", 40, 46.1, "differs"),
        ("approx", 40, 35.0, "match"),
        ("approx", 40, 30.0, "near"),
        ("approx", 40, 29.9, "differs"),
        # Near the ends of the scale half of the distance to them, but at least 1 point.
        ("approx", 95, 97.5, "match"),
        ("approx", 95, 100.0, "near"),
        ("approx", 95, 89.9, "differs"),
        ("approx", 100, 99.0, "match"),
        ("approx", 100, 98.0, "near"),
        ("approx", 100, 97.9, "differs"),
    ],
)
def test_shares_are_judged_in_percentage_points(tag, published, found, verdict):
    assert verdict_of(tag, published, "%", found) == verdict


@pytest.mark.parametrize(
    ("low", "high", "unit", "found", "verdict"),
    [
        (90, None, "%", 90.0, "match"),
        (90, None, "%", 89.0, "near"),
        (90, None, "%", 88.9, "differs"),
        (90, None, "%", 70.5, "differs"),
        (None, 100, "ms", 100.0, "match"),
        (None, 100, "ms", 105.0, "near"),
        (None, 100, "ms", 105.1, "differs"),
        (None, 5, "ms", 6.0, "near"),
        (20, 40, "packets", 20.0, "match"),
        (20, 40, "packets", 40.0, "match"),
        (20, 40, "packets", 42.0, "near"),
        (20, 40, "packets", 18.9, "differs"),
        (20, 40, "packets", math.nan, "no value"),
    ],
)
def test_bounds_and_ranges_are_met_or_missed_and_near_within_5_percent(
    low, high, unit, found, verdict
):
    for tag in ("exact", "approx"):
        claim = between("x-F1-1", tag, "", "a", low, high, unit)
        assert judge(claim, {"a": found}, []).verdict == verdict


def test_the_first_rule_judges_shares_bounds_and_ranges_by_their_distance():
    bound = between("x-F1-1", "approx", "", "a", 90, None, "%")
    assert judge(bound, {"a": 70.5}, []).first_verdict == "match"
    span = between("x-F1-1", "approx", "", "a", 20, 40, "packets")
    assert [judge(span, {"a": v}, []).first_verdict for v in (20, 40, 50, 60, 61)] == [
        "match", "match", "match", "near", "differs"
    ]  # fmt: skip
    share = number("x-F1-1", "exact", "", "a", 100, "%")
    assert judge(share, {"a": 85.0}, []).first_verdict == "match"
    assert judge(order("x-F1-1", "", more("a", 1.0)), {"a": 2.0}, []).first_verdict == "holds"


def seeds(*values):
    return [{"a": value} for value in values]


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((1.0, 1.1, 0.9), "holds"),
        ((1.0, -0.5, 0.2), "weak"),
        ((-1.0, 0.5, 0.2), "fails"),
        ((0.0, 0.0), "fails"),
        ((1.0, 1.0), "holds"),
        ((1.0,), "weak"),
        ((math.nan, math.nan), "no value"),
    ],
)
def test_an_order_holds_if_the_interval_of_its_margin_stays_above_zero(values, verdict):
    claim = order("x-F1-1", "", more("a", 0.0))
    assert judge(claim, {"a": 7.0}, seeds(*values)).verdict == verdict


def test_an_order_without_chance_holds_or_fails():
    claim = order("x-F1-1", "", more("a", 1.0))
    assert [judge(claim, {"a": v}, []).verdict for v in (1.1, 1.0)] == ["holds", "fails"]


def test_a_claim_is_as_good_as_its_worst_part():
    claim = order("x-F1-1", "", more("a", 0.0), more("a", 2.0))
    assert judge(claim, {"a": 1.0}, seeds(1.0, 1.0)).verdict == "fails"
    numbers = several("x-F1-1", "exact", "", *number("x-F1-2", "exact", "", "a", 1, "").parts)
    assert judge(numbers, {"a": 1.2}, []).verdict == "near"


def test_a_value_that_was_not_measured_is_not_a_value():
    claim = order("x-F1-1", "", more("missing", 0.0))
    assert judge(claim, {}, seeds(1.0, 1.0)).verdict == "no value"


def test_relations_are_margins_that_are_positive_where_they_hold():
    values = {"a": 10.0, "b": 12.0, "c": 13.0}
    margin = lambda part: part.measure(values)  # noqa: E731
    assert margin(more("b", "a")) == pytest.approx(2.0)
    assert margin(more("b", "a", 1.5)) < 0
    assert margin(alike("a", "b")) == pytest.approx(1.0)
    assert margin(alike("a", 40.0, floor=1.0)) < 0
    assert margin(not_less("a", 10.4)) > 0 > margin(not_less("a", 10.6))
    assert [margin(part) > 0 for part in growing("a", "b", "c")] == [True, True]


def test_published_values_read_as_people_write_them():
    texts = [str(Published(*ends)) for ends in ((1.5, 1.5), (1, 2), (None, 3), (4, None))]
    assert texts == ["1.5", "1 to 2", "≤ 3", "≥ 4"]

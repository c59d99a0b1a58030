"""Numbers as people read them."""

import math

import pytest

from sojourn.comparing.statistics import Estimate
from sojourn.comparing.table import show_estimate
from sojourn.describing.formatting import Scale, about, counted, scale_of, show, show_value
from sojourn.describing.metrics import row_of

MS = scale_of(row_of("delay_p95"))


def test_a_noun_follows_its_number():
    texts = [counted(n, "run") for n in (0, 1, 2, 1000, 1.0, 2.5)]
    assert texts == ["0 runs", "1 run", "2 runs", "1,000 runs", "1 run", "2.5 runs"]


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (0.0123456, 0.0004567, "12.35 ± 0.46"),
        (0.2519, 0.0011, "251.9 ± 1.1"),
        (0.049526, 0.000076, "49.53 ± 0.08"),
        (2.5, 0.41, "2500 ± 410"),
        (0.0, 0.0, "0 ± 0"),
        (0.02, math.nan, "20.0"),
        (math.nan, math.nan, "–"),
    ],
)
def test_an_estimate_shows_the_digits_that_are_known(mean, half, text):
    assert show_estimate(Estimate(mean, half, 5), MS) == text


@pytest.mark.parametrize(
    ("mean", "ends", "centre", "text"),
    [
        (0.0012, (0.0003, 0.0041), "mean", "0.12 (0.03–0.41)"),
        (0.981, (0.97899, 0.98299), "mean", "98.10 ± 0.20"),
        (0.981, (0.979, 0.983), "median", "98.10 (97.90–98.30)"),
    ],
)
def test_a_mean_has_ends_where_its_interval_is_not_symmetric(mean, ends, centre, text):
    half = (ends[1] - ends[0]) / 2
    scale = scale_of(row_of("drop_rate"))
    assert show_estimate(Estimate(mean, half, 5, centre, ends), scale) == text


def test_signs_are_true_minus_signs_and_zero_has_none():
    assert show(-1.26, 1, sign=True) == "−1.3"
    assert show(1.26, 1, sign=True) == "+1.3"
    assert show(-0.01, 1, sign=True) == "0.0"


def test_units_suit_the_size():
    assert scale_of(row_of("completion_p95"), [0.3, 1.2]) == Scale("s", 1.0)
    assert scale_of(row_of("completion_p95"), [0.3]).unit == "ms"
    assert scale_of(row_of("goodput"), [9e6]).unit == "Mbit/s"
    assert scale_of(row_of("goodput"), [87e3]).unit == "kbit/s"
    assert scale_of(row_of("utilisation")).unit == "%"
    assert scale_of(row_of("jain")).unit == ""
    assert show_value("voice_r", 44.29, "1") == "44.3"
    assert show_value("voice_mos", 2.28, "1") == "2.28"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "less than 1 s"), (1.4, "about 1 s"), (119.0, "about 119 s"),
        (150.0, "about 2.5 min"), (2 * 3600.0, "about 2.0 h"),
        (40 * 3600.0, "about 40 h"), (18_602_354.0, "about 215 days"),
    ],
)  # fmt: skip
def test_a_time_is_in_the_unit_that_people_would_say(seconds, text):
    assert about(seconds) == text


def test_counts_are_whole():
    assert show_value("flows", 1.0, "1") == "1"
    assert show_value("arrived", 60816.0, "packets") == "60 816"
    assert show_value("utilisation", 1.0, "1") == "100 %"

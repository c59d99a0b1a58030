"""Which metrics a comparison is about, declared before any result: the headline family.

Holm's correction and verdicts are for the headline family. All other metrics are exploratory: their
differences are shown with unadjusted intervals and are no claims.
"""

from __future__ import annotations

from sojourn.comparing.metrics import Metric

HEADLINE = (
    ("queue", "delay_p95"),
    ("queue", "utilisation"),
    ("class", "goodput"),
    ("class", "completion_p95"),
    ("class", "loss_rate"),
)
"""Scope and metric: tail of queue delay, use of the link, goodput per class, tail of completion
times, loss of real-time traffic (only classes of datagrams have a loss rate)."""

# Delay p95 and utilisation are judged together (`sojourn.comparing.dominance`).
TEXT = (
    "queue delay p95, utilisation, goodput per class, completion p95 and loss of real-time traffic"
)


def is_headline(metric: Metric) -> bool:
    """Whether a metric belongs to the headline family."""
    return (metric.scope, metric.metric) in HEADLINE

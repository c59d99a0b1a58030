"""Values of a comparison per metric and AQM: an estimate, and a difference from the first AQM."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from sojourn.comparing.between_engines import EngineAgreement
from sojourn.comparing.metrics import Metric
from sojourn.comparing.statistics import ALPHA, Estimate, PairedTest

DifferenceVerdict = Literal["better", "worse", "different", "same", "agrees", "differs", ""]


@dataclass(frozen=True)
class MetricEstimate:
    """One metric of one AQM over all seeds, in the metric's unit.

    Attributes:
        metric: the metric.
        aqm: the AQM.
        estimate: its mean or median; infinite if unknown.
        unknown: number of seeds with a lower bound only; a median needs them to be fewer than half.
        above: lower bound of the median, if there are such seeds.
    """

    metric: Metric
    aqm: str
    estimate: Estimate
    unknown: int = 0
    above: float = math.nan


@dataclass(frozen=True)
class PairedDifference:
    """One metric of one AQM minus that of the first AQM, seed by seed.

    Attributes:
        metric: the metric; the difference is in its unit.
        aqm: the AQM.
        baseline: the first AQM.
        test: mean difference with unadjusted interval, and p-value.
        p_adjusted: p-value after Holm's correction over the headline family; NaN outside it.
        margin: the largest difference without practical relevance, in the metric's unit.
        is_equivalent: whether the difference is within the margin (two one-sided tests).
        correlation: correlation of the two over the seeds, which decides how much pairing narrows
            the interval.
        agreement: whether two engines agree on it; None if AQMs are compared.
    """

    metric: Metric
    aqm: str
    baseline: str
    test: PairedTest
    p_adjusted: float
    margin: float = math.nan
    is_equivalent: bool = False
    correlation: float = math.nan
    agreement: EngineAgreement | None = None

    @property
    def headline(self) -> bool:
        """Whether the row is a test of the headline family; others are exploratory."""
        return self.metric.is_headline

    @property
    def verdict(self) -> DifferenceVerdict:
        """The meaning of the difference, for tests of the headline family and between engines.

        ``same`` within the margin, significant or not; otherwise empty if it is not significant at
        5 % after correction, ``different`` if neither direction is better as such. Between engines
        ``agrees`` or ``differs``; empty if the noise does not decide.
        """
        if self.agreement is not None:
            return self.agreement.verdict
        if self.is_equivalent:
            return "same"
        if not self.p_adjusted < ALPHA:
            return ""
        if not self.metric.better:
            return "different"
        lowered = self.test.difference.mean < 0
        return "better" if lowered == (self.metric.better == "lower") else "worse"

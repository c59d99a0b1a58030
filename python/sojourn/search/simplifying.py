"""Simplifies a scenario that an attack has found.

Step by step, as long as four fifths of the gain over the base scenario remain: groups of flows are
removed, keys return to the value of the base scenario, the run becomes shorter, and numbers are
rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sojourn.describing.quantity import quantity
from sojourn.search.variants import Attacked, ScenarioVariant, Variants, is_of
from sojourn.study.axes import StudyAxis, Value

KEPT = 0.8
"""Share of the gain over the base scenario that must remain."""
_Fewer = Callable[[ScenarioVariant], list[ScenarioVariant]]
_ROUND = (1.0, 2.0, 5.0)


def simplify(variants: Variants, base: Attacked, worst: Attacked) -> Attacked:
    """The simplified scenario.

    Args:
        variants: tries scenarios.
        base: the base scenario.
        worst: the scenario that was found.
    """
    if not worst.variant.values:
        return worst
    kept = KEPT * (worst.score - base.score)
    work = _Simplifying(variants, base.score + kept, kept)
    small = work.shed(worst, work.without_a_group)
    small = work.shed(small, work.without_a_word)
    return work.rounded(work.shorter(small))


@dataclass(frozen=True)
class _Simplifying:
    """The state of a simplification.

    Attributes:
        variants: tries scenarios.
        least: the lowest allowed score.
        gain: the lowest allowed gain over the base scenario of the same duration.
    """

    variants: Variants
    least: float
    gain: float

    def shed(
        self, small: Attacked, fewer: Callable[[ScenarioVariant], list[ScenarioVariant]]
    ) -> Attacked:
        """Remove parts one by one, each time the one that lowers the score least."""
        while candidates := fewer(small.variant):
            best = max(self.variants.attacked(candidates), key=lambda one: _or_less(one.score))
            if not best.score >= self.least:
                break
            small = best
        return small

    def without_a_group(self, variant: ScenarioVariant) -> list[ScenarioVariant]:
        """The variants with one more group of flows removed."""
        there = [each for each in self.variants.groups if each not in variant.without]
        spare = [each for each in there if each not in self.variants.search.classes]
        return [self._without(variant, each) for each in spare] if len(there) > 1 else []

    def _without(self, variant: ScenarioVariant, group: str) -> ScenarioVariant:
        gone = (*variant.without, group)
        keys = {axis.name: axis.keys for axis in self.variants.search.words}
        values = {
            name: value
            for name, value in variant.values.items()
            if not all(is_of(key, gone) for key in keys[name])
        }
        return replace(variant, values=values, without=gone)

    def without_a_word(self, variant: ScenarioVariant) -> list[ScenarioVariant]:
        """The variants with one more key as in the base scenario."""
        return [
            replace(variant, values={n: v for n, v in variant.values.items() if n != left})
            for left in variant.values
        ]

    def shorter(self, small: Attacked) -> Attacked:
        """Shorten duration and warm-up as far as the gain over the base remains."""
        for times in _shorter_times(*self.variants.times_s):
            variant = replace(small.variant, times=times)
            found, base = self.variants.attacked([variant, ScenarioVariant(times=times)])
            if not (found.score >= self.least and found.score - base.score >= self.gain):
                break
            small = found
        return small

    def rounded(self, small: Attacked) -> Attacked:
        """Round every number as far as possible."""
        for axis in self.variants.search.words:
            if axis.name not in small.variant.values:
                continue
            for value in _rounder(axis, small.variant.values[axis.name]):
                values = {**small.variant.values, axis.name: value}
                (found,) = self.variants.attacked([replace(small.variant, values=values)])
                if found.score >= self.least:
                    small = found
                    break
        return small


def _shorter_times(duration_s: float, warmup_s: float) -> Iterator[dict[str, str]]:
    """Round durations below a given one, with a warm-up of at most the same share."""
    length_s = duration_s
    while (length_s := _round_below(length_s)) >= 1.0:
        warmup = _round_below(length_s * warmup_s / duration_s * 1.001) if warmup_s else 0.0
        yield {"duration": f"{length_s:g}s", "warmup": f"{warmup:g}s"}


def _round_below(size: float) -> float:
    """The largest number of the series 1, 2, 5, 10, ... below a size."""
    scale = 10.0 ** math.floor(math.log10(size))
    numbers = [step * scale for step in (_ROUND[-1] / 10.0, *_ROUND)]
    return max(number for number in numbers if number < size * (1.0 - 1e-9))


def _rounder(axis: StudyAxis, value: Value) -> Iterator[Value]:
    """Rounder values within the bounds, the roundest first: 1, 2, 5, ..., then fewer digits."""
    found = quantity(value)
    if axis.ends is None or found is None or found.size <= 0.0:
        return
    scale = 10.0 ** math.floor(math.log10(found.number))
    series = [step * scale for step in (*_ROUND, 10.0)]
    numbers = [min(series, key=lambda each: abs(math.log(each / found.number)))]
    numbers += [float(f"{found.number:.{digits}e}") for digits in (0, 1)]
    one = found.size / found.number
    for number in dict.fromkeys(numbers):
        if axis.ends.low.size <= number * one <= axis.ends.high.size and number != found.number:
            text = found.shortest(number * one)
            yield round(number) if axis.ends.is_whole else text if found.unit else number


def _or_less(score: float) -> float:
    return -math.inf if math.isnan(score) else score

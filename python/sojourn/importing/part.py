"""A part of a measurement, by time."""

from __future__ import annotations

from dataclasses import replace

from sojourn.errors import InputError
from sojourn.importing.measured import Measurement, StepCurve


def part_text(begin_s: float, end_s: float | None) -> str:
    """Which part is imported."""
    return f"the part from {begin_s:g} s to {'the end' if end_s is None else f'{end_s:g} s'}"


def part(measured: Measurement, begin_s: float, end_s: float | None, name: str) -> Measurement:
    """The part of a measurement between two times, counted from the first value of each series.

    Args:
        measured: the whole measurement.
        begin_s: where the part begins, in seconds.
        end_s: where it ends; None is the end of the measurement.
        name: name of the file, for errors.

    Raises:
        InputError: nothing lies in this range.
    """

    def cut(whole: StepCurve | None) -> StepCurve | None:
        return whole and _curve(whole, begin_s, end_s, name)

    result = replace(
        measured,
        down=cut(measured.down),
        up=cut(measured.up),
        rtt=cut(measured.rtt),
        delay=cut(measured.delay),
        jitter=cut(measured.jitter),
        losses=cut(measured.losses),
        opportunities_ms=_opportunities(measured, begin_s, end_s, name),
        read=[*measured.read, f"of this {part_text(begin_s, end_s)}"],
        unknown=list(measured.unknown),
    )
    if result.losses:
        result.loss = result.losses.mean
    elif measured.loss:
        result.unknown.append("the losses in this part: their share is that of the whole file")
    if result.rtt and not measured.is_loaded:
        result.base_rtt_s = min(result.rtt.values)
    return result


def _curve(whole: StepCurve, begin_s: float, end_s: float | None, name: str) -> StepCurve:
    end = whole.end_s if end_s is None else min(end_s, whole.end_s)
    if begin_s >= end:
        raise InputError(f"{name}: ends at {whole.end_s:g} s, and --from is {begin_s:g} s")
    before = sum(time <= begin_s for time in whole.times_s)
    kept = [time for time in whole.times_s if begin_s < time < end]
    times = (0.0, *(round(time - begin_s, 6) for time in kept))
    return StepCurve(times, whole.values[before - 1 : before + len(kept)], round(end - begin_s, 6))


def _opportunities(
    measured: Measurement, begin_s: float, end_s: float | None, name: str
) -> list[int] | None:
    times = measured.opportunities_ms
    if times is None:
        return None
    begin = round(begin_s * 1e3)
    end = times[-1] if end_s is None else round(end_s * 1e3)
    kept = [time - begin for time in times if begin <= time <= end]
    if not kept or kept[-1] == 0:
        raise InputError(f"{name}: has no opportunities in this range; it ends at {times[-1]} ms")
    return kept

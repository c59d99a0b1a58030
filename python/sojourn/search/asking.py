"""Points from Optuna, within a search's ranges and lists of values.

We use Optuna because its samplers (TPE, NSGA-II) are well maintained and its ask-and-tell interface
leaves the runs to us (extra ``sojourn[tune]``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sojourn.errors import InputError
from sojourn.study.axes import StudyAxis, Value

TOGETHER = 8
"""Points per request, whatever the number of workers."""
DIGITS = 3


def sampler(directions: int, seed: int) -> Any:
    """An Optuna study with a sampler: TPE for one direction, NSGA-II for several.

    Args:
        directions: number of objectives; smaller is better.
        seed: seed of the sampler.

    Raises:
        InputError: Optuna is not installed.
    """
    try:
        import optuna
    except ImportError as error:
        raise InputError("Optuna is not installed; pip install 'sojourn[tune]'") from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    made = (
        optuna.samplers.TPESampler(seed=seed, multivariate=True, n_startup_trials=2 * TOGETHER)
        if directions == 1
        else optuna.samplers.NSGAIISampler(seed=seed, population_size=2 * TOGETHER)
    )
    return optuna.create_study(sampler=made, directions=["minimize"] * directions)


def suggest(trial: Any, axes: Sequence[StudyAxis]) -> dict[str, Value]:
    """The values of a point, by axis; ranges are rounded to `DIGITS` significant digits."""
    return {axis.name: _value(trial, axis) for axis in axes}


def _value(trial: Any, axis: StudyAxis) -> Value:
    if axis.ends is None:
        choices = list(range(len(axis.values)))
        return axis.values[int(trial.suggest_categorical(axis.name, choices))]
    ends = axis.ends
    low, high = ends.low.size, ends.high.size
    if ends.is_whole:
        return int(trial.suggest_int(axis.name, int(low), int(high), log=ends.log))
    return ends.rounded(trial.suggest_float(axis.name, low, high, log=ends.log), DIGITS)


def tell(study: Any, trial: Any, values: Sequence[float], limits: Mapping[str, float]) -> None:
    """Tell the value of a point; one that is not a number counts as failed.

    Args:
        study: the result of `sampler`.
        trial: the point.
        values: its objectives.
        limits: constraints by name, met if at most 0.
    """
    import optuna

    if not all(map(math.isfinite, [*values, *limits.values()])):
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
        return
    for name, value in limits.items():
        trial.set_constraint(name, value)
    study.tell(trial, list(values))

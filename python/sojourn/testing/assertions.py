"""Assertions in Python about metrics, decided over seeds as ``[[expect]]`` is.

::

    def test_delay(sojourn_run):
        run = sojourn_run("home.toml", aqm="pie")
        assert run.metric("delay_p95", of="bottleneck") < ms(20)

A comparison is true if it has passed and false if it has failed. One that is undecided after the
last seed, or invalid, raises `NotDecided`, so it never passes.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sojourn import reading
from sojourn.describing.library import ScenarioLike, load, seeded
from sojourn.describing.metrics import row_of
from sojourn.describing.quantity import Quantity, required
from sojourn.describing.queues import choose_link, leaves, scope_of
from sojourn.engines.registry import EngineSelection
from sojourn.errors import InputError
from sojourn.running.result import Result
from sojourn.running.runs import run, with_aqm
from sojourn.testing.decisions import Decision
from sojourn.testing.expectations import Expected, TestedScenario, beyond_reach, rule_of
from sojourn.testing.remedies import commands
from sojourn.testing.session import Session

# How texts write the units of table `summary`; the others are plain numbers.
_UNITS = {"s": "s", "bit/s": "bit", "packets": "packets"}


class NotDecided(AssertionError):
    """An expectation that has neither passed nor failed: undecided, or a run was invalid."""


def ms(number: float) -> float:
    """Milliseconds, in seconds."""
    return number * 1e-3


def mbit(number: float) -> float:
    """Mbit/s, in bit/s."""
    return number * 1e6


@dataclass(repr=False)
class SeededRuns:
    """The runs of one scenario, made for as many seeds as a decision needs.

    Attributes:
        name: the name of the file, for messages.
        tested: what is run.
        session: makes the runs.
        confidence: probability with which a decision holds.
        max_seeds: an assertion that is undecided after this many raises `NotDecided`.
    """

    name: str
    tested: TestedScenario
    session: Session = field(default_factory=Session)
    confidence: float = 0.95
    max_seeds: int = 40

    def __repr__(self) -> str:
        """Its name and variant, for pytest's explanation of an assertion."""
        label = self.tested.label
        return f"<runs of {self.name}{f' ({label})' if label else ''}>"

    def metric(self, name: str, of: str | None = None) -> SeededMetric:
        """A metric of table ``summary``, to be compared with a bound.

        Args:
            name: such as ``delay_p95``.
            of: the link, leaf class (``LINK.CLASS``) or traffic class; may be left out if there is
                only one link or traffic class.

        Raises:
            InputError: the metric, link or class is unknown.
        """
        row = row_of(name)
        scope = row.scope
        if scope == "":
            raise InputError(f"metric {name}: is unknown; docs/reference/tables.md lists them")
        if scope == "run":
            return SeededMetric(self, f"run/{name}", "")
        names = self._classes() if scope == "class" else self.tested.scenario.links
        if of is None and len(names) != 1:
            raise InputError(f"metric {name}: give of=, one of {', '.join(names)}")
        known = [*names, *(leaves(self.tested.scenario) if scope == "queue" else [])]
        if of is not None and of not in known:
            raise InputError(f"metric {name}: unknown `{of}`; known: {', '.join(known)}")
        owner = names[0] if of is None else of
        scope = scope_of(self.tested.scenario, scope, owner)
        return SeededMetric(self, f"{scope}/{owner}/{name}", owner)

    def result(self, seed: int | None = None) -> Result:
        """The run of one seed, the scenario's own by default, with all its tables."""
        scenario = self.tested.scenario
        return run(scenario if seed is None else seeded(scenario, seed), engine=self.tested.engine)

    def _classes(self) -> list[str]:
        resolved = json.loads(self.tested.scenario.resolved_json())
        return [*dict.fromkeys(group["class"] for group in resolved["flows"])]


Bound = float | str
"""A number in the metric's SI unit, or a text such as ``20ms``."""


@dataclass(eq=False)
class SeededMetric:
    """A metric of `SeededRuns`; ``<`` and ``>`` decide it over seeds.

    The other side is a bound, or the same metric of runs that `sojourn_compare` made, which is
    compared seed by seed: ``pie < 0.8 * taildrop``.

    Attributes:
        runs: what is run.
        key: key of the metric in `Result.summary`.
        of: its link or class.
        factor: factor of the other side where two are compared.
        decision: the last decision.
    """

    runs: SeededRuns
    key: str
    of: str
    factor: float = 1.0
    decision: Decision | None = None

    def __lt__(self, bound: Bound | SeededMetric) -> bool:
        return self._is_passed("below", bound)

    def __gt__(self, bound: Bound | SeededMetric) -> bool:
        return self._is_passed("above", bound)

    def __bool__(self) -> bool:
        """Refused: without a bound an assertion would pass for any value."""
        raise InputError(f"{self.key}: is compared with nothing; write < or > and a bound")

    def __eq__(self, other: object) -> bool:
        """Refused, as ``!=``, ``<=`` and ``>=`` are: an interval equals nothing."""
        raise InputError(f"{self.key}: has an interval over seeds; compare it with < or >")

    __ne__ = __le__ = __ge__ = __eq__
    __hash__ = object.__hash__

    def __rmul__(self, factor: float) -> SeededMetric:
        """The other side of a comparison, such as ``0.8 * taildrop``."""
        return SeededMetric(self.runs, self.key, self.of, self.factor * factor)

    def __repr__(self) -> str:
        """What was measured, for the message of a failed assertion."""
        decision = self.decision
        name = self.key.rpartition("/")[2] + (f" of {self.of}" if self.of else "")
        label = self.runs.tested.label
        name = f"{name} ({label})" if label else name
        factor = "" if self.factor == 1.0 else f"{self.factor:g} * "
        return f"{factor}{name}" + (f": {decision.measured}" if decision else "")

    def decide(self, low: Bound | SeededMetric | None, high: Bound | SeededMetric | None,
               text: str) -> Decision:  # fmt: skip
        """Decide whether the metric lies between two bounds, and keep the decision.

        Args:
            low: None for no lower bound.
            high: None for no upper bound.
            text: the bounds, for messages.

        Raises:
            InputError: a bound is invalid, or the metric has no value in any run.
        """
        if self.factor != 1.0:
            raise InputError("a factor belongs to the other side: a.metric(...) < 0.8 * b.metric()")
        other = next((each for each in (low, high) if isinstance(each, SeededMetric)), None)
        if other is not None and other.key != self.key:
            raise InputError(f"{self.key}: is compared with {other.key}; give the same metric")
        if other is not None and other.runs.session is not self.runs.session:
            raise InputError(f"{self.key}: runs are paired by `sojourn_compare`; use its runs")
        against = None if other is None else other.runs.tested
        expected = Expected(
            self.runs.name, 0, self.key, self.of, text, self._size(low, -math.inf),
            self._size(high, math.inf), other is not None, self.runs.tested,
            against, against.label if against else "",
            rule_of(self.key, self.runs.confidence, self.runs.max_seeds),
        )  # fmt: skip
        (self.decision,) = self.runs.session.decide_all([expected])
        return self.decision

    def _is_passed(self, word: str, bound: Bound | SeededMetric) -> bool:
        low, high = (None, bound) if word == "below" else (bound, None)
        decision = self.decide(low, high, f"{word} {bound}")
        if decision.outcome != "failed":
            require_passed(decision)
        return decision.outcome == "passed"

    def _size(self, bound: Bound | SeededMetric | None, absent: float) -> float:
        if bound is None:
            return absent
        if isinstance(bound, SeededMetric):
            return bound.factor
        unit = row_of(self.key).unit
        given = required(self.key, bound)
        if isinstance(bound, str) and given.family != Quantity(1.0, _UNITS.get(unit, "")).family:
            raise InputError(f"{self.key}: `{bound}` is not in {unit}, the unit of this metric")
        if not math.isfinite(given.size):
            raise InputError(f"{self.key}: {bound} is not a bound; give a finite number")
        if why := beyond_reach(self.key, "", bound):
            raise InputError(f"{self.key}: {why}")
        return given.size


def assert_metric(
    runs: SeededRuns,
    metric: str,
    *,
    of: str | None = None,
    below: Bound | SeededMetric | None = None,
    above: Bound | SeededMetric | None = None,
) -> Decision:
    """Assert that a metric lies between bounds; a failure names two commands that show it.

    Args:
        runs: results of ``sojourn_run`` or ``sojourn_compare``.
        metric: such as ``delay_p95``.
        of: the link or traffic class.
        below: upper bound.
        above: lower bound.

    Raises:
        AssertionError: it has failed.
        NotDecided: it is undecided, or a run was invalid.
        InputError: no bound is given, or one is invalid.
    """
    bounds = {"above": above, "below": below}
    text = " and ".join(f"{word} {bound}" for word, bound in bounds.items() if bound is not None)
    if not text:
        raise InputError(f"assert_metric: {metric}: give below or above")
    decision = runs.metric(metric, of).decide(above, below, text)
    require_passed(decision)
    return decision


def require_passed(decision: Decision) -> None:
    """Refuse a decision that has not passed, with two commands that show it.

    Doubtful runs give warnings, which pytest lists.

    Raises:
        AssertionError: it has failed.
        NotDecided: it is undecided, or a run was invalid.
    """
    for text in decision.warnings:
        warnings.warn(text, stacklevel=2)
    if decision.outcome == "passed":
        return
    expected = decision.expected
    first = f"{decision.outcome}: {expected.place}: {expected.name}: {decision.measured}"
    kind = AssertionError if decision.outcome == "failed" else NotDecided
    raise kind("\n".join([first, *commands(decision)]))


def of_scenarios(
    scenario: ScenarioLike,
    aqms: Sequence[str | None],
    engine: EngineSelection,
    session: Session,
    *,
    link: str | None = None,
    sets: dict[str, object] | None = None,
    confidence: float = 0.95,
    max_seeds: int = 40,
) -> list[SeededRuns]:
    """The runs of a scenario under each of these AQMs, made in one session.

    Args:
        scenario: file, shipped name, `sojourn.scenario.Scenario` or loaded scenario.
        aqms: None for the scenario's own.
        engine: the engine of the runs.
        session: makes the runs.
        link: the link that gets the AQM; as for `sojourn.run`.
        sets: dotted keys with values that override the file.
        confidence: probability with which a decision holds.
        max_seeds: the most seeds of a decision.
    """
    loaded = load(scenario, sets)
    name = reading.shown(scenario) if isinstance(scenario, str | Path) else loaded.name
    chosen = choose_link(loaded, link) if any(aqms) else None
    return [
        SeededRuns(
            name,
            TestedScenario(with_aqm(loaded, aqm, chosen if aqm else None, has_sets=bool(sets)),
                           engine, chosen,
                           aqm or "", sets or {}),
            session, confidence, max_seeds,
        )
        for aqm in aqms
    ]  # fmt: skip

"""The expectations of a scenario file, one for each of its cases."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sojourn import _core
from sojourn.describing.arguments import whole
from sojourn.describing.formatting import counted
from sojourn.describing.library import find, load
from sojourn.describing.metrics import row_of
from sojourn.describing.quantity import required
from sojourn.describing.queues import choose_link, refuse_replaced, scope_of
from sojourn.endpoint import transports, with_endpoints
from sojourn.engines import registry
from sojourn.engines.protocol import OptionValues
from sojourn.engines.registry import EngineSelection
from sojourn.errors import InputError
from sojourn.study.until import Until, fewest_seeds

PATTERN = "*.scenario.toml"
"""The files that are collected from a folder."""
BASELINE = "baseline"
_BOUNDS = ("below", "above", "within", "equivalent")
_MOST = {"jain": 1.0, "voice_mos": 4.5}
"""The largest value of metrics that are not shares, which are at most 1."""


@dataclass(frozen=True)
class TestedScenario:
    """A scenario with the AQM and the engine that a case names.

    Attributes:
        scenario: under its own seed.
        engine: the engine.
        link: the link whose AQM the case names; None without one.
        aqm: that AQM, as written; empty for the scenario's own.
        sets: dotted keys and values that override the file.
        endpoints: the transport libraries of its flows.
    """

    scenario: _core.Scenario
    engine: EngineSelection
    link: str | None = None
    aqm: str = ""
    sets: Mapping[str, object] = field(default_factory=dict)
    endpoints: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """As text: ``pie on linux, flows.bulk.count=50``; empty for the file as it is."""
        engine = "" if self.engine.name == registry.NAMES[0] else f"on {self.engine.name}"
        sets = [f"{key}={value}" for key, value in self.sets.items()]
        return ", ".join(filter(None, [" ".join(filter(None, [self.aqm, engine])), *sets]))


@dataclass(frozen=True)
class Expected:
    """One expectation about one metric of one queue or class, in one case.

    Attributes:
        file: the file as the user named it.
        line: line of the expectation, from 1; 0 if unknown.
        key: key of the metric in `Result.summary`.
        of: name of that queue or class; empty for the whole run.
        text: the bounds as written: ``below 20ms``.
        low: lower bound; may be infinite.
        high: upper bound.
        is_ratio: whether the value is divided by the reference's.
        variant: the variant to run.
        reference: the variant of the reference, if that is another AQM or engine.
        against: the reference as written; may be empty.
        rule: numbers of seeds at which to look, and the interval of a look.
    """

    file: str
    line: int
    key: str
    of: str
    text: str
    low: float
    high: float
    is_ratio: bool
    variant: TestedScenario
    reference: TestedScenario | None
    against: str
    rule: Until

    def with_max_seeds(self, seeds: int) -> Expected:
        """The expectation with another maximum number of seeds.

        Raises:
            InputError: the seeds are too few for an interval.
        """
        rule = rule_of(self.key, self.rule.confidence, seeds)
        return replace(self, rule=rule)

    @property
    def metric(self) -> str:
        """Name of the metric, such as ``delay_p95``."""
        return self.key.rpartition("/")[2]

    @property
    def name(self) -> str:
        """Unique within the file: ``delay_p95 of bottleneck below 20ms (pie)``."""
        of = f" of {self.of}" if self.of else ""
        against = f" against {self.against}" if self.against else ""
        label = f" ({self.variant.label})" if self.variant.label else ""
        return f"{self.metric}{of} {self.text}{against}{label}"

    @property
    def place(self) -> str:
        """File and line, for messages."""
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def series(self) -> str:
        """The name of its values in a stored baseline."""
        return f"{self.key} ({self.variant.label})" if self.variant.label else self.key


def files(sources: Sequence[str | Path]) -> list[Path]:
    """Scenario files, with folders replaced by their files.

    Raises:
        InputError: a file does not exist, or a folder has no scenarios.
    """
    found: list[Path] = []
    for source in map(Path, sources):
        if not source.is_dir():
            found.append(find(source))
            continue
        inside = sorted(source.rglob(PATTERN))
        if not inside:
            raise InputError(f"{source}: has no file {PATTERN}; name a scenario file")
        found += inside
    return list(dict.fromkeys(found))


def read(
    source: str | Path, *, engine: str | None = None, options: OptionValues | None = None,
    needed: bool = True, endpoints: Mapping[str, str] | None = None,
) -> list[Expected]:  # fmt: skip
    """The expectations of a scenario file.

    Args:
        source: the file.
        engine: replaces the engines of all expectations.
        options: options of engines.
        needed: whether a file without expectations is refused.
        endpoints: transport libraries, as for `sojourn.run`; those without a flow are ignored.

    Raises:
        InputError: it has none, or a case or a number of seeds is invalid.
        ScenarioError: the file is not a legal scenario.
    """
    scenario = load(source)
    used = transports(scenario)
    chosen = {name: text for name, text in (endpoints or {}).items() if name in used}
    written = json.loads(scenario.document_json()).get("expect", [])
    if not written and needed:
        raise InputError(f"{source}: has no [[expect]]; write one with metric and below")
    found = [
        each
        for index, expectation in enumerate(written)
        for each in _Reader(
            str(source), scenario, index, expectation, engine, options, chosen
        ).all()
    ]
    names = [each.name for each in found]
    for each in found:
        if names.count(each.name) > 1:
            raise InputError(f"{each.place}: `{each.name}` is expected twice; remove one")
    return found


class _Reader:
    """One ``[[expect]]`` of a file."""

    def __init__(
        self, file: str, scenario: _core.Scenario, index: int, written: dict[str, Any],
        engine: str | None, options: OptionValues | None, endpoints: Mapping[str, str],
    ) -> None:  # fmt: skip
        self._endpoints = endpoints
        self._file, self._scenario, self._written = file, scenario, written
        self._index = index
        self._line = scenario.line_of(f"expect[{index}]") or 0
        self._engine, self._options = engine, options

    def all(self) -> Iterator[Expected]:
        against = self._written.get("against", "")
        self._check_reach(against)
        text, low, high = _bounds(self._written)
        is_ratio = bool(against) and not (
            "equivalent" in self._written and not str(self._written["equivalent"]).endswith("%")
        )
        for position, case in enumerate(self._written.get("for", [{}])):
            variant = self._variant(case, f"for[{position}]")
            reference = self._reference(variant, against)
            for of, key in self._keys():
                yield Expected(
                    self._file, self._line, key, of, text, low, high, is_ratio, variant, reference,
                    against, self._rule(key),
                )  # fmt: skip

    def _check_reach(self, against: str) -> None:
        """Refuse bounds that every value meets, or none, such as 5 for a share of 5 %."""
        for key in (key for key in _BOUNDS if key in self._written):
            written = self._written[key]
            for bound in written if isinstance(written, list) else [written]:
                is_ratio = against and (key != "equivalent" or str(bound).endswith("%"))
                if not is_ratio and (why := beyond_reach(self._written["metric"], key, bound)):
                    is_plain = 1.0 < _size(bound) <= 100.0 and not str(bound).endswith("%")
                    percent = f"; {bound} percent are written {bound}%" if is_plain else ""
                    raise self._refuse(key, why + percent)

    def _refuse(self, key: str, why: str) -> InputError:
        path = f"expect[{self._index}].{key}"
        line = self._scenario.line_of(path) or self._line
        return InputError(f"{self._file}:{line}: {path}: {why}")

    def _keys(self) -> list[tuple[str, str]]:
        """Names and keys of the metric's queues or classes; the scenario has checked the names."""
        metric, of = self._written["metric"], self._written.get("of", [])
        scope = row_of(metric).scope
        if scope == "run":
            return [("", f"run/{metric}")]
        names = [of] if isinstance(of, str) else of
        if not names:
            resolved = json.loads(self._scenario.resolved_json())
            classes = dict.fromkeys(group["class"] for group in resolved["flows"])
            names = self._scenario.links if scope == "queue" else [*classes]
        return [
            (name, f"{scope_of(self._scenario, scope, name)}/{name}/{metric}") for name in names
        ]

    def _variant(self, case: str | dict[str, Any], key: str) -> TestedScenario:
        table: dict[str, Any] = {"aqm": case} if isinstance(case, str) else case
        sets: dict[str, object] = table.get("set", {})
        aqm = table.get("aqm", "")
        try:
            name = self._engine or table.get("engine", registry.NAMES[0])
            engine = registry.select_one(name, self._fitting(name))
            scenario = load(self._file, sets) if sets else self._scenario
            scenario = with_endpoints(scenario, self._endpoints or None)
            link = choose_link(scenario, None) if aqm else None
            if link:
                refuse_replaced(scenario, link)
            changed = scenario.with_queue(link, aqm) if link else scenario
        except (InputError, _core.ScenarioError) as error:
            raise self._refuse(key, str(error)) from None
        return TestedScenario(changed, engine, link, aqm, sets, self._endpoints)

    def _fitting(self, name: str) -> dict[str, Any]:
        """This engine's options; `sojourn test` has checked that some engine has each."""
        has = {option.name for owner, option in registry.options() if owner == name}
        return {key: value for key, value in (self._options or {}).items() if key in has}

    def _reference(self, variant: TestedScenario, against: str) -> TestedScenario | None:
        if not against or against == BASELINE:
            return None
        if against in registry.NAMES:
            return self._on(variant, against)
        try:
            link = choose_link(variant.scenario, None)
        except InputError as error:
            raise self._refuse("against", str(error)) from None
        scenario = variant.scenario.with_queue(link, against)
        if scenario.resolved_json() == variant.scenario.resolved_json():
            raise self._refuse("against", f"{against} is compared with itself; name another AQM")
        return replace(variant, scenario=scenario, link=link, aqm=against)

    def _on(self, variant: TestedScenario, engine: str) -> TestedScenario:
        """The variant on another engine."""
        if engine == variant.engine.name:
            raise self._refuse("against", f"{engine} is compared with itself; name another engine")
        try:
            return replace(variant, engine=registry.select_one(engine, self._fitting(engine)))
        except InputError as error:
            raise self._refuse("against", str(error)) from None

    def _rule(self, key: str) -> Until:
        try:
            return rule_of(key, self._written["confidence"], self._written["max_seeds"])
        except InputError as error:
            raise self._refuse("max_seeds", str(error)) from None


def beyond_reach(metric: str, key: str, bound: object) -> str:
    """Why a bound says nothing about a metric that has a largest value; else empty.

    Args:
        metric: the metric.
        key: ``below``, ``above``, ``within`` or ``equivalent``.
        bound: the bound as written.
    """
    row = row_of(metric)
    most = 1.0 if row.kind == "share" else _MOST.get(row.name)
    size = _size(bound)
    if most is None or size < most or (size == most and key != "equivalent"):
        return ""
    return f"{bound} is beyond every value: {row.name} is at most {most:g}"


def rule_of(key: str, confidence: float, max_seeds: int) -> Until:
    """When a number of seeds is enough to look at a metric.

    Raises:
        InputError: the seeds are too few for an interval.
    """
    max_seeds = whole("max_seeds", max_seeds, 1)
    rule = Until(key, math.inf, False, confidence, max_seeds)
    if max_seeds < (needed := fewest_seeds(rule)):
        raise InputError(
            f"no interval of {100 * confidence:g} % for {key.rpartition('/')[2]} comes of "
            f"{counted(max_seeds, 'seed')}; at least {needed} are needed"
        )
    return rule


def _bounds(written: Mapping[str, Any]) -> tuple[str, float, float]:
    """The bounds as text, and as the interval of allowed values."""
    parts = []
    for key in _BOUNDS:
        if key in written:
            value = written[key]
            shown = " to ".join(map(str, value)) if isinstance(value, list) else value
            parts.append(f"{key} {shown}")
    text = " and ".join(parts)
    if "equivalent" in written:
        amount = _size(written["equivalent"])
        centre = 1.0 if str(written["equivalent"]).endswith("%") else 0.0
        return text, centre - amount, centre + amount
    low, high = written.get("within", [written.get("above"), written.get("below")])
    return (
        text,
        -math.inf if low is None else _size(low),
        math.inf if high is None else _size(high),
    )


def _size(value: object) -> float:
    if isinstance(value, str) and value.endswith("%"):
        return required("bound", value.removesuffix("%")).size / 100.0
    return required("bound", value).size

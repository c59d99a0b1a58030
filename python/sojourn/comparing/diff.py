"""Two AQMs on the same arrivals: the first decision that differs, and its consequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sojourn import _core
from sojourn.describing.library import ScenarioLike, Sets, load, reseeded
from sojourn.describing.metrics import shown_in
from sojourn.describing.queues import choose_link, refuse_replaced
from sojourn.endpoint import with_endpoints
from sojourn.loading.bring import AqmLike, bring
from sojourn.running.interruptible import interruptible
from sojourn.running.result import Result
from sojourn.tabular import Columns, Kind, Tabular

if TYPE_CHECKING:
    import pyarrow as pa

OPEN_LOOP = (
    "Both were fed exactly the packets that arrived at {link} in the run with {first}, at the "
    "link's own rate. This is an open loop: no sender reacts to what {second} drops or marks, so "
    "these are not the figures of a run with {second}."
)


@dataclass(frozen=True)
class Difference(Tabular):
    """The result of `diff`.

    Attributes:
        scenario: name of the scenario.
        seed: its seed; both AQMs draw from the same random stream.
        link: the link in question.
        aqms: both, as given.
        arrivals: number of packets.
        different: number of packets that were dropped or marked by one AQM only, or by both at
            different stages or for different causes.
        first: the first signal that only one AQM gave, or None: ``side`` (0 or 1), ``packet``
            (index in the order of arrival), ``t_ns``, ``flow``, ``seq``, ``bytes``,
            ``sojourn_ns``, ``fate``, ``stage``, ``cause``, ``evidence`` (state of the law just
            before it) and ``states`` (of both disciplines before the event), as rows of (name,
            value, unit).
        results: both replays, with tables ``packets`` (in the order of arrival) and ``signals``.
        warnings: one for every transport library whose runs with one seed may differ.
    """

    scenario: str
    seed: int
    link: str
    aqms: tuple[str, str]
    arrivals: int
    different: int
    first: dict[str, Any] | None
    results: tuple[Result, Result]
    warnings: tuple[str, ...] = ()

    @property
    def how(self) -> str:
        """The experiment, in sentences."""
        return OPEN_LOOP.format(link=self.link, first=self.aqms[0], second=self.aqms[1])

    @cached_property
    def fates(self) -> tuple[str, str]:
        """The fate of the first packet that differs, under each AQM."""
        if self.first is None:
            return ("", "")
        place = self.first["packet"]
        rows = [result.rows("packets", place, 1)[0] for result in self.results]
        return (_fate(rows[0]), _fate(rows[1]))

    @cached_property
    def counts(self) -> dict[str, tuple[int, int]]:
        """Drops and marks by cause, under each AQM: ``{"dropped random": (40, 37)}``."""
        sides = [_counts(result) for result in self.results]
        keys = sorted({*sides[0], *sides[1]})
        return {key: (sides[0].get(key, 0), sides[1].get(key, 0)) for key in keys}

    @cached_property
    def delays(self) -> dict[str, tuple[float | None, float | None]]:
        """Mean and quantiles of the sojourn time in seconds, under each AQM."""
        first, second = (result.summary for result in self.results)
        keys = {row.name: f"queue/{self.link}/{row.name}" for row in shown_in("diff")}
        return {metric: (first.get(key), second.get(key)) for metric, key in keys.items()}

    def to_arrow(self) -> pa.Table:
        """Signals by cause and sojourn times under both AQMs.

        Returns:
            Columns ``what`` (such as ``dropped random`` or ``delay_p95``), ``unit`` (``packets`` or
            ``s``), ``aqm``, and ``value``, or null: two rows for each ``what``.
        """
        return self._content().to_arrow()

    def _content(self) -> Columns:
        parts = [(self.counts.items(), "packets"), (self.delays.items(), "s")]
        rows = [
            (what, unit, aqm, value)
            for items, unit in parts
            for what, pair in items
            for aqm, value in zip(self.aqms, pair, strict=True)
        ]
        kinds: dict[str, Kind] = {
            "what": "text", "unit": "text", "aqm": "text", "value": "number",
        }  # fmt: skip
        return Columns.of_rows(kinds, rows)

    def to_json(self) -> dict[str, Any]:
        """Everything but the tables."""
        return {
            "scenario": self.scenario,
            "seed": self.seed,
            "link": self.link,
            "aqms": list(self.aqms),
            "how": self.how,
            "arrivals": self.arrivals,
            "different": self.different,
            "first": self.first and {**self.first, "fates": list(self.fates)},
            "signals": {key: list(pair) for key, pair in self.counts.items()},
            "delays_s": {key: list(pair) for key, pair in self.delays.items()},
            "warnings": list(self.warnings),
        }


def diff(
    first: AqmLike,
    second: AqmLike,
    scenario: ScenarioLike = "traffic-mix",
    *,
    link: str | None = None,
    seed: int | None = None,
    sets: Sets | None = None,
    endpoints: Mapping[str, str] | None = None,
) -> Difference:
    """Run a scenario with one AQM and replay its arrivals at a link under both AQMs.

    Args:
        first: the AQM of the run, such as ``pie@linux``, ``mine.py:MyLaw`` or a class.
        second: the other AQM.
        scenario: file, shipped name, `sojourn.scenario.Scenario` or loaded scenario.
        link: the link whose arrivals are replayed; by default the only link, or the one named
            ``bottleneck``.
        seed: seed of every random stream; the scenario's own by default.
        sets: dotted keys with values that override the scenario file.
        endpoints: transport libraries, as for `sojourn.run`.

    Raises:
        InputError: the scenario or link does not exist, or there are several links and none was
            named.
        ScenarioError: the scenario, an AQM or a transport library is not legal.
        LawError: a custom law failed.
        Interrupted: Ctrl-C.
    """
    loaded = load(scenario, sets)
    loaded = reseeded(loaded, seed)
    loaded, place = with_endpoints(loaded, endpoints), choose_link(loaded, link)
    if sets:
        refuse_replaced(loaded, place)
    brought = bring([first, second], runs=True)
    loaded = loaded.with_laws(brought.laws)
    sides = [loaded.with_queue(place, aqm) for aqm in brought.aqms]
    found = interruptible(lambda switch: _core.diff(sides[0], sides[1], place, switch))
    results = found.sides
    return Difference(
        scenario=loaded.name,
        seed=loaded.seed,
        link=place,
        aqms=(_written(first), _written(second)),
        arrivals=found.arrivals,
        different=found.different,
        first=found.first,
        results=(Result(results[0]), Result(results[1])),
        warnings=tuple(loaded.endpoint_warnings),
    )


def _written(aqm: AqmLike) -> str:
    return aqm if isinstance(aqm, str) else aqm.__name__


def _fate(row: dict[str, Any]) -> str:
    """``sent``, ``sent, marked at dequeue (random)``, ``dropped at enqueue (overflow)``."""
    parts = [row["fate"]]
    if row["marked"]:
        parts.append(f"marked at {row['mark_stage']} ({row['mark_cause']})")
    if row["fate"] == "dropped":
        parts[0] = f"dropped at {row['stage']} ({row['cause']})"
    return ", ".join(parts)


def _counts(result: Result) -> dict[str, int]:
    columns = result.columns("signals")
    pairs = zip(columns["signal"], columns["cause"], strict=True)
    return Counter(f"{signal} {cause}" for signal, cause in pairs)

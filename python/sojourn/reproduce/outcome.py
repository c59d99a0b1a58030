"""From kept runs to measured values and judged claims."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sojourn.comparing.statistics import Estimate, estimate
from sojourn.describing.arguments import in_order, optional
from sojourn.describing.library import Sets
from sojourn.engines import registry
from sojourn.engines.registry import EngineLike
from sojourn.errors import InputError
from sojourn.loading.bring import AqmsLike
from sojourn.reproduce import reasons, work
from sojourn.reproduce.asked import Change, with_asked
from sojourn.reproduce.paper import Item, Paper, Profile, Values
from sojourn.reproduce.select import select
from sojourn.reproduce.verdict import GOOD, JudgedClaim, judge, not_covered
from sojourn.running.replicas import Progress
from sojourn.running.store import Store, simulator
from sojourn.study.executors import Workers, chosen
from sojourn.tabular import Tabular, arrow, known

if TYPE_CHECKING:
    import pyarrow as pa

    from sojourn.reproduce.pool import Pool

FORMAT = 1

_NAMES = 'give papers or items, as in ["pie", "kids:F6"]'


Say = Callable[[str], None]


def quiet(_what: str) -> None:
    """Discard a message."""


@dataclass(frozen=True)
class MeasuredItem:
    """One figure or table, measured.

    Attributes:
        item: the item.
        plan: its runs.
        values: measured values by key, all seeds pooled.
        by_seed: the same seed by seed.
        claims: the judged claims.
        variants: the same claims judged by the values of a variant, by its key.
    """

    item: Item
    plan: work.Plan
    values: Values
    by_seed: Sequence[Values]
    claims: Sequence[JudgedClaim]
    variants: Mapping[str, Sequence[JudgedClaim]] = field(default_factory=dict)

    def as_variant(self, key: str) -> MeasuredItem:
        """The item with the runs, values and claims of one of its variants."""
        if key not in self.variants:
            return self
        start = f"{key}."
        cases = self.plan.cases.items()
        own = {name.removeprefix(start): runs for name, runs in cases if name.startswith(start)}
        return replace(
            self,
            plan=replace(self.plan, cases=own),
            values=_of(key, self.values),
            by_seed=[_of(key, values) for values in self.by_seed],
            claims=self.variants[key],
            variants={},
        )

    def without_asked(self) -> MeasuredItem:
        """The item with the runs of the paper's own readings only, without a reader's variants."""
        asked = self.item.asked()
        cases = self.plan.cases.items()
        own = {key: runs for key, runs in cases if key.partition(".")[0] not in asked}
        return replace(self, plan=replace(self.plan, cases=own))

    def spread(self, key: str) -> Estimate:
        """Mean and 95 % interval of a value over the seeds."""
        return estimate([values.get(key, math.nan) for values in self.by_seed])

    def mean(self, key: str) -> float:
        """The mean of a value over the seeds; the value itself without randomness."""
        return self.spread(key).mean if self.by_seed else self.values.get(key, math.nan)


@dataclass(frozen=True)
class MeasuredPaper:
    """A paper, or those of its items that were requested."""

    paper: Paper
    items: Sequence[MeasuredItem]

    def judged(self) -> list[JudgedClaim]:
        """All claims, in the order of the items."""
        return [judged for made in self.items for judged in made.claims]

    def variants(self) -> dict[str, str]:
        """The changes of each variant of the paper's items, by the variant's key."""
        return {each.key: each.what for made in self.items for each in made.item.variants}

    def asked(self) -> dict[str, str]:
        """The variants that a reader asks for."""
        keys = {key for made in self.items for key in made.item.asked()}
        return {key: what for key, what in self.variants().items() if key in keys}

    def as_variant(self, key: str) -> MeasuredPaper:
        """The paper with claims judged by a variant, if items have it."""
        return replace(self, items=[made.as_variant(key) for made in self.items])

    def counts(self) -> Counter[str]:
        """The number of claims by verdict."""
        return Counter(judged.verdict for judged in self.judged())

    def reason(self, judged: JudgedClaim) -> str:
        """The reason why a claim does not hold, with measured numbers; may be empty."""
        return reasons.fill(judged.claim.differs, partial(self._look, judged))

    def paragraphs(self) -> dict[str, str]:
        """The paragraphs to which reasons refer, by title."""
        shown = [one.claim.differs for one in self.judged() if one.verdict not in GOOD]
        titles = dict.fromkeys(title for text in shown for title in reasons.paragraphs(text))
        return {
            title: reasons.fill(self.paper.paragraphs[title], partial(self._look, None))
            for title in titles
        }

    def _look(self, judged: JudgedClaim | None, name: str) -> float:
        """A value that a reason names, or half of its interval; NaN if it was not measured.

        `reasons` documents which value it is: of all seeds pooled, or the mean over seeds.
        """
        wants_interval = name.startswith(reasons.INTERVAL)
        item, slash, key = name.removeprefix(reasons.INTERVAL).rpartition("/")
        if key == reasons.WORST:
            part = judged.worst() if judged else None
            return (
                math.nan if part is None else (part.value, part.spread.half_width)[wants_interval]
            )
        made = self._item(item if slash or judged is None else judged.claim.where)
        if made is None:
            return math.nan
        if wants_interval:
            return made.spread(key).half_width
        if judged is None or judged.claim.tag == "order":
            return made.mean(key)
        has_interval = name in reasons.intervals(judged.claim.differs)
        return made.mean(key) if has_interval else made.values.get(key, math.nan)

    def _item(self, name: str) -> MeasuredItem | None:
        return next((made for made in self.items if made.item.id == name), None)


@dataclass(frozen=True)
class Reproduction(Tabular):
    """The result of `sojourn reproduce`.

    Attributes:
        profile: quick or full.
        engine: the engine of the runs.
        papers: papers in the requested order.
        tally: runs made and found.
        damaged: sentences about entries of the store whose runs were repeated.
        store: the store of the runs.
    """

    profile: Profile
    engine: str
    papers: Sequence[MeasuredPaper]
    tally: work.Tally
    store: Store
    damaged: list[str] = field(default_factory=list)

    def to_arrow(self) -> pa.Table:
        """One row per measured value.

        Returns:
            Columns ``paper``, ``item`` (such as ``F4``), ``key`` (of the value, with its unit),
            ``value`` (all seeds pooled), and ``mean`` and ``half_width`` (over the seeds, of the 95
            % interval; null for an item with one seed).
        """
        import pyarrow as pa

        schema = pa.schema([
            ("paper", pa.string()), ("item", pa.string()), ("key", pa.string()),
            ("value", pa.float64()), ("mean", pa.float64()), ("half_width", pa.float64()),
        ])  # fmt: skip
        rows = []
        for made, each in _items(self):
            for key, found in each.values.items():
                spread = each.spread(key) if len(each.by_seed) > 1 else None
                ends = (known(spread.mean), known(spread.half_width)) if spread else (None, None)
                row = (made.paper.key, each.item.id, key, known(found), *ends)
                rows.append(dict(zip(schema.names, row, strict=True)))
        return pa.Table.from_pylist(rows, schema)


def reproduce(
    names: str | Sequence[str] = (),
    *,
    profile: Profile = "quick",
    seeds: int | None = None,
    jobs: int | None = None,
    store: Store | None = None,
    progress: Progress | None = None,
    engine: EngineLike = registry.NAMES[0],
    executor: Executor | Workers | None = None,
    sets: Sets = (),
    aqms: AqmsLike = (),
    link: str | None = None,
    cases: str = "*",
    say: Say = quiet,
    **engine_options: Any,
) -> Reproduction:
    """Reproduce figures and tables of papers.

    Args:
        names: one or several, ``PAPER`` or ``PAPER:ITEM``; everything that the engine can run by
            default.
        profile: ``quick`` (few seeds, shorter sweeps) or ``full`` (the papers' numbers of runs).
        seeds: seeds per case; by default those of each item.
        jobs: concurrent runs; the number of cores by default.
        store: the store of finished runs; the user's store by default.
        progress: receives the progress of the runs.
        engine: one engine; ``linux``, the real kernel, has the testbed experiments only.
        executor: workers as for `sojourn.study.run_study`, which must see the store; by default
            threads of this process.
        sets: dotted keys with values that a variant of every item changes.
        aqms: see `sojourn.compare`; each gives a variant of every item, with it in place of the
            paper's AQM. Variants are measured too, but enter no score.
        link: the link that gets these AQMs; by default the only one, or ``bottleneck``.
        cases: a pattern such as ``*.pie`` for the cases that `sets` and `aqms` change.
        say: receives, after the runs, the name of the paper that is judged.
        **engine_options: options of the engine, as for `sojourn.run`.

    Raises:
        InputError: the engine, paper or item is unknown, or the engine cannot run it; `seeds` is
            not a number from 1 on; or a variant cannot be made or measured.
        ImportError: pyarrow is not installed.
        Interrupted: Ctrl-C; finished runs are kept, the next call goes on from there.
        RunFailed: a run ended in an error that is not the user's.
    """
    arrow()
    where = registry.select_one(engine, engine_options)
    seeds, jobs = optional("seeds", seeds), optional("jobs", jobs)
    wanted = [names] if isinstance(names, str) else in_order("names", names, _NAMES)
    selected = select(wanted, where.engine)
    selected = with_asked(selected, Change(sets, aqms, link, cases), profile)
    store = store or Store()
    plans = {
        paper.key: [work.plan_item(paper.key, item, profile, seeds, store, where) for item in items]
        for paper, items in selected
    }
    every = [run for of_paper in plans.values() for each in of_paper for run in each.runs()]
    if executor is not None and any(run.scenario.law_sources for run in every):
        raise InputError("cluster: workers have no custom laws; leave out --cluster")
    workers = None if executor is None else chosen(executor, jobs)
    tally = work.make(every, store, jobs=jobs, progress=progress, workers=workers)
    made = []
    for paper, _items in selected:
        say(f"judging {paper.key}")
        measured = [measure(paper, each, store) for each in plans[paper.key]]
        made.append(MeasuredPaper(paper, measured))
    return Reproduction(profile, where.describe(), made, tally, store)


def measure(paper: Paper, plan: work.Plan, store: Store) -> MeasuredItem:
    """Measure an item and judge its claims."""
    item = plan.item
    claims = paper.claims_of(item.id)
    if item.missing:
        return MeasuredItem(item, plan, {}, [], [not_covered(claim) for claim in claims])
    pools = work.pool(plan, store)
    values = item.measure_all(pools)
    by_seed = [item.measure_all(_seed(pools, i)) for i in range(plan.seeds)]
    judged = [judge(claim, values, by_seed) for claim in claims]
    variants = {
        each.key: [
            judge(claim, _of(each.key, values), [_of(each.key, one) for one in by_seed])
            for claim in claims
        ]
        for each in item.variants
    }
    return MeasuredItem(item, plan, values, by_seed, judged, variants)


def _of(variant: str, values: Values) -> Values:
    """The values of a variant under the keys of the item."""
    start = f"{variant}."
    return {key.removeprefix(start): v for key, v in values.items() if key.startswith(start)}


def _seed(pools: dict[str, Pool], index: int) -> dict[str, Pool]:
    return {key: pool.seed(index) for key, pool in pools.items()}


def to_json(reproduction: Reproduction) -> dict[str, Any]:
    """All measurements, for machines.

    ``values`` has every measured value of every item by ``paper.item.key``, all seeds pooled;
    ``run_means`` and ``half_widths`` have the mean over the seeds and half of its 95 % interval for
    items with more than one seed.
    """
    values: dict[str, float] = {}
    means: dict[str, float] = {}
    halves: dict[str, float] = {}
    for made, each in _items(reproduction):
        for key, found in each.values.items():
            name = f"{made.paper.key}.{each.item.id}.{key}"
            values[name] = found
            if len(each.by_seed) > 1:
                spread = each.spread(key)
                means[name], halves[name] = spread.mean, spread.half_width
    return {
        "format": FORMAT,
        "profile": reproduction.profile,
        "engine": reproduction.engine,
        "simulator": simulator(),
        "runs": vars(reproduction.tally),
        "values": values,
        "run_means": means,
        "half_widths": halves,
        "claims": [
            _claim(made, judged) for made in reproduction.papers for judged in made.judged()
        ],
        "variants": {made.paper.key: made.variants() for made in reproduction.papers},
        "paragraphs": {made.paper.key: made.paragraphs() for made in reproduction.papers},
        "counts": {made.paper.key: dict(made.counts()) for made in reproduction.papers},
        "items": [_item(made.paper, each) for made, each in _items(reproduction)],
    }


def _items(reproduction: Reproduction) -> list[tuple[MeasuredPaper, MeasuredItem]]:
    return [(made, each) for made in reproduction.papers for each in made.items]


def _claim(made: MeasuredPaper, judged: JudgedClaim) -> dict[str, Any]:
    claim = judged.claim
    return {
        "id": claim.id,
        "paper": made.paper.key,
        "item": claim.where,
        "tag": claim.tag,
        "what": claim.what,
        "verdict": judged.verdict,
        "first_verdict": judged.first_verdict,
        "variants": {
            key: other.verdict
            for key in made.variants()
            for other in made.as_variant(key).judged()
            if other.claim is claim
        },
        "differs": made.reason(judged),
        "parts": [
            {
                "label": part.part.label,
                "published": str(part.part.published) if part.part.published else None,
                "unit": part.part.unit,
                "measured": part.value,
                "half_width": part.spread.half_width,
                "sides": [
                    {"name": side.name, "value": value, "unit": side.unit}
                    for side, value in zip(part.part.sides, part.sides, strict=False)
                ],
                "seeds": part.spread.n,
                "verdict": part.verdict,
            }
            for part in judged.parts
        ],
    }


def _item(paper: Paper, made: MeasuredItem) -> dict[str, Any]:
    return {
        "paper": paper.key,
        "item": made.item.id,
        "title": made.item.title,
        "kind": made.item.kind,
        "covered": not made.item.missing,
        "missing": made.item.missing,
        "cases": {
            key: json.loads(runs[0].scenario.document_json())
            for key, runs in made.plan.cases.items()
        },
        "seeds": made.plan.seeds,
    }

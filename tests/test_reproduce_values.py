"""Claims, measures and texts of reproduced papers: every number against arithmetic by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sojourn.comparing.statistics import Estimate
from sojourn.reproduce import dossier, measures, show, spread
from sojourn.reproduce.claims import (
    alike,
    between,
    difference,
    each,
    explained,
    growing,
    is_number,
    is_within,
    more,
    not_less,
    not_measured,
    not_more,
    number,
    order,
    ratio,
    several,
    side_names,
    value,
)
from sojourn.reproduce.extract import DETERMINISTIC, OVERFLOW, RANDOM, SENT, WAITING
from sojourn.reproduce.on_kernel import kernel_queue
from sojourn.reproduce.outcome import MeasuredItem, MeasuredPaper, Reproduction, to_json
from sojourn.reproduce.paper import Cell, Claim, Item, Paper, Part, Published, Table, listed
from sojourn.reproduce.pool import Packets
from sojourn.reproduce.verdict import FLOORS, TOLERANCE, JudgedClaim, JudgedPart, judge, not_covered
from sojourn.reproduce.wording import in_words, unit_of
from sojourn.reproduce.work import Tally
from sojourn.running.store import simulator

VALUES = {"a": 10.0, "b": 12.0, "zero": 0.0}


# Published values.


def test_a_published_number_has_an_error_outside_and_none_within() -> None:
    inside = Published(2.0, 4.0)
    assert [inside.error(v) for v in (1.5, 2.0, 3.0, 4.0, 4.25)] == [0.5, 0.0, 0.0, 0.0, 0.25]
    assert [Published(None, 4.0).error(v) for v in (-9.0, 4.0, 5.0)] == [0.0, 0.0, 1.0]
    assert [Published(2.0, None).error(v) for v in (1.0, 2.0, 99.0)] == [1.0, 0.0, 0.0]


def test_tolerances_refer_to_the_nearest_end() -> None:
    inside = Published(2.0, 4.0)
    assert [inside.nearest(v) for v in (0.0, 2.9, 3.1, 9.0)] == [2.0, 2.0, 4.0, 4.0]
    assert Published(None, 4.0).nearest(0.0) == 4.0
    assert Published(2.0, None).nearest(9.0) == 2.0


# Parts of claims.


def test_quantities_are_keys_numbers_or_measures() -> None:
    assert value("a")(VALUES) == 10.0
    assert value(7)(VALUES) == 7
    assert value(lambda values: values["b"] + 1)(VALUES) == 13.0
    assert ratio("b", "a")(VALUES) == 1.2
    assert difference("b", "a")(VALUES) == 2.0


@pytest.mark.parametrize(
    ("part", "margin", "label"),
    [
        (more("b", "a"), 2.0, "b > a"),
        (more("b", "a", 2.0), -8.0, "b > 2 x a"),
        (more("b", 11), 1.0, "b > 11"),
        (more("b", ratio("a", "b")), 12 - 10 / 12, "b > ..."),
        (more("b", "a", label="said"), 2.0, "said"),
        (not_less("a", "b"), 10 - 0.95 * 12, "a not noticeably below b"),
        (not_less("a", "b", within=0.5), 4.0, "a not noticeably below b"),
        (not_more("b", "a"), 1.05 * 10 - 12, "b not noticeably above a"),
        (not_more("b", "a", within=0.5), 3.0, "b not noticeably above a"),
        (alike("a", "b"), 1.0, "a ≈ b"),
        (alike("a", "b", within=0.0, floor=5.0), 3.0, "a ≈ b"),
        (alike("zero", 0.5), 0.5, "zero ≈ 0.5"),
    ],
)
def test_a_relation_is_a_margin(part: Part, margin: float, label: str) -> None:
    assert part.measure(VALUES) == pytest.approx(margin)
    assert (part.label, part.published, part.unit) == (label, None, "")


def test_growing_needs_every_step() -> None:
    parts = growing("zero", "a", "b")
    assert [(p.label, p.measure(VALUES)) for p in parts] == [("a > zero", 10.0), ("b > a", 2.0)]
    assert [p.label for p in each(("a", "b"), lambda key: more(key, 1))] == ["a > 1", "b > 1"]


def test_claims_carry_name_tag_item_and_published_range() -> None:
    one = number("pie-F4-2", "exact", "mean", "a", 9.5, "ms")
    assert (one.id, one.tag, one.what, one.where) == ("pie-F4-2", "exact", "mean", "F4")
    assert (one.parts[0].published, one.parts[0].unit) == (Published(9.5, 9.5), "ms")
    span = between("codel-act-T1-3", "approx", "range", "a", None, 4.0, "%")
    assert (span.where, span.parts[0].published) == ("T1", Published(None, 4.0))
    both = several("x-F1-1", "exact", "two", is_number("n", "a", 3.0, "ms"),
                   is_within("w", "b", 1.0, None, "s"))  # fmt: skip
    assert [p.published for p in both.parts] == [Published(3.0, 3.0), Published(1.0, None)]
    assert [p.unit for p in both.parts] == ["ms", "s"]
    assert order("x-F1-2", "grows", *growing("a", "b")).tag == "order"
    assert not_measured("x-F1-3", "exact", "no").parts == ()


def test_reasons_belong_to_claims_that_exist() -> None:
    claims = [not_measured(f"a-b-F{i}-1", "exact", "") for i in (1, 2)]
    assert [c.differs for c in explained(claims, {"F2-1": "why"})] == ["", "why"]
    with pytest.raises(KeyError, match="F3-1"):
        explained(claims, {"F3-1": "why"})


# The rule.


def test_tolerances_and_floors_are_those_of_the_rule() -> None:
    assert TOLERANCE == {"exact": 0.15, "approx": 0.25}
    assert FLOORS == {"ms": 1.0, "s": 1e-3, "Mbit/s": 0.05, "kbit/s": 50.0}


@pytest.mark.parametrize(
    ("unit", "published", "found", "verdict"),
    [
        ("s", 0.002, 0.003, "match"), ("s", 0.002, 0.0031, "near"), ("s", 0.002, 0.0041, "differs"),
        ("Mbit/s", 0.1, 0.15, "match"), ("Mbit/s", 0.1, 0.201, "differs"),
        ("kbit/s", 100, 150, "match"), ("kbit/s", 100, 150.1, "near"),
        ("packets", 1, 1.15, "match"), ("packets", 1, 1.16, "near"),
        ("packets", -1, -1.15, "match"), ("packets", 1, math.nan, "no value"),
    ],
)  # fmt: skip
def test_numbers_are_judged_at_their_borders(
    unit: str, published: float, found: float, verdict: str
) -> None:
    claim = number("x-F1-1", "exact", "", "v", published, unit)
    assert judge(claim, {"v": found}, []).verdict == verdict


def test_a_number_is_that_of_all_seeds_pooled_and_has_the_spread_of_the_seeds() -> None:
    claim = number("x-F1-1", "exact", "", "v", 10.0, "packets")
    made = judge(claim, {"v": 10.0}, [{"v": 1.0}, {"v": 3.0}])
    assert (made.verdict, made.parts[0].value) == ("match", 10.0)
    assert (made.parts[0].spread.mean, made.parts[0].spread.n) == (2.0, 2)


def test_an_order_is_the_mean_margin_over_the_seeds() -> None:
    claim = order("x-F1-1", "", more("v", 1.0))
    made = judge(claim, {"v": -99.0}, [{"v": 3.0}, {"v": 3.0}])
    assert (made.verdict, made.parts[0].value) == ("holds", 2.0)
    # The interval of 2 and 4 is 3 ± 12.7.
    assert judge(claim, {}, [{"v": 3.0}, {"v": 5.0}]).verdict == "weak"
    assert judge(claim, {}, [{"v": 3.0}]).verdict == "weak"
    assert judge(claim, {}, [{"v": 1.0}, {"v": 1.0}]).verdict == "fails"
    assert judge(claim, {"v": 3.0}, []).verdict == "holds"


def test_neither_a_quotient_by_zero_nor_a_claim_without_parts_has_a_value() -> None:
    claim = order("x-F1-1", "", more(ratio("a", "zero"), 0))
    assert judge(claim, VALUES, []).verdict == "no value"
    assert judge(Claim("x-F1-1", "exact", "", ()), {}, []).verdict == "no value"
    assert not_covered(claim) == JudgedClaim(claim, (), "not covered", "not covered")


# Measures.


def packets() -> Packets:
    fate = np.array([SENT, OVERFLOW, RANDOM, DETERMINISTIC, WAITING, SENT], np.int8)
    return Packets(
        np.array([0.0, 1.0, 1.5, 2.0, 3.0, 3.0]), np.array([0.5, 1.0, 1.25, 2.5, 0.0, 4.0]),
        np.full(6, 1000, np.int32), np.zeros(6, np.int32), fate,
    )  # fmt: skip


def test_losses_are_drops_in_the_order_of_time_with_or_without_overflow() -> None:
    assert measures.losses_s(packets()).tolist() == [1.0, 1.25, 2.5]
    assert measures.losses_s(packets(), overflow=False).tolist() == [1.25, 2.5]
    assert packets().lost_s(DETERMINISTIC, OVERFLOW).tolist() == [1.0, 2.5]


def test_departures_count_from_the_start_and_before_the_end() -> None:
    left, waited = measures.departures(packets(), 0.5, 4.0)
    assert (left.tolist(), waited.tolist()) == ([0.5], [0.5])
    left, waited = measures.departures(packets())
    assert (left.tolist(), waited.tolist()) == ([0.5, 4.0], [0.5, 1.0])


def test_bins_have_middles_and_means_and_nan_where_nothing_is() -> None:
    middles, means = measures.binned(
        np.array([0.1, 0.2, 2.0, 2.9]), np.array([1.0, 3.0, 5.0, 6.0]), 1.0, 3.0
    )
    assert middles.tolist() == [0.5, 1.5, 2.5]
    assert means[0] == 2.0 and math.isnan(means[1]) and means[2] == 5.5


def test_samples_have_mean_deviation_quantiles_and_ends_in_their_unit() -> None:
    found = measures.samples([[1.0, 2.0], [3.0, math.nan]], "mbps", 10.0)
    assert found["mean_mbps"] == 20.0
    assert found["sd_mbps"] == pytest.approx(math.sqrt(200 / 3))
    assert (found["min_mbps"], found["p25_mbps"], found["p50_mbps"], found["max_mbps"]) == (
        10.0, 15.0, 20.0, 30.0,
    )  # fmt: skip
    assert found["p999_mbps"] == pytest.approx(10 + 20 * 0.999)
    assert measures.samples([math.nan], "mbps") == {}
    assert set(found) == {f"{name}_mbps" for name in (
        "mean", "sd", "min", "max", "p1", "p5", "p10", "p25", "p50", "p75", "p80", "p90", "p95",
        "p99", "p999",
    )}  # fmt: skip


def test_delays_have_shares_below_limits_and_of_none() -> None:
    found = measures.delays(measures.distribution(np.array([1e-6, 0.010, 0.020, 0.030])))
    assert found["mean_ms"] == pytest.approx(15.00025)
    assert found["sd_ms"] == pytest.approx(np.std([0.001, 10, 20, 30]))
    assert [found[f"below_{ms}ms_pct"] for ms in (8, 10, 15, 20, 30)] == [25, 50, 50, 75, 100]
    assert found["zero_pct"] == 25.0
    assert (found["p25_ms"], found["p75_ms"]) == (pytest.approx(0.001), pytest.approx(20.0))
    assert found["max_ms"] == pytest.approx(30.0)


def test_a_table_of_all_values_has_a_row_for_each_as_configured_and_as_measured() -> None:
    (table,) = listed("Topology", {"rate": 10.0, "rtt": 0.1})
    assert (table.title, table.header) == ("Topology", ("configured", "measured / published"))
    assert [(key, cell.key) for key, cell in table.rows] == [("rate", "rate"), ("rtt", "rtt")]


def test_a_page_has_the_scenario_of_the_first_seed_of_each_case_and_each_text_once() -> None:
    def runs(*texts: str) -> list[Any]:
        return [SimpleNamespace(scenario=SimpleNamespace(source=text)) for text in texts]

    cases = {"pie": runs("a", "b"), "codel": runs("c"), "again": runs("a")}
    made: Any = SimpleNamespace(plan=SimpleNamespace(cases=cases))
    assert dossier._scenarios(made) == {"pie": "a", "codel": "c"}


def test_how_far_runs_on_workers_are_is_said_in_runs_and_in_simulated_seconds() -> None:
    said: list[tuple[int, float]] = []
    runs: Any = [
        SimpleNamespace(scenario=SimpleNamespace(duration_s=5.0), label="pie, seed 1"),
        SimpleNamespace(scenario=SimpleNamespace(duration_s=7.0), label="pie, seed 2"),
    ]
    meter: Any = SimpleNamespace(update=lambda count, seconds: said.append((count, seconds)))
    done = spread._Done(runs, meter)
    for point, failed in ((0, {}), (1, {"y": "no memory"})):
        batch: Any = SimpleNamespace(runs=[SimpleNamespace(point=point, address="xy"[point])])
        outcome: Any = SimpleNamespace(failed=failed)
        done.finish(batch, outcome)
    assert said == [(1, 5.0), (2, 12.0)]
    assert done.failed == {"y": "pie, seed 2: no memory"}


def test_small_measures() -> None:
    assert measures.under("x.y", {"a": 1.0}) == {"x.y.a": 1.0}
    assert measures.mean_of_finite([1.0, math.nan, 4.0, math.inf]) == 2.5
    assert math.isnan(measures.mean_of_finite([math.nan]))
    t_s, values = np.array([0.0, 1.0, 2.0]), np.array([0.0, 2.0, 5.0])
    assert measures.reached_s(t_s, values, 2.0) == 1.0
    assert math.isnan(measures.reached_s(t_s, values, 5.5))
    assert measures.settled_s(t_s, np.array([3.0, 2.0, 9.0]), 2.0) == 1.0
    slope, share = measures.slope(np.arange(4.0), np.array([0.0, 1.0, 0.0, 1.0]))
    # Least squares by hand: slope 0.2, explained 0.2 of a variance of 0.25 each.
    assert (slope, share) == (pytest.approx(0.2), pytest.approx(0.2))


def test_queues_are_translated_to_the_kernel_s_dialect() -> None:
    assert kernel_queue("pie@paper2013:target=20ms,max_burst=1s,ecn=true") == (
        "pie@linux:target=20ms,ecn=true"
    )
    assert kernel_queue("pie:max_burst=1s") == "pie@linux"
    assert kernel_queue("ared@kids:min_th=1kB,target_delay=5ms,max_th=2kB") == (
        "ared@linux:min_th=1kB,max_th=2kB"
    )
    assert kernel_queue("taildrop:limit=5p") == "taildrop:limit=5p"


# Texts.


def part_judged(found: float, half: float, published: Published | None, n: int = 3) -> JudgedPart:
    part = Part("label", value(found), published, "ms")
    return JudgedPart(part, found, Estimate(found, half, n), "near")


def test_measured_values_carry_interval_and_unit_and_margins_a_sign() -> None:
    there = Published(1.0, 1.0)
    assert show.measured(part_judged(12.34, 0.56, there)) == "12.34 ± 0.56 ms"
    assert show.measured(part_judged(12.34, math.nan, there)) == "12.3 ms"
    assert show.measured(part_judged(12.34, 0.0, there)) == "12.3 ms"
    assert show.measured(part_judged(2.5, 0.5, None)) == "margin +2.50 ± 0.50 ms"
    assert show.measured(part_judged(math.nan, 0.5, there)) == "–"
    assert show.published(part_judged(1.0, 0.0, there)) == "1 ms"
    assert show.published(part_judged(1.0, 0.0, None)) == "label"


def made(*tags_and_verdicts: tuple[str, str]) -> Any:
    claims = [
        JudgedClaim(Claim(f"x-F1-{i}", tag, "what", ()), (), verdict, verdict)
        for i, (tag, verdict) in enumerate(tags_and_verdicts)
    ]
    plan: Any = SimpleNamespace(seeds=2)
    values, by_seed = {"k.mean_ms": 20.0}, [{"k.mean_ms": 10.0}, {"k.mean_ms": 14.0}]
    item = MeasuredItem(Item("F1", "t", published_runs="ten"), plan, values, by_seed, claims)
    return MeasuredPaper(Paper("x", "", "", "", (item.item,)), [item])


def test_scores_count_numbers_and_orders_separately_and_omit_what_is_not_covered() -> None:
    paper = made(
        ("exact", "match"), ("approx", "near"), ("exact", "differs"), ("order", "holds"),
        ("order", "weak"), ("order", "fails"), ("exact", "not covered"), ("order", "not covered"),
    )  # fmt: skip
    assert show.scores([paper, paper]) == [
        show.Score("claims hold or match", 4, 4, 12),
        show.Score("numbers match or are near", 4, 4, 6),
        show.Score("orders hold", 2, 2, 6),
        show.Score("orders hold or are weak", 4, 4, 6),
    ]
    assert [one.verdict for one in show.failed(paper)] == ["differs", "fails", "near", "weak"]
    assert show.counts(made()) == "no claims about the items chosen"
    assert show.counts(paper) == (
        "1 match, 1 near, 1 differs, 1 holds, 1 weak, 1 fails, 2 not covered"
    )


def test_a_claim_s_row_shows_its_worst_part() -> None:
    good = JudgedPart(Part("g", value(1), Published(1, 1), "s"), 1.0, Estimate(1, 0, 2), "match")
    bad = part_judged(5.0, 0.5, Published(1.0, 2.0), 4)
    claim = number("x-F1-1", "exact", "says", "a", 1, "ms")
    rows = show.claim_rows([JudgedClaim(claim, (good, bad), "near", "match"), not_covered(claim)])
    assert rows[0] == [
        "x-F1-1", "exact", "says (1 of 2 parts hold or match; the worst: label)", "1 to 2 ms",
        "5.00 ± 0.50 ms",
        "4", "match", "near",
    ]  # fmt: skip
    assert rows[1] == [
        "x-F1-1", "exact", "says", "–", "–", "–", "not covered", "not covered"
    ]  # fmt: skip
    assert len(show.CLAIM_HEADER) == len(rows[0])
    judged = JudgedClaim(claim, (good, bad, good), "near", "match")
    assert show.against(judged) == "5.00 ± 0.50 ms / 1 to 2 ms; 2 of 3 parts hold or match"


def test_an_order_shows_both_sides_with_their_names_and_unit() -> None:
    claim = order("x-F1-1", "PI2 is faster", more("rtt100.pie.p90_ms", "rtt100.pi2.p90_ms"))
    seeds = [{"rtt100.pie.p90_ms": x, "rtt100.pi2.p90_ms": 110.0} for x in (147.0, 149.0)]
    (part,) = judge(claim, seeds[0], seeds).parts
    assert show.measured(part) == "PIE 148 ms, PI2 110 ms; margin +38 ± 13 ms"
    assert show.published(part) == "PIE > PI2 (RTT 100 ms, percentile 90)"


@pytest.mark.parametrize(
    ("label", "a", "b", "names"),
    [
        ("", "n4.codel.mean_ms", "n1.codel.mean_ms", ("n = 4", "n = 1")),
        ("", "codel.zero_pct", 1.0, ("CoDel, packets without delay", "bound")),
        ("", 1.0, "codel_act.zero_pct", ("bound", "CoDel-ACT, packets without delay")),
        ("distance, light: PIE > ARED", len, len, ("PIE", "ARED")),
        ("no sign", len, len, ("the first", "the second")),
    ],
)
def test_sides_are_called_by_what_distinguishes_them(
    label: str, a: Any, b: Any, names: Any
) -> None:
    assert side_names(label, a, b) == names


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("rtt500", "RTT 500 ms"),
        ("threshold7_5ms", "threshold 7.5 ms"),
        ("p95_ms", "percentile 95"),
        ("mean_mbps", "mean"),
        ("below_20ms_pct", "packets below 20 ms"),
        ("drops_per_s", "drops"),
        ("heavy", "heavy"),
    ],
)
def test_a_part_of_a_key_is_shown_in_words(part: str, words: str) -> None:
    assert in_words(part) == words


def test_a_side_whose_name_has_a_number_is_parted_from_its_value() -> None:
    claim = order("x-F1-1", "more flows wait longer", more("n4.mean_ms", "n1.mean_ms"))
    (part,) = judge(claim, {}, [{"n4.mean_ms": 2.0, "n1.mean_ms": 1.0}]).parts
    assert show.measured(part).startswith("n = 4: 2.00 ms, n = 1: 1.00 ms")


@pytest.mark.parametrize(
    ("key", "unit"),
    [("a.p90_ms", "ms"), ("a.drops_per_s", "per s"), ("a.mean_mbps", "Mbit/s"), ("a.ratio", "")],
)
def test_the_end_of_a_key_is_its_unit(key: str, unit: str) -> None:
    assert unit_of(key) == unit


@pytest.mark.parametrize(
    ("tag", "differs", "reason"),
    [
        ("exact", "{k.mean_ms:.0f} ms", "20 ms"),
        ("exact", "{k.mean_ms:.0f} ± {± k.mean_ms:.0f} ms", "12 ± 25 ms"),
        ("order", "{k.mean_ms:.0f} ms", "12 ms"),
    ],
)
def test_a_reason_states_both_values(tag: Any, differs: str, reason: str) -> None:
    """20 ms are of both seeds pooled; 10 and 14 ms of one each, t(0.975, 1) is 12.7."""
    paper = made((tag, "fails"))
    (claim,) = paper.judged()
    one = replace(claim, claim=replace(claim.claim, differs=differs))
    assert paper.reason(one) == reason


def test_every_cell_of_a_table_has_the_published_value_next_to_the_measured_one() -> None:
    claim = number("x-F1-1", "exact", "mean", "k.mean_ms", 19.0, "ms")
    plan: Any = SimpleNamespace(seeds=1)
    values = {"k.mean_ms": 20.0, "k.p99_ms": 30.0}
    item = MeasuredItem(Item("F1", "t"), plan, values, [], [judge(claim, values, [])])
    table = Table("t", ("", ""), [["k", Cell("k.mean_ms", ".1f"), Cell("k.p99_ms", "g")]])
    assert show.table_rows(item, table) == [["k", "20.0 / 19", "30 / –"]]
    assert list(show.value_table(item).rows[0]) == ["k.mean_ms", "20.0", "", "", "19"]


def test_an_index_names_what_failed_with_what_was_measured() -> None:
    claim = order("x-F1-1", "faster", more("pie.p90_ms", "pi2.p90_ms"))
    judged = judge(claim, {}, [{"pie.p90_ms": 1.0, "pi2.p90_ms": 2.0}])
    assert (
        show.against(judged)
        == "PIE > PI2 (percentile 90): PIE 1.00 ms, PI2 2.00 ms; margin −1.00 ms"
    )
    assert show.score_text(show.Score("", 3, 4, 5)) == "3 of 5 (4)"
    assert show.score_text(show.Score("", 3, 3, 5)) == "3 of 5"
    assert show.score_text(show.Score("", 0, 0, 0)) == "–"


def test_seeds_and_values_of_an_item() -> None:
    (item,) = made().items
    assert show.seeds(item) == "Each case: 2 seeds here, ten in the paper."
    table = show.value_table(item)
    # t(0.975, 1) = 12.706; s / sqrt(2) = 2.
    assert list(table.rows) == [["k.mean_ms", "20.0", "12.0", "25.4", "–"]]
    plan: Any = SimpleNamespace(seeds=1)
    one = MeasuredItem(Item("F1", "t"), plan, item.values, [], [])
    assert show.seeds(one) == "Each case: 1 seed here, not stated in the paper."
    assert list(show.value_table(one).rows) == [["k.mean_ms", "20.0", "", "", "–"]]
    unplanned: Any = SimpleNamespace(seeds=0)
    none = MeasuredItem(Item("F1", "t"), unplanned, {}, [], [])
    assert show.seeds(none) == ""


def test_the_json_of_a_reproduction_has_values_claims_and_items() -> None:
    scenario = SimpleNamespace(document_json=lambda: '{"name": "s"}')
    plan: Any = SimpleNamespace(seeds=2, cases={"k": [SimpleNamespace(scenario=scenario)]})
    several_seeds = MeasuredItem(
        Item("F1", "A figure"), plan, {"k.mean_ms": 20.0},
        [{"k.mean_ms": 10.0}, {"k.mean_ms": 14.0}],
        [
            JudgedClaim(
                number("x-F1-1", "exact", "says", "k.mean_ms", 19.0, "ms"),
                (part_judged(20.0, 0.5, Published(19.0, 19.0)),), "near", "match",
            ),
            JudgedClaim(
                order("x-F1-2", "grows", more("a", "b")),
                (part_judged(2.0, 0.25, None, 2),), "near", "weak",
            ),
        ],
    )  # fmt: skip
    nothing: Any = SimpleNamespace(seeds=0, cases={})
    unjudged = [not_covered(not_measured("x-T1-1", "approx", "no"))]
    absent = Item("T1", "A table", kind="external", missing="no data")
    missing = MeasuredItem(absent, nothing, {}, [], unjudged)
    one_seed = MeasuredItem(Item("F2", "One"), nothing, {"v": 3.0}, [{"v": 3.0}], [])
    paper = Paper("x", "", "", "", ())
    store: Any = None
    tally = Tally(made=3, cached=1, simulated_s=2.5, packets=7)
    done = Reproduction(
        "quick", "sim", [MeasuredPaper(paper, [several_seeds, missing, one_seed])], tally, store
    )
    found = to_json(done)
    assert found.pop("simulator") == simulator()
    claim = {"paper": "x", "differs": "", "variants": {}}
    assert found == {
        "format": 1,
        "profile": "quick",
        "engine": "sim",
        "runs": {"made": 3, "cached": 1, "simulated_s": 2.5, "packets": 7},
        "values": {"x.F1.k.mean_ms": 20.0, "x.F2.v": 3.0},
        "run_means": {"x.F1.k.mean_ms": 12.0},
        "half_widths": {"x.F1.k.mean_ms": pytest.approx(2 * math.tan(0.475 * math.pi))},
        "claims": [
            claim | {
                "id": "x-F1-1", "item": "F1", "tag": "exact", "what": "says", "verdict": "near",
                "first_verdict": "match",
                "parts": [{"label": "label", "published": "19", "unit": "ms", "measured": 20.0,
                           "half_width": 0.5, "sides": [], "seeds": 3, "verdict": "near"}],
            },
            claim | {
                "id": "x-F1-2", "item": "F1", "tag": "order", "what": "grows", "verdict": "near",
                "first_verdict": "weak",
                "parts": [{"label": "label", "published": None, "unit": "ms", "measured": 2.0,
                           "half_width": 0.25, "sides": [], "seeds": 2, "verdict": "near"}],
            },
            claim | {"id": "x-T1-1", "item": "T1", "tag": "approx", "what": "no",
                     "verdict": "not covered", "first_verdict": "not covered", "parts": []},
        ],
        "variants": {"x": {}},
        "paragraphs": {"x": {}},
        "counts": {"x": {"near": 2, "not covered": 1}},
        "items": [
            {"paper": "x", "item": "F1", "title": "A figure", "kind": "data", "covered": True,
             "missing": "", "cases": {"k": {"name": "s"}}, "seeds": 2},
            {"paper": "x", "item": "T1", "title": "A table", "kind": "external", "covered": False,
             "missing": "no data", "cases": {}, "seeds": 0},
            {"paper": "x", "item": "F2", "title": "One", "kind": "data", "covered": True,
             "missing": "", "cases": {}, "seeds": 0},
        ],
    }  # fmt: skip

"""The wide grid: a covering design, and its comparisons."""

from __future__ import annotations

import json
import math
import re
from itertools import combinations, product
from pathlib import Path

import pytest

import sojourn
from sojourn import _core
from sojourn.agreement import grid, measures, wide, wide_page
from sojourn.agreement.cells import CellAgreement
from sojourn.agreement.covering import covering
from sojourn.agreement.wide_runs import Measured, WideAgreement, agree_on_grid, compare_cell
from sojourn.describing.library import load
from sojourn.engines import registry

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(("design", "least", "most"), [(wide.WIDE, 60, 120), (wide.NEWER, 15, 40)])
def test_every_pair_of_levels_that_can_be_combined_meets_in_a_cell(
    design: wide.CoveringDesign, least: int, most: int
) -> None:
    cells = wide.cells(design)
    assert least <= len(cells) <= most
    assert all(wide.is_allowed(cell) for cell in cells)
    for one, other in combinations(design.factors, 2):
        met = {(cell[one], cell[other]) for cell in cells}
        for pair in product(design.factors[one], design.factors[other]):
            # A pair may be allowed without a complete cell: DCTCP needs marks, pfifo does not mark.
            levels = dict(zip((one, other), pair, strict=True))
            assert pair in met or not _has_cell(design, levels), pair


def _has_cell(design: wide.CoveringDesign, levels: wide.Cell) -> bool:
    rest = {name: of for name, of in design.factors.items() if name not in levels}
    return any(
        wide.is_allowed({**levels, **dict(zip(rest, choice, strict=True))})
        for choice in product(*rest.values())
    )


def test_a_pair_that_no_cell_may_have_is_left_out() -> None:
    factors = {"a": (1, 2), "b": (1, 2), "c": (1, 2)}
    cells = covering(factors, lambda cell: not (cell.get("a") == 1 and cell.get("b") == 1))
    met = {(cell["a"], cell["b"]) for cell in cells}
    assert met == {(1, 2), (2, 1), (2, 2)}
    assert {(cell["b"], cell["c"]) for cell in cells} == set(product((1, 2), repeat=2))


def test_a_page_names_what_its_own_design_leaves_out() -> None:
    assert wide.left_out(wide.NEWER) == ["DCTCP without ECN"]
    assert wide.left_out(wide.WIDE) == [
        "marks under `pfifo` and `sfq`", "DCTCP without ECN", "one flow of mixed round trips",
        "shares of less than 30 kbit/s", "paths that hold more than 4 MB per flow",
    ]  # fmt: skip


@pytest.mark.parametrize("design", wide.DESIGNS)
def test_every_cell_is_a_separate_scenario_of_limited_length(design: wide.CoveringDesign) -> None:
    cells = wide.cells(design)
    scenarios = [wide.scenario(cell) for cell in cells]
    assert len({scenario.name for scenario in scenarios}) == len(scenarios)
    for cell, scenario in zip(cells, scenarios, strict=True):
        packets = int(cell["rate"]) * 1e6 / 12_000 * scenario.duration_s
        assert 19_000 <= packets <= 450_000, scenario.name


def test_every_cell_has_all_propagation_where_the_guest_has_it() -> None:
    for cell in wide.cells():
        rtts_ms = {5: [5], 20: [20], 100: [100], 500: [500]}.get(_rtt_ms(cell), [10, 100])
        for flow in json.loads(wide.scenario(cell).resolved_json())["flows"]:
            way_back = {flow["return_delay"], flow["return_egress_delay"]}
            assert flow["egress_delay"] == "0s", "the receiver is at the queue"
            assert way_back == {"0s", flow["access_delay"]}
            assert flow["rtt"] in [f"{rtt_ms}ms" for rtt_ms in rtts_ms]


def test_datagrams_of_the_grid_have_no_common_measure_with_full_packets() -> None:
    cells = [cell for cell in wide.cells() if cell["traffic"] == "cbr"]
    assert cells
    for cell in cells:
        app = json.loads(wide.scenario(cell).resolved_json())["flows"][-1]["app"]
        assert math.gcd(int(app["packet"].removesuffix("B")), 1500) == 1, "bytes, and so times"


def test_flows_have_the_tcp_of_the_kernel_that_the_grid_is_for() -> None:
    def profiles(scenario: _core.Scenario) -> set[str]:
        flows = json.loads(scenario.resolved_json())["flows"]
        return {flow["app"]["tcp"]["tcp"] for flow in flows if "tcp" in flow["app"]}

    versions = {"7.2": "linux-7.2", "6.12": "linux", "": "linux"}
    assert {version: _core.linux_tcp(version) for version in versions} == versions
    for cell in wide.cells():
        paced = "-fq" if cell["tcp"] == "paced cubic" else ""
        assert profiles(wide.scenario(cell, "linux-7.2")) == {f"linux-7.2{paced}"}
    for usual in grid.scenarios(["sim", "linux"], "linux-7.2"):
        assert profiles(usual) == {"linux-7.2"}


def _rtt_ms(cell: wide.Cell) -> int:
    return 0 if cell["rtt"] == "mixed" else int(str(cell["rtt"]).removesuffix(" ms"))


def test_what_two_engines_cannot_differ_in_is_not_compared() -> None:
    both = measures.values(sojourn.run(load("two-way", {"duration": "2s", "warmup": "1s"})))
    assert "queue/downlink/delay_p50" in both and "queue/downlink/utilisation" not in both
    assert "class/download/goodput" in both and "class/download/jain" in both
    assert "class/upload/jain" not in both, "it is one flow"
    alone = measures.values(sojourn.run(load("dumbbell-reno", {"duration": "12s"})))
    assert "class/bulk/jain" in alone and "class/bulk/goodput" not in alone
    short = {"duration": "6s", "warmup": "1s", "record.flows": True, "record.sample": "1s"}
    mixed = measures.values(sojourn.run(load("traffic-mix", short)))
    again = {key.split("/")[1] for key in mixed if key.endswith("/retransmitted")}
    lost = {key.split("/")[1] for key in mixed if key.endswith("/loss_rate")}
    assert again and lost and not again & lost, "datagrams are not retransmitted"


def test_the_payload_sent_again_is_counted_from_the_first_sample_on() -> None:
    settings = {
        "duration": "20s", "warmup": "0s", "record.flows": True, "record.sample": "1s",
        "links.bottleneck.buffer": "10p", "flows[0].count": 1,
    }  # fmt: skip
    result = sojourn.run(load("dumbbell-reno", settings))
    rows = result.table("flows").to_pylist()
    first, last = rows[0], rows[-1]
    sent = last["sent_bytes"] - first["sent_bytes"]
    again = last["retransmitted_bytes"] - first["retransmitted_bytes"]
    assert again > 0
    found = measures.values(result)
    assert found[f"class/{last['class']}/retransmitted"] == pytest.approx(again / sent)


def test_a_page_counts_close_far_and_unknown_values() -> None:
    def run(delay: float, **more: float) -> Measured:
        return Measured({"queue/b/delay_p50": delay, "queue/b/mark_rate": 0.0, **more}, [])

    levels = wide.cells()[0]
    ours = [run(0.020), run(0.022, **{"class/x/completion_p50": 1.0})]
    theirs = [run(0.030), run(0.031)]
    compared = compare_cell("a cell", levels, (ours, theirs))
    # Marks occur on neither engine, and completion times are unknown in some runs.
    assert [cell.metric for cell in compared.cells] == ["queue/b/delay_p50"]
    assert compared.unknown == ["class/x/completion_p50"]
    found = WideAgreement(wide.WIDE, ("sim", "linux"), 2, [compared])
    page = wide_page.as_markdown(found)
    assert "| all 1 | 0 (0.0 %) | 0 (0.0 %) |" in page
    assert "| a cell | queue/b/delay_p50 | 21 / 30.5 ms | -31 % |" in page
    assert "- a cell: class/x/completion_p50" in page
    assert json.loads(wide_page.as_json(found))["cells"][0]["sim"] == pytest.approx(0.021)


def test_half_of_the_references_seeds_are_compared_with_its_other_half() -> None:
    def run(delay: float) -> Measured:
        return Measured({"queue/b/delay_p50": delay}, [])

    ours = [run(delay) for delay in (0.040, 0.040, 0.010, 0.010, 9.0)]
    theirs = [run(delay) for delay in (0.020, 0.022, 0.030, 0.032, 9.0)]
    compared = compare_cell("a cell", wide.cells()[0], (ours, theirs))
    [itself], [first] = compared.halves
    assert itself.values == pytest.approx((0.021, 0.031))
    assert first.values == pytest.approx((0.040, 0.031))
    page = wide_page.as_markdown(WideAgreement(wide.WIDE, ("sim", "linux"), 5, [compared]))
    assert "| `linux` and itself, 2 seeds each | 0 (0.0 %) | 0 (0.0 %) |" in page
    assert "| `sim` and `linux`, 2 seeds each | 0 (0.0 %) | 0 (0.0 %) |" in page
    assert compare_cell("a cell", wide.cells()[0], (ours[:3], theirs[:3])).halves == ([], [])


def test_how_often_the_reference_agrees_with_itself_follows_from_its_seeds() -> None:
    def cell(error: float) -> CellAgreement:
        return CellAgreement("a cell", "queue/b/drop_rate", (0.1, 0.1), error=error)

    # A difference of two means with standard error 0.01 / sqrt(2) has a standard error of 0.01: a
    # tenth of 0.1 allows one of them, a twentieth half of one.
    found = cell(0.01 / math.sqrt(2))
    assert found.agrees_with_itself == pytest.approx(0.6827, abs=1e-4)
    assert found.agrees_closely_with_itself == pytest.approx(0.3829, abs=1e-4)
    assert cell(0.0).agrees_closely_with_itself == 1.0
    assert math.isnan(cell(math.nan).agrees_with_itself)


@pytest.mark.parametrize("design", wide.DESIGNS, ids=lambda design: design.name)
def test_a_recorded_page_says_what_the_generator_says(design: wide.CoveringDesign) -> None:
    """Except for its numbers, which take an hour to record."""
    runs = [Measured({"queue/b/drop_rate": 0.1 + 0.0001 * seed}, []) for seed in range(10)]
    compared = compare_cell("a cell", wide.cells(design)[0], (runs, runs))
    found = WideAgreement(design, ("sim", "linux"), 10, [compared])
    page = (ROOT / "docs" / "results" / f"agreement-{design.name}.md").read_text(encoding="utf-8")
    start, _, _ = page.partition("\n\n| metric |")
    said = "\n".join([f"# {design.title}", "", *wide_page.introduction(found)])
    assert _without_numbers(start) == _without_numbers(said)
    rest = [line for line in page[len(start) :].splitlines() if line and line[0] not in "|-"]
    headings = ["## Values that do not agree", "## The scenarios", "## Values that some runs lack"]
    assert rest == headings


def _without_numbers(text: str) -> str:
    return re.sub(r"[0-9][0-9.]*", "0", text)


def test_an_engine_agrees_with_itself_in_every_value(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [cell for cell in wide.cells() if cell["rate"] == 10 and cell["flows"] == 4][:1]
    monkeypatch.setattr(wide, "cells", lambda _design: cells)
    found = agree_on_grid([registry.DEFAULT, registry.DEFAULT], seeds=2)
    assert found.cells and all(cell.agrees_closely for cell in found.cells)
    assert [compared.levels for compared in found.compared] == cells
    assert "0 differ beyond noise" in wide_page.as_markdown(found)

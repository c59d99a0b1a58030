"""Agreement of engines: cells, their noise, and the compared queues."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from sojourn._core import Scenario
from sojourn.agreement import causes, grid
from sojourn.agreement.cells import CellAgreement
from sojourn.agreement.page import as_json, as_markdown, introduction
from sojourn.agreement.runs import agree
from sojourn.comparing.between_engines import DELAY_S, RELATIVE
from sojourn.describing.library import load
from sojourn.engines import registry
from sojourn.testing import expectations

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"


def test_cells_agree_within_a_tenth_or_a_millisecond() -> None:
    assert CellAgreement("s", "delay_mean", (0.0019, 0.0010)).agrees
    assert not CellAgreement("s", "delay_mean", (0.0140, 0.0120)).agrees
    assert CellAgreement("s", "drop_rate", (0.021, 0.020)).agrees
    assert not CellAgreement("s", "drop_rate", (0.023, 0.020)).agrees
    assert CellAgreement("s", "drop_rate", (0.0, 0.0)).agrees


def test_noise_does_not_make_cells_agree_but_is_reported() -> None:
    noisy = CellAgreement("s", "drop_rate", (0.023, 0.020), noise=0.002)
    assert not noisy.agrees
    assert not noisy.differs_beyond_noise
    assert CellAgreement("s", "drop_rate", (0.023, 0.020), noise=0.0005).differs_beyond_noise
    assert CellAgreement("s", "drop_rate", (0.023, 0.020)).differs_beyond_noise
    assert not CellAgreement("s", "drop_rate", (0.021, 0.020)).differs_beyond_noise
    assert CellAgreement("s", "drop_rate", (0.021, 0.020), noise=0.0005).differs
    assert noisy.differs
    assert not CellAgreement("s", "drop_rate", (0.023, 0.020), noise=0.004).differs


def test_one_seed_leaves_the_noise_unknown_and_calls_no_cell_different() -> None:
    unknown = CellAgreement("s", "drop_rate", (0.23, 0.02), noise=math.nan)
    assert not unknown.agrees and not unknown.differs_beyond_noise
    given = load("two-way", {"duration": "2s", "warmup": "1s"})
    found = agree([given], [registry.DEFAULT, registry.DEFAULT], seeds=1)
    assert all(math.isnan(cell.noise) for cell in found.cells)
    assert "One seed does not show the noise" in as_markdown(found)
    assert {cell["noise"] for cell in json.loads(as_json(found))["cells"]} == {None}


def test_every_queue_of_a_scenario_is_compared() -> None:
    given = load("two-way", {"duration": "2s", "warmup": "1s"})
    found = agree([given], [registry.DEFAULT, registry.DEFAULT], seeds=1)
    assert [pair.name for pair in found.pairs] == ["two-way, downlink", "two-way, uplink"]
    assert found.share == 1.0
    rows = as_markdown(found).splitlines()
    assert sum(row.startswith("| two-way, ") for row in rows) == 2


@pytest.mark.parametrize(
    "name, engines",
    [
        ("agreement", ("sim", "linux")),
        ("agreement-7.2", ("sim", "linux")),
        ("agreement-ns3", ("sim", "ns3")),
    ],
)
def test_a_recorded_page_says_what_the_generator_says(name: str, engines: tuple[str, str]) -> None:
    lines = (RESULTS / f"{name}.md").read_text(encoding="utf-8").splitlines()
    assert lines[0] == f"# Agreement of {engines[0]} and {engines[1]}"
    assert lines[2] == introduction(engines, 3)
    # In addition to shares and headings, the page has tables, lists, and the meaning of `mended`.
    prose = [line for line in lines[3:] if line and line[0] not in "|-#"]
    shares = [line for line in prose if " cells agree, " in line]
    mended = [causes.MENDED_MEANS, "With mended TCP:"] if name == "agreement-ns3" else []
    assert sorted(prose) == sorted([*shares, *mended])


def test_cells_agree_closely_within_a_twentieth_or_half_a_millisecond() -> None:
    def closely(metric: str, first: float, second: float) -> bool:
        return CellAgreement("s", metric, (first, second)).agrees_closely

    assert closely("queue/b/delay_p50", 0.0104, 0.0100)
    assert closely("class/b/completion_p95", 0.0014, 0.0010)
    assert not closely("queue/b/delay_p50", 0.0108, 0.0100)
    assert not closely("queue/b/drop_rate", 0.0214, 0.0200)


@pytest.mark.parametrize(
    ("name", "other"), [("agreement.toml", "linux"), ("agreement-ns3.toml", "ns3")]
)
def test_expectations_between_engines_are_cells_and_bounds_of_the_grid(
    name: str, other: str
) -> None:
    def cell(scenario: Scenario) -> dict[str, object]:
        resolved = json.loads(scenario.resolved_json())
        return {key: value for key, value in resolved.items() if key not in ("name", "warnings")}

    cells = [cell(each) for each in grid.scenarios(("sim", other))]
    found = expectations.read(ROOT / "testdata" / "expectations" / name)
    for each in found:
        assert cell(each.variant.scenario) in cells, each.name
        assert each.reference is not None
        assert each.reference.engine.name == other
        allowed = RELATIVE if each.is_ratio else DELAY_S
        assert (each.high - each.low) / 2 == pytest.approx(allowed), each.name
    assert len({each.variant.scenario.queue("bottleneck") for each in found}) == 5

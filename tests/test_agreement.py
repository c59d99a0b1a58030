"""How far engines agree: cells, their noise, and which queues are compared."""

from __future__ import annotations

from sojourn import engines
from sojourn.agreement import Cell, agree
from sojourn.agreement.page import as_markdown
from sojourn.library import load


def test_cells_agree_within_a_tenth_or_a_millisecond() -> None:
    assert Cell("s", "delay_mean", (0.0019, 0.0010)).agrees
    assert not Cell("s", "delay_mean", (0.0140, 0.0120)).agrees
    assert Cell("s", "drop_rate", (0.021, 0.020)).agrees
    assert not Cell("s", "drop_rate", (0.023, 0.020)).agrees
    assert Cell("s", "drop_rate", (0.0, 0.0)).agrees


def test_noise_does_not_make_cells_agree_but_is_reported() -> None:
    noisy = Cell("s", "drop_rate", (0.023, 0.020), noise=0.002)
    assert not noisy.agrees
    assert not noisy.is_apart
    assert Cell("s", "drop_rate", (0.023, 0.020), noise=0.0005).is_apart
    assert Cell("s", "drop_rate", (0.023, 0.020)).is_apart
    assert not Cell("s", "drop_rate", (0.021, 0.020)).is_apart


def test_every_queue_of_a_scenario_is_compared() -> None:
    given = load("two-way", {"duration": "2s", "warmup": "1s"})
    found = agree([given], [engines.SIMULATOR, engines.SIMULATOR], seeds=1)
    assert [pair.name for pair in found.pairs] == ["two-way, downlink", "two-way, uplink"]
    assert found.share == 1.0
    rows = as_markdown(found).splitlines()
    assert sum(row.startswith("| two-way, ") for row in rows) == 2

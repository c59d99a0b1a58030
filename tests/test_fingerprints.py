"""Digests from Python and in threads equal those recorded from Rust, for at most 30 s."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import sojourn

RECORD = Path(__file__).parent.parent / "testdata" / "fingerprints.txt"
SIMULATED_S = 30.0


def on_record():
    rows = [line.split() for line in RECORD.read_text().splitlines()]
    # In Rust the cellular templates run on invented recordings.
    return {(name, aqm): digest for name, aqm, digest in rows if not name.startswith("cellular")}


def digest(name, aqm):
    scenario = sojourn.load(name)
    if scenario.duration_s > SIMULATED_S:
        scenario = sojourn.load(name, {"duration": f"{SIMULATED_S:.0f}s"})
    if aqm != "as-shipped":
        scenario = scenario.with_queue(scenario.links[0], aqm)
    return sojourn.run(scenario).digest


@pytest.mark.long
@pytest.mark.parametrize("threads", [1, pytest.param(4, marks=pytest.mark.nightly)])
def test_every_shipped_scenario_gives_the_digest_on_record(threads):
    expected = on_record()
    with ThreadPoolExecutor(threads) as pool:
        found = dict(zip(expected, pool.map(lambda key: digest(*key), expected), strict=True))
    assert found == expected

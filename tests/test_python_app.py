"""Applications written in Python: what they send, errors, manifest, determinism."""

from __future__ import annotations

import itertools
import os

import pytest

import sojourn
from sojourn.errors import AppError, InputError, ScenarioError

SCENARIO = """
name = "own-apps"
duration = "4s"
record = { packets = true }

[links.b]
rate = "10mbit"
delay = "5ms"
buffer = "100p"
queue = "pie"

[[flows]]
name = "files"
path = ["b"]
rtt = "20ms"
cc = "reno"
app = { kind = "bulk" }

[[flows]]
name = "call"
count = 2
path = ["b"]
rtt = "20ms"
app = { kind = "cbr", rate = "100kbit", packet = "500B" }
"""


class Reader:
    """Fetches 30 kB, again and again after random times."""

    def next_bytes(self, now_ns, random):
        return 30_000

    def next_start(self, now_ns, begun_ns, size_bytes, random):
        assert size_bytes == 30_000
        assert begun_ns < now_ns
        return now_ns + int(random.exponential(100e6))


class Pairs:
    """Two datagrams of 100 and 200 bytes every 50 ms, twenty times."""

    def __init__(self):
        self.sent = 0

    def next_datagram(self, now_ns, random):
        self.sent += 1
        if self.sent > 40:
            return None
        return (self.sent - 1) // 2 * 50_000_000, 100 if self.sent % 2 else 200


def run(**more):
    return sojourn.run(sojourn.Scenario.load(SCENARIO), **more)


def test_datagrams_leave_when_the_application_says_and_have_its_sizes():
    rows = run(apps={"call": Pairs}).packets.to_pylist()
    call = [row for row in rows if row["flow"].startswith("call")]
    assert len(call) == 2 * 40
    assert sorted({row["bytes"] for row in call}) == [100, 200]
    first = [row for row in call if row["flow"] == "call.1" and row["bytes"] == 100]
    gaps = itertools.pairwise(sorted(row["arrived_ns"] for row in first))
    assert {later - sooner for sooner, later in gaps} == {50_000_000}


def test_transfers_follow_one_another_as_the_application_says():
    sizes = [row["bytes"] for row in run(apps={"files": Reader}).transfers.to_pylist()]
    assert len(sizes) > 10
    assert set(sizes) == {30_000}


def test_the_manifest_names_the_code_and_the_same_seed_gives_the_same_digest():
    runs = [run(apps={"files": Reader, "call": Pairs}, seed=5) for _ in range(2)]
    assert runs[0].digest == runs[1].digest != run(seed=5).digest
    apps = runs[0].manifest["sim"]["apps"]
    assert apps["files"].startswith("python:test_python_app.Reader sha256=")
    assert set(apps) == {"files", "call"}
    assert run(apps={"files": Reader}, seed=6).digest != runs[0].digest


def test_a_comparison_takes_the_same_applications_under_every_aqm():
    comparison = sojourn.compare(
        sojourn.Scenario.load(SCENARIO), ["pie", "codel"], seeds=2, apps={"files": Reader}
    )
    assert not comparison.failures
    for aqm in comparison.aqms:
        assert all(result.transfers.num_rows > 10 for result in comparison.of(aqm))


class Raises(Reader):
    """Raises at its second transfer."""

    def next_start(self, now_ns, begun_ns, size_bytes, random):
        raise ZeroDivisionError("division by zero")


class Backwards:
    """Sends into the past."""

    def next_datagram(self, now_ns, random):
        return (now_ns - 1 if now_ns else 1), 100


class Large:
    """Sends more than the scenario's packets."""

    def next_datagram(self, now_ns, random):
        return now_ns, 501


class Endless:
    """Never lets time pass."""

    def next_datagram(self, now_ns, random):
        return now_ns, 100


class Ends:
    """Ends the process."""

    def next_datagram(self, now_ns, random):
        os._exit(0)


class Nonsense:
    """Returns no pair."""

    def next_datagram(self, now_ns, random):
        return "soon"


@pytest.mark.parametrize(
    ("app", "sentence"),
    [
        ({"files": Raises}, "next_start: ZeroDivisionError: division by zero"),
        ({"call": Backwards}, "the next datagram is at 0 ns, which is over"),
        ({"call": Large}, "a datagram has 501 bytes; with its headers it has from 29 to 500 here"),
        ({"call": Endless}, "more than 100000 datagrams at one instant"),
        ({"call": Nonsense}, "next_datagram: TypeError"),
        ({"call": Ends}, "next_datagram: SystemExit: it called os._exit(0)"),
        ({"call": Reader}, "has no attribute 'next_datagram'"),
    ],
)
def test_an_application_that_fails_ends_the_run_with_flow_time_and_cause(app, sentence):
    with pytest.raises(AppError) as caught:
        run(apps=app)
    text = str(caught.value)
    assert text.startswith(f"app of flows `{next(iter(app))}`, flow ")
    assert sentence in text
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("app", "sentence"),
    [
        ({"call": Pairs()}, "is not a class"),
        ([Pairs], "give {flows: class}"),
        ({"call": int}, "int has none of the methods"),
        ({"nobody": Pairs}, "no flows of this name can have another application"),
    ],
)
def test_an_invalid_application_or_one_without_flows_is_refused(app, sentence):
    with pytest.raises((InputError, ScenarioError), match=sentence):
        run(apps=app)


def test_a_scenario_never_names_an_application_in_python():
    text = SCENARIO.replace('{ kind = "bulk" }', '{ kind = "python", file = "mine.py" }')
    with pytest.raises(ScenarioError) as caught:
        sojourn.Scenario.load(text)
    assert "a scenario is data and names no code" in str(caught.value)
    assert "sojourn.run(..., apps=" in str(caught.value)

"""The command ``stability`` as a user calls it, and the speed of its map."""

import json

import numpy as np
import pytest

from sojourn.stability import analyse
from sojourn.stability.loops.feedback import FluidLoop

pytestmark = pytest.mark.slow

LINK = ("--rtt", "100ms", "--rate", "10mbit")


def test_a_range_of_flows_is_a_table(command):
    done = command("stability", "pie", *LINK, "--flows", "5..100")
    assert done.returncode == 0, done.stderr
    assert "phase mar-" in done.stdout and "no equilibrium" in done.stdout
    assert "variant exact" in done.stdout


def test_json_holds_the_numbers(command):
    done = command("stability", "pie@linux", *LINK, "--flows", "5,20,100", "--json")
    found = json.loads(done.stdout)
    assert found["aqm"] == "pie@linux"
    here = analyse("pie@linux", 0.1, 10e6, [5.0, 20.0])
    assert found["phase_margin_deg"][0][0][:2] == pytest.approx(here.phase_margin_deg.tolist())
    assert found["phase_margin_deg"][0][0][2] is None
    assert found["flows"][0][0] == [5, 20, 100]


@pytest.mark.parametrize("plot", ["bode", "margin", pytest.param("step", marks=pytest.mark.long)])
def test_figures_are_written(command, plot):
    done = command("stability", "pi2", *LINK, "--flows", "8..16", "--plot", plot, "--out", "figs")
    assert done.returncode == 0, done.stderr
    for suffix in ("svg", "png"):
        assert (command.folder / "figs" / f"stability-{plot}.{suffix}").stat().st_size > 5000
    if plot == "step":
        assert "settles in" in done.stderr and "overshoot" in done.stderr


def test_the_map_is_a_page(command):
    done = command(
        "stability", "pie@paper2013", "--rtt", "20ms,200ms", "--rate", "10mbit", "--flows", "4,9",
        "--plot", "map", "--observe", "--points", "1", "--out", "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "point-1.svg" in (command.folder / "out" / "map.html").read_text()


@pytest.mark.long
def test_a_design_is_printed_as_scenario_text_and_as_tc_options(command):
    done = command("stability", "pie", *LINK, "--flows", "10..50", "--design", "--margin", "50")
    assert done.returncode == 0, done.stderr
    assert 'queue = "pie@rfc8033:alpha=' in done.stdout
    assert "tc         pie target 15ms tupdate" in done.stdout
    found = command(
        "stability", "pie", *LINK, "--flows", "10", "--design", "--least-drop", "0.02", "--json",
        "--out", "design",
    )  # fmt: skip
    assert (command.folder / "design" / "stability-design.svg").stat().st_size > 5000
    assert json.loads(found.stdout)["drop_prob"][0] == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("pie", "--rtt", "-1ms", "--rate", "10mbit", "--flows", "5"), "--rtt -1ms: "),
        (("pie", "--rtt", "0ms", "--rate", "10mbit", "--flows", "5"), "must be positive"),
        (("pie", "--rtt", "9", "--rate", "10mbit", "--flows", "5"), "a time needs a unit"),
        (("pie", *LINK, "--flows", "0"), "`0` is not a number of flows; give one from 1 to"),
        (("pie", *LINK, "--flows", "9..3"), "the range must rise, such as 3..9"),
        (("pie", *LINK, "--flows", "1..1e3"), "`1e3` is not a number of flows"),
        (("pie", "--rtt", "9ms", "--rate", "10mbps", "--flows", "5"), "`mbps` is ambiguous"),
        (("pie", *LINK, "--flows", "100"), "drop probability of 2.18, above 1"),
        (("codel", *LINK, "--flows", "5"), "AQMs with one: pi, pie, madpie"),
        (("pie@nope", *LINK, "--flows", "5"), "has no dialect"),
        (("pie", *LINK, "--flows", "5", "--observe"), "add --plot map"),
        (("pie", *LINK, "--flows", "5", "--plot", "margin"), "give a range"),
        (("pie", *LINK, "--flows", "5", "--plot", "map", "--design"), "leave --plot out"),
        (("red", *LINK, "--flows", "5", "--design", "--least-drop", "0.1"), "give pie or pi2"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(command, arguments, words):
    assert words in command.refused("stability", *arguments)


def test_a_map_of_200_by_200_takes_130_values_of_the_loop_per_point_at_most(monkeypatch):
    """Measures work, not time.

    The promise is two seconds of an idle core, 390 ns per value. CPU time of the same work doubles
    if other programs use the same caches."""
    counted, plain = [0], FluidLoop.without_delay

    def count(loop, s, points):
        counted[0] += s.size
        return plain(loop, s, points)

    monkeypatch.setattr(FluidLoop, "without_delay", count)
    rtt_s, flows = np.geomspace(0.01, 0.3, 200)[:, None], np.geomspace(2, 60, 200)
    found = analyse("pie", rtt_s, 1e9, flows)
    assert np.isfinite(found.phase_margin_deg).all()
    assert counted[0] / found.phase_margin_deg.size <= 130

"""Figures drawn in other processes: the same files, and no remaining processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from processes import below, is_alive, wait_for
from sojourn.plots import background
from synthetic import comparison

pytestmark = pytest.mark.slow

AQMS = ("taildrop", "codel")

# Starts such a process, prints its PID, and ends abruptly.
KILLED = """\
import os, signal, sys
sys.path[:0] = [{tests!r}]
from processes import below
from sojourn.plots import background
with background.drawers(("svg",), count=1):
    (child,) = below(os.getpid())
    print(child, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
# The command itself, on two cores.
COMMAND = """\
import sys
from sojourn.cli import main
from sojourn.plots import background
background.default_jobs = lambda: 2
code = main(["compare", "dumbbell-reno", "--aqm", "codel,pie", "--seeds", "2", "--set",
             "duration=3s", "--set", "warmup=1s", "--out", "out", "--figures"])
print(code, "matplotlib" in sys.modules)
"""


@pytest.fixture(scope="module")
def compared():
    return comparison(AQMS, seeds=3)


@pytest.fixture(scope="module")
def here(compared, tmp_path_factory):
    """The figures that this process draws."""
    return saved(compared, tmp_path_factory.mktemp("here"), count=0)


@pytest.fixture
def started() -> Callable[[], list[int]]:
    """Lists processes that a test has started; earlier tests in this process may have left some."""
    before = set(below(os.getpid()))
    return lambda: [each for each in below(os.getpid()) if each not in before]


def saved(compared, folder: Path, count: int) -> dict[str, bytes]:
    with background.drawers(("svg",), count=count) as drawing:
        names = compared.save(folder, formats=("svg",), drawing=drawing)
    return {name: (folder / name).read_bytes() for name in names}


@pytest.mark.long
@pytest.mark.nightly
def test_processes_draw_what_this_one_draws(compared, here, tmp_path):
    assert len(here) == 10  # eight figures, the report, the numbers
    assert saved(compared, tmp_path, count=2) == here


def test_what_is_drawn_while_runs_are_under_way_is_the_same(compared, here, tmp_path):
    with background.drawers(("svg",), count=1) as drawing:
        drawing.expect("bottleneck", AQMS, 1)
        for place, seed in enumerate(compared.seeds):
            for aqm in AQMS:
                drawing.add(aqm, seed, compared.results[aqm][place])
        names = compared.save(tmp_path, formats=("svg",), drawing=drawing)
    assert {name: (tmp_path / name).read_bytes() for name in names} == here


@pytest.mark.long
@pytest.mark.nightly
def test_a_first_run_that_is_not_in_the_comparison_is_not_drawn(compared):
    other = comparison(["pie", "codel"], seeds=1)
    with background.drawers(("svg",), count=1) as drawing:
        drawing.expect("bottleneck", AQMS, 1)
        for aqm, result in zip(AQMS, (other.of("pie")[0], other.of("codel")[0]), strict=True):
            drawing.add(aqm, 1, result)
        drawn = drawing.begin(compared).figures()
    with background.drawers(("svg",), count=0) as drawing:
        assert drawn == drawing.begin(compared).figures()


def test_when_a_process_is_killed_this_one_draws(compared, here, tmp_path, started):
    with background.drawers(("svg",), count=1) as drawing:
        (child,) = started()
        os.kill(child, signal.SIGKILL)
        names = compared.save(tmp_path, formats=("svg",), drawing=drawing)
    assert {name: (tmp_path / name).read_bytes() for name in names} == here


@pytest.mark.long
@pytest.mark.nightly
def test_where_no_process_can_be_begun_this_one_draws(compared, here, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "missing"))
    assert saved(compared, tmp_path / "out", count=2) == here


@pytest.mark.long
@pytest.mark.nightly
def test_an_error_in_a_process_reaches_the_caller_as_it_is(started):
    compared = comparison(AQMS, seeds=1)
    rows = [("queue", "bottleneck", "delay_mean", "soon", "s"), ("class", "a", "goodput", 1.0, "")]
    for aqm in AQMS:
        vars(compared.of(aqm)[0])["summary_rows"] = rows
    with (
        pytest.raises(ValueError, match="could not convert string to float: 'soon'") as raised,
        background.drawers(("svg",), count=1) as drawing,
    ):
        drawing.begin(compared).figures()
    assert "While a process drew plane" in raised.value.__notes__[0]
    assert started() == []


def test_an_interrupt_leaves_no_process(compared, started):
    with pytest.raises(KeyboardInterrupt), background.drawers(("svg",), count=2) as drawing:
        drawing.begin(compared)
        assert started()
        raise KeyboardInterrupt
    assert started() == []


def test_processes_end_when_the_one_that_asks_is_killed():
    text = KILLED.format(tests=str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert wait_for(lambda: not is_alive(int(done.stdout)))


def test_on_one_core_no_process_is_started(monkeypatch, started):
    monkeypatch.setattr(background, "default_jobs", lambda: 1)
    monkeypatch.delitem(sys.modules, "matplotlib", raising=False)
    with background.drawers():
        assert started() == []


def test_a_process_with_matplotlib_may_have_settings_of_the_users_own_and_draws_itself(
    monkeypatch, started
):
    monkeypatch.setattr(background, "default_jobs", lambda: 2)
    monkeypatch.setitem(sys.modules, "matplotlib", object())
    with background.drawers():
        assert started() == []


def test_the_command_itself_does_without_matplotlib(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", COMMAND], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1:] == ["0 False"], done.stderr
    assert (tmp_path / "out/figures/delay_time.png").is_file()

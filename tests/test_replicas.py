"""Many runs: order, failures, refusals."""

import json
import time

import pytest

import sojourn
from sojourn import cli
from sojourn.engines.sim import engine
from sojourn.errors import InputError, RunFailed
from sojourn.running import replicas
from sojourn.running.replicas import Task, run_all

SMALL = {"duration": "2s", "warmup": "0s"}


@pytest.fixture
def failing(monkeypatch):
    """The simulator fails under every even seed."""
    inner = engine._core.run

    def run(scenario, switch, controls):
        if scenario.seed % 2 == 0:
            raise RuntimeError("a bug")
        return inner(scenario, switch, controls)

    class Core:
        Cancel = replicas._core.Cancel

    Core.run = staticmethod(run)
    monkeypatch.setattr(engine, "_core", Core)


def tasks(count):
    scenario = sojourn.load("dumbbell-cubic", sets=SMALL)
    return [Task(f"seed {seed}", scenario.with_seed(seed)) for seed in range(count)]


def test_results_come_in_the_order_of_the_tasks():
    seeds = [result.manifest["seed"] for result in run_all(tasks(5), jobs=3)]
    assert seeds == [0, 1, 2, 3, 4]


def test_a_failure_is_a_sentence_and_the_others_go_on(failing):
    outcomes = run_all(tasks(3))
    assert outcomes[0] == "seed 0: RuntimeError: a bug"
    assert outcomes[1].manifest["seed"] == 1


@pytest.mark.slow
def test_a_comparison_with_failures_exits_with_1_and_shows_the_rest(failing, capsys, tmp_path):
    arguments = ["compare", "dumbbell-cubic", "--aqm", "taildrop,pie", "--seeds", "4", "--json"]
    arguments += ["--set", "duration=2s", "--set", "warmup=0s", "--out", str(tmp_path / "out")]
    assert cli.main(arguments) == 1
    captured = capsys.readouterr()
    data = json.loads(captured.out)
    assert len(data["failures"]) == 4
    assert {row["n"] for row in data["metrics"]} == {2}
    assert "a run failed: pie, seed 2: RuntimeError: a bug" in captured.err
    assert "a bug" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_when_every_run_fails_the_command_says_so(failing, capsys):
    arguments = ["compare", "dumbbell-cubic", "--aqm", "taildrop,pie", "--seeds", "1"]
    assert cli.main([*arguments, "--set", "seed=2"]) == 1
    assert "no run gave a result" in capsys.readouterr().out


def test_a_single_run_that_fails_exits_with_1(failing, capsys):
    assert cli.main(["run", "dumbbell-cubic", "--seed", "2"]) == 1
    assert "a run failed" in capsys.readouterr().err
    with pytest.raises(RunFailed, match="a bug"):
        sojourn.run("dumbbell-cubic", seed=2)


def test_a_refusal_while_saving_stops_the_others():
    def finish(_index, _result):
        raise OSError(28, "No space left on device", "somewhere")

    # Hours of simulated time: the test ends only because the rest is cancelled.
    scenario = sojourn.load("dumbbell-cubic", sets={"duration": "3000000s"})
    long = Task("long", scenario)
    began = time.monotonic()
    with pytest.raises(OSError, match="No space left"):
        run_all([*tasks(1), long], jobs=2, finish=finish)
    assert time.monotonic() - began < 200


def test_progress_is_reported_for_every_run_and_stopped():
    class Progress:
        said = None
        stopped = False

        def start(self, runs, simulated_s):
            self.whole = (runs, simulated_s)

        def update(self, runs, simulated_s):
            self.said = (runs, simulated_s)

        def stop(self):
            self.stopped = True

    progress = Progress()
    run_all(tasks(3), progress=progress)
    assert progress.stopped
    assert progress.whole == (3, 6.0)
    assert progress.said == (3, pytest.approx(6.0, abs=0.5))


def test_no_jobs_are_refused():
    with pytest.raises(InputError, match="jobs"):
        run_all(tasks(1), jobs=0)
